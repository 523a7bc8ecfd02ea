import { connect } from 'node:net'
import { longestValues } from '../../lib/protocol/bounds'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnEveryStore } from '../support/flows/every-store'
import { authorizationRequest, basic, formOf } from '../support/flows/flow'
import { redirectionOf } from '../support/flows/redirection'
import { startServer } from '../support/rooms/start-server'

const asked = authorizationRequest(photoBook)
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const tooLong = (name: string) => 'x'.repeat((longestValues.get(name) ?? 0) + 1)
const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`p${index}`, '1']))

describeOnEveryStore('What is too long', (stage) => {
  test.each(['client_id', 'redirect_uri'])(
    'as %s is told to the owner and never redirected',
    async (name) => {
      const { flow, failures } = stage()
      const request = { ...asked, [name]: tooLong(name) }
      expect(errorPageOf(await flow.ask(request, 'alice'))).toBe('400 invalid_request')
      expect(errorPageOf(await flow.submit('/authorize', request, 'alice'))).toBe('400 invalid_request')
      expect(failures).toMatchObject([{ reason: 'parameter_too_long' }, { reason: 'parameter_too_long' }])
    },
  )

  test.each(['scope', 'response_type'])('as %s is told to the client, with its state', async (name) => {
    const { flow } = stage()
    const { parameters } = redirectionOf(await flow.ask({ ...asked, [name]: tooLong(name) }, 'alice'))
    expect(parameters).toMatchObject({ error: 'invalid_request', state: asked.state })
  })

  test('as state is told to the client and not sent back', async () => {
    const { flow, store } = stage()
    const { uri, parameters } = redirectionOf(await flow.ask({ ...asked, state: tooLong('state') }, 'alice'))
    expect(uri).toBe('https://book.example/callback')
    expect(parameters).toMatchObject({ error: 'invalid_request' })
    expect(parameters).not.toHaveProperty('state')
    expect(store.calls.save).toBe(0)
  })

  test('is refused no sooner: a state of 4096 characters comes back as it was', async () => {
    const { flow } = stage()
    const state = 's'.repeat(4096)
    const page = await flow.ask({ ...asked, state }, 'alice')
    expect(redirectionOf(await flow.decide(page, 'approve', 'alice')).parameters['state']).toBe(state)
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
    ['code', { grant_type: 'authorization_code' }],
    ['refresh_token', { grant_type: 'refresh_token' }],
  ])('as %s costs no look into the store', async (name, fields) => {
    const { flow, store } = stage()
    const response = await flow.request(nightlyReport, { ...fields, [name]: tooLong(name) })
    expect(response.body.error).toMatch(/invalid_request|unauthorized_client/)
    expect(store.calls.find).toBe(0)
  })

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

describeOnEveryStore('More than 100 parameters', (stage) => {
  test('in a query or a body are told to the owner at the authorization endpoint', async () => {
    const { flow } = stage()
    expect(errorPageOf(await flow.ask({ ...asked, ...many }, 'alice'))).toBe('400 invalid_request')
    const form = { ...asked, ...many }
    expect(errorPageOf(await flow.submit('/authorize', form, 'alice'))).toBe('400 invalid_request')
  })

  test.each(['/token', '/revoke', '/introspect'])('are refused at %s, in the query, too', async (path) => {
    const { flow, failures } = stage()
    expect((await flow.request(nightlyReport, { ...grant, ...many }, path)).status).toBe(400)
    expect((await flow.request(nightlyReport, grant, `${path}?${formOf(many)}`)).status).toBe(400)
    expect(failures).toMatchObject([{ reason: 'too_many_parameters' }, { reason: 'too_many_parameters' }])
  })
})

describeOnEveryStore('A request line', (stage) => {
  test('of more than 16 KiB is refused by Node with 431, and one below it by nobody', async () => {
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
