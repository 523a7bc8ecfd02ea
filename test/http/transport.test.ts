import request from 'supertest'
import { authorizationRequest } from '../support/rooms/consent-form'
import { hostWith } from '../support/rooms/host'
import { statusOf } from '../support/rooms/status'

const issuer = 'https://photos.example'

describe('transport', () => {
  it('is refused in plain at both endpoints (EPT-5)', async () => {
    const { app, failures } = hostWith({ issuer })
    const token = await request(app).post('/token').type('form').send({})
    expect(token.status).toBe(400)
    expect(token.body).toEqual({
      error: 'invalid_request',
      error_description: 'This endpoint must be used over TLS.',
    })
    const page = await request(app).get('/authorize').query(authorizationRequest)
    expect(page.status).toBe(400)
    expect(page.headers).not.toHaveProperty('location')
    expect(failures.map(({ reason }) => reason)).toEqual(['tls_required', 'tls_required'])
  })

  it('is refused before anything is read: the secret has crossed the network, but goes no further', async () => {
    const find = jest.fn(async () => undefined)
    const { app } = hostWith({ issuer, clients: { find } })
    await request(app).post('/token').auth('photo-printer', 'secret').type('form').send({})
    expect(find).not.toHaveBeenCalled()
  })

  it('is believed of a proxy that the host trusts', async () => {
    const { app } = hostWith({ issuer })
    app.set('trust proxy', true)
    expect(
      await statusOf(
        request(app).get('/authorize').query(authorizationRequest).set('X-Forwarded-Proto', 'https'),
      ),
    ).toBe(200)
    expect(
      await statusOf(
        request(app).get('/authorize').query(authorizationRequest).set('X-Forwarded-Proto', 'http'),
      ),
    ).toBe(400)
  })

  it('is not believed of anybody else', async () => {
    const { app } = hostWith({ issuer })
    expect(
      await statusOf(
        request(app).get('/authorize').query(authorizationRequest).set('X-Forwarded-Proto', 'https'),
      ),
    ).toBe(400)
  })

  it.each(['http://localhost', 'http://127.0.0.1:3000', 'http://[::1]:3000'])(
    'may be plain at %s',
    async (loopback) => {
      expect(
        await statusOf(
          request(hostWith({ issuer: loopback }).app)
            .get('/authorize')
            .query(authorizationRequest),
        ),
      ).toBe(200)
    },
  )
})
