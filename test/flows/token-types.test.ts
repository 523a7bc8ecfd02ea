import { options } from '../../docs/examples/device-token'
import { nightlyReport } from '../support/flows/clients'
import { basic } from '../support/flows/flow'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

describe('device token', () => {
  const [registration] = options.clients
  if (registration === undefined) throw new Error('The example registers no client.')
  const camera = { registration }

  describeOnStores('The token type of docs/examples/device-token.ts', (stage) => {
    test('fits in from outside: the token is good with its key alone', async () => {
      const { flow, failures } = stage(options)
      const { body, status } = await flow.redeem(camera, await flow.approve(camera))
      expect(status).toBe(200)
      expect(body).toMatchObject({
        token_type: registration.token_type,
        device_key: expect.stringMatching(/^[\w-]{43}$/),
      })
      const call = (headers: Record<string, string>) => flow.open('/photos', undefined, headers)
      const Authorization = `Device ${body.access_token}`
      const answer = await call({ Authorization, 'Device-Key': body.device_key })
      expect(answer.body).toMatchObject({ subject: 'alice', tokenType: registration.token_type })
      for (const headers of [
        { Authorization },
        { Authorization, 'Device-Key': 'another' },
        { Authorization: `Bearer ${body.access_token}`, 'Device-Key': body.device_key },
      ])
        expect((await call(headers)).status).toBe(401)
      expect(failures.map(({ reason }) => reason)).toEqual([
        'device_key_wrong',
        'device_key_wrong',
        'token_of_another_type',
      ])
    })

    test('gives each refreshed token a key of its own, and its repetition the same one', async () => {
      const { flow } = stage(options)
      const first = (await flow.redeem(camera, await flow.approve(camera))).body
      const second = (await flow.refresh(camera, first.refresh_token)).body
      const again = (await flow.refresh(camera, first.refresh_token)).body
      expect(second.device_key).not.toBe(first.device_key)
      expect(again).toEqual(second)
    })
  })
})

describe('token response', () => {
  const { registration, secret } = nightlyReport
  const Authorization = basic(registration.client_id, secret)
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  describeOnStores('The token endpoint', (stage) => {
    test.each(['text/html', 'application/xml', 'image/*;q=0'])(
      'negotiates no other form: %s',
      async (Accept) => {
        const { flow } = stage()
        const headers = { Accept, Authorization }
        expect(tokensOf(await flow.submit('/token', grant, undefined, headers)).scope).toBe('photos:read')
        expect(refusalOf(await flow.submit('/token', {}, undefined, headers))).toBe('400 invalid_request')
      },
    )

    test.each([
      ['wrong secret', { Authorization: basic(registration.client_id, 'ünïque-secret') }],
      ['odd grant type', { Authorization }],
    ])('echoes nothing of a request that it refuses: %s [input-12]', async (_, headers) => {
      const { flow } = stage()
      const odd = { grant_type: '<ünïque-secret>', scope: 'ünïque-secret', code: 'ünïque-secret' }
      const response = await flow.submit('/token', odd, undefined, headers)
      expect(refusalOf(response)).toMatch(/^40[01] /)
      expect(response.text + JSON.stringify(response.headers)).not.toContain('secret')
    })
  })
})
