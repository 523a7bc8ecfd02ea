import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { application, type Mount, mountAll } from '../support/flows/application'
import { bodyParsers } from '../support/flows/body-parsers'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest, Flow } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'
import { type StartedServer, startServer } from '../support/rooms/start-server'
import { waitUntil } from '../support/wait-until'

const places = bodyParsers.flatMap(([name, handlers]) => [
  { name: `${name} before it`, before: handlers, behind: [] },
  { name: `${name} behind it`, before: [], behind: handlers },
])

describeOnStores('The main way, all by POST,', (stage) => {
  test.each(places)('leads on with $name', async ({ before, behind }) => {
    const mount: Mount = (app, oauth) => {
      for (const handler of before) app.use(handler)
      mountAll(app, oauth)
      for (const handler of behind) app.use(handler)
    }
    const { flow } = stage({}, { mount })
    const state = 'a b+c%20&=#€'
    const page = await flow.submit('/authorize', { ...authorizationRequest(photoBook), state }, 'alice')
    const approval = await flow.decide(page, 'approve', 'alice')
    expect(redirectionOf(approval).parameters['state']).toBe(state)
    const { refreshToken } = tokensOf(await flow.redeem(photoBook, codeOf(approval)))
    const { accessToken } = tokensOf(await flow.refresh(photoBook, refreshToken))
    expect((await flow.photos(accessToken)).status).toBe(200)
  })
})

describe('slow body', () => {
  const hasty = application({ bodyDeadline: 0.3 })
  const patient = application({ bodyDeadline: 60 })
  let { app, failures } = hasty
  const requests: IncomingMessage[] = []
  let started: StartedServer
  beforeAll(async () => {
    started = await startServer((request, response) => {
      requests.push(request)
      app(request, response)
    })
  })
  afterAll(() => started.stop())
  beforeEach(() => {
    requests.length = 0
  })

  /** A request that has told its head and no more. */
  function begin(
    path: string,
    framing: string,
  ): { readonly socket: Socket; readonly answer: Promise<string> } {
    const socket = connect(started.port, '127.0.0.1')
    // A server that has heard enough hangs up on a client that still speaks.
    socket.on('error', () => undefined)
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => (text += part))
    const answer = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
    const type = 'Content-Type: application/x-www-form-urlencoded'
    socket.write([`POST ${path} HTTP/1.1`, 'Host: localhost', type, framing, '', ''].join('\r\n'))
    return { socket, answer }
  }

  /** What a request still has attached of the suite: nothing of a body that was given up. */
  const listenersOf = (request: IncomingMessage | undefined): Record<string, number | undefined> =>
    Object.fromEntries(['data', 'error', 'aborted'].map((event) => [event, request?.listenerCount(event)]))
  const none = { data: 0, error: 0, aborted: 0 }
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const noTimerSince = (before: number) =>
    waitUntil('no timer of the body is left', async () => timers() <= before, 5)

  const jsonPaths = ['/token']
  const refused = { code: 'invalid_request', reason: 'body_too_slow', cause: undefined }

  describe.each([...jsonPaths, '/authorize'])('A body for %s that does not come in time', (path) => {
    const isRefusal = jsonPaths.includes(path)
      ? /^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n[^]*"error":"invalid_request"/
      : /^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n[^]*did not arrive in time/

    test.each([
      ['that never begins', 'Content-Length: 20', ''],
      ['of which less comes than was told', 'Content-Length: 100', 'grant_type=client_credentials'],
      ['in chunks that never end', 'Transfer-Encoding: chunked', '3\r\na=1\r\n'],
    ])('%s is refused, and the connection ends [input-15]', async (_what, framing, part) => {
      const recorded = failures.length
      const { socket, answer } = begin(path, framing)
      socket.write(part)
      expect(await answer).toMatch(isRefusal)
      expect(failures.slice(recorded)).toMatchObject([refused])
      expect(listenersOf(requests[0])).toEqual(none)
    })
  })

  describe('A body that is not read to its end leaves nothing behind', () => {
    beforeAll(() => void ({ app, failures } = patient))

    test('when the client goes away, and the next one is served', async () => {
      const recorded = failures.length
      const before = timers()
      const { socket } = begin('/token', 'Content-Length: 100')
      socket.write('grant_type=client')
      await waitUntil('the body is read', async () => (requests[0]?.listenerCount('data') ?? 0) > 0)
      socket.destroy()
      await waitUntil('the server has noticed', async () => failures.length > recorded)
      expect(failures.slice(recorded)).toMatchObject([
        { code: 'invalid_request', reason: 'body_aborted', cause: undefined },
      ])
      expect(listenersOf(requests[0])).toEqual(none)
      await noTimerSince(before)
      const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
      expect(tokensOf(await new Flow(started.server).request(nightlyReport, grant)).scope).toBe('photos:read')
    })

    test('when it is too large', async () => {
      const recorded = failures.length
      const before = timers()
      const { socket, answer } = begin('/token', 'Transfer-Encoding: chunked')
      socket.write(`${(70_000).toString(16)}\r\n${'a'.repeat(70_000)}\r\n`)
      expect(await answer).toMatch(/\r\nConnection: close\r\n/)
      expect(failures.slice(recorded)).toMatchObject([{ reason: 'body_too_large' }])
      expect(listenersOf(requests[0])).toEqual(none)
      await noTimerSince(before)
    })
  })
})

describe('closing late body', () => {
  const isPort = (address: AddressInfo | string | null): address is AddressInfo => typeof address === 'object'

  test.each([
    ['/token', 400],
    ['/introspect', 503],
  ])('A client whose body comes after the head gets the answer that %s is closing', async (path, status) => {
    const { app, oauth } = application()
    await oauth.close()
    const server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const socket = connect(isPort(address) ? address.port : 0, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
    const body = 'grant_type=client_credentials'
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: localhost',
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${body.length}`,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    await once(server, 'request')
    await setTimeout(20)
    expect(answer).toBe('')
    socket.write(body)
    await once(socket, 'end')
    const [, answered] =
      /^HTTP\/1\.1 (\d+) [^]*\r\nConnection: close\r\n[^]*"temporarily_unavailable"/.exec(answer) ?? []
    expect(answered).toBe(String(status))
    socket.destroy()
    server.close()
  })
})
