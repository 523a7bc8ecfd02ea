import { request } from 'node:http'
import { connect } from 'node:net'
import { longestValues } from '../../lib/protocol/parameters'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest, basic, formOf } from '../support/flows/flow'
import { redirectionOf } from '../support/flows/redirection'
import { startServer } from '../support/rooms/start-server'

const asked = authorizationRequest(photoBook)
const inspector = bent(nightlyReport, { may_introspect: true })
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const tooLong = (name: string) => 'x'.repeat((longestValues.get(name) ?? 0) + 1)
const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`p${index}`, '1']))

/** Where a form posted to the authorization endpoint is redirected to; supertest takes no header of this length. */
function locationOf(port: number, form: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'X-Owner': 'alice' }
    request({ port, path: '/authorize', method: 'POST', headers, maxHeaderSize: 65_536 })
      .on('response', (response) => {
        response.resume()
        resolve(String(response.headers.location))
      })
      .on('error', reject)
      .end(form)
  })
}

describeOnStores('What is too long', (stage) => {
  test.each(['redirect_uri'])('as %s is refused on a page and never redirected', async (name) => {
    const { flow, failures } = stage()
    const tooMuch = { ...asked, [name]: tooLong(name) }
    const { parameters } = redirectionOf(await flow.ask({ ...asked, scope: tooLong('scope') }, 'alice'))
    expect(parameters).toMatchObject({ error: 'invalid_request', state: asked.state })
    expect(errorPageOf(await flow.ask({ ...asked, ...many }, 'alice'))).toBe('400 invalid_request')
    expect(errorPageOf(await flow.submit('/authorize', tooMuch, 'alice'))).toBe('400 invalid_request')
    expect(failures.at(-1)).toMatchObject({ reason: 'parameter_too_long' })
  })

  test.each([16_384])(
    'as state comes back to the client, with its %d characters exactly as they came',
    async (length) => {
      const { app } = stage()
      const state = 'ü+ &%~'.padEnd(length, 's')
      const server = await startServer(app)
      const location = new URL(await locationOf(server.port, formOf({ ...asked, state })))
      await server.stop()
      expect(`${location.origin}${location.pathname}`).toBe('https://book.example/callback')
      expect(location.searchParams.get('error')).toBe('invalid_request')
      expect(location.searchParams.get('state')).toBe(state)
    },
  )

  test('as state of more than 16 KiB, which no redirect can hold, is refused on a page [input-16]', async () => {
    const { flow, failures } = stage()
    const tooMuch = { ...asked, state: 's'.repeat(16_385) }
    expect(errorPageOf(await flow.submit('/authorize', tooMuch, 'alice'))).toBe('400 invalid_request')
    expect(failures).toMatchObject([{ reason: 'parameter_too_long' }])
  })

  test('as token is no token: it is revoked already, and not active', async () => {
    const clients = [photoBook, inspector].map(({ registration }) => registration)
    const { flow } = stage({ clients })
    for (const token of ['x'.repeat(5000), `at_${'x'.repeat(60_000)}`]) {
      const revoked = await flow.revoke(inspector, token)
      expect({ status: revoked.status, body: revoked.body }).toEqual({ status: 200, body: {} })
      const introspected = await flow.introspect(inspector, token)
      expect({ status: introspected.status, body: introspected.body }).toEqual({
        status: 200,
        body: { active: false },
      })
    }
  })

  test.each(['grant_type', 'scope', 'client_id', 'client_secret'])(
    'as %s of a token request is refused',
    async (name) => {
      const { flow } = stage()
      const response = await flow.request(nightlyReport, { ...grant, [name]: tooLong(name) })
      expect(response.status).toBe(400)
      expect(response.body).toEqual({
        error: 'invalid_request',
        error_description: `The parameter ${name} is too long.`,
      })
    },
  )

  test.each([
    ['id', 'x'.repeat(257), 'secret'],
    ['secret', 'nightly-report', 'x'.repeat(1025)],
  ])('as %s in a Basic header is refused', async (_what, id, secret) => {
    const { flow, failures } = stage()
    const headers = { Authorization: basic(id, secret) }
    const response = await flow.submit('/token', grant, undefined, headers)
    expect({ status: response.status, error: response.body.error }).toEqual({
      status: 400,
      error: 'invalid_request',
    })
    expect(failures).toMatchObject([{ reason: 'basic_too_long' }])
  })
})

describeOnStores('More than 100 parameters', (stage) => {
  test.each(['/token', '/introspect'])('are refused at %s, in the query, too', async (path) => {
    const { flow, failures } = stage()
    expect((await flow.request(nightlyReport, { ...grant, ...many }, path)).status).toBe(400)
    expect((await flow.request(nightlyReport, grant, `${path}?${formOf(many)}`)).status).toBe(400)
    expect(failures).toMatchObject([{ reason: 'too_many_parameters' }, { reason: 'too_many_parameters' }])
  })
})

describeOnStores('A request line', (stage) => {
  test('of more than 16 KiB is refused by Node with 431, and one below it is accepted', async () => {
    const { app } = stage()
    const server = await startServer(app)
    const statusOf = (length: number) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(server.port, '127.0.0.1')
        let answer = ''
        socket.setEncoding('latin1').on('data', (text: string) => (answer += text))
        socket.on('error', reject).on('close', () => resolve(answer.slice(9, 12)))
        const query = formOf({ ...asked, nonce: 'n'.repeat(length) })
        socket.write(
          `GET /authorize?${query} HTTP/1.1\r\nHost: a\r\nX-Owner: alice\r\nConnection: close\r\n\r\n`,
        )
      })
    try {
      expect(await statusOf(15_000)).toBe('200')
      expect(await statusOf(17_000)).toBe('431')
    } finally {
      await server.stop()
    }
  })
})
