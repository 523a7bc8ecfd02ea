import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import { application, type Mount, mountAll } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest, Flow, formOf } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'
import { type StartedServer, startServer } from '../support/start-server'
import { waitUntil, within } from '../support/wait-until'
import { rawRequest, type RawResponse } from '../support/flows/raw-request'
import type { Endpoint } from '../../lib/index'
import { listening } from '../support/listening'
import { stoppedTimers } from '../support/flows/opened-documents'

describe('Bodies', () => {
  const formType = 'application/x-www-form-urlencoded'

  /** What hosts put before or behind the suite. */
  const bodyParsers: readonly (readonly [string, readonly RequestHandler[]])[] = [
    ['express.json()', [express.json()]],
    ['express.urlencoded({ extended: true })', [express.urlencoded({ extended: true })]],
    ['express.urlencoded({ extended: false })', [express.urlencoded({ extended: false })]],
    ['express.json() and express.urlencoded()', [express.json(), express.urlencoded({ extended: true })]],
    ['express.text() of forms', [express.text({ type: formType })]],
    ['express.raw() of forms', [express.raw({ type: formType })]],
    ['express.raw() of everything', [express.raw({ type: '*/*' })]],
    ['express.text() and express.raw() as they are', [express.text(), express.raw()]],
  ]

  describeOnStores('The main way, all by POST,', (stage) => {
    test.each(bodyParsers)('leads on with %s before it and behind it', async (_, handlers) => {
      const mount: Mount = (app, oauth) => {
        app.use([...handlers])
        mountAll(app, oauth)
        app.use([...handlers])
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
      const type = `Content-Type: ${formType}`
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

    test('A body has 10 seconds by default', async () => {
      ;({ app, failures } = application())
      jest.useFakeTimers(stoppedTimers)
      try {
        const { answer } = begin('/token', 'Content-Length: 20')
        await waitUntil('the body is read', async () => (requests[0]?.listenerCount('data') ?? 0) > 0)
        await jest.advanceTimersByTimeAsync(9950)
        expect(failures).toEqual([])
        await jest.advanceTimersByTimeAsync(150)
        expect(await answer).toMatch(/^HTTP\/1\.1 400 /)
        expect(failures).toMatchObject([refused])
      } finally {
        jest.useRealTimers()
      }
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
        expect(tokensOf(await new Flow(started.server).request(nightlyReport, grant)).scope).toBe(
          'photos:read',
        )
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

  test('A client whose body comes after the head gets the answer that the server is closing', async () => {
    const { app, oauth } = application()
    await oauth.close()
    const server = createServer(app)
    const { port, close } = await listening(server)
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
    const head = ['POST /token HTTP/1.1', 'Host: localhost', `Content-Type: ${formType}`, 'Content-Length: 3']
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    await once(server, 'request')
    await setTimeout(20)
    expect(answer).toBe('')
    socket.write('a=1')
    await once(socket, 'end')
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n[^]*"temporarily_unavailable"/)
    socket.destroy()
    await close()
  })

  const grant = formOf({
    grant_type: 'client_credentials',
    scope: 'photos:read',
    client_id: nightlyReport.registration.client_id,
    client_secret: nightlyReport.secret,
  })
  const withScope = (rest: string): string => grant.replace('scope=photos%3Aread', rest)
  const ofLength = (bytes: number): string => `${grant}&pad=`.padEnd(bytes, 'x')
  const json = JSON.stringify(Object.fromEntries(new URLSearchParams(grant)))

  type Content = readonly [name: string, body: string | Buffer, type: string]

  const answered: readonly Content[] = [
    ['a good request', grant, formType],
    ['a good request that names its charset', grant, `${formType};charset=UTF-8`],
    ['a repeated parameter', `${grant}&scope=photos:read`, formType],
    ['a parameter without a value', withScope('scope='), formType],
    ['empty parameters', `&&${grant}&=&a&b=&`, formType],
    ['unknown brackets', `${grant}&a[b]=1&a[b][c]=2&d[]=3&d[]=4&__proto__[e]=5`, formType],
    ['no body', '', formType],
    ['a body of 64 KiB', ofLength(64 * 1024), formType],
    ['a body of 64 KiB and one byte', ofLength(64 * 1024 + 1), formType],
    ['JSON', json, 'application/json'],
    ['a form that says it is text', grant, 'text/plain'],
  ]

  /** Here a parser has lost what the answer would tell, or refuses by itself: what counts is that no tokens come. */
  const refused: readonly Content[] = [
    ['brackets in place of a known name', withScope('scope[]=photos:read'), formType],
    ['a broken percent triplet', withScope('scope=photos%3'), formType],
    ['a parameter that is not UTF-8', withScope('scope=%FF'), formType],
    ['bytes that are not UTF-8', Buffer.from(withScope('scope=ÿ'), 'latin1'), formType],
    ['a form in another charset', grant, `${formType}; charset=iso-8859-1`],
  ]

  async function post(
    handlers: readonly RequestHandler[],
    body: string | Buffer,
    type: string,
    headers: readonly string[] = [],
  ): Promise<RawResponse> {
    const { app } = application(
      {},
      {
        mount: (host, oauth) => {
          for (const handler of handlers) host.use(handler)
          mountAll(host, oauth)
        },
      },
    )
    return rawRequest(app, {
      method: 'POST',
      path: '/token',
      headers: ['Content-Type', type, ...headers],
      body,
    })
  }

  /** An answer as a client reads it, without its token. */
  async function answerOf(handlers: readonly RequestHandler[], [name, body, type]: Content) {
    const { status, text } = await post(handlers, body, type)
    return { name, status, text: text.replace(/at_[\w-]{65}/, 'at_') }
  }

  let asked: Promise<readonly object[]> | undefined
  const withoutParser = () => (asked ??= Promise.all(answered.map((content) => answerOf([], content))))

  describe.each(bodyParsers)('The token endpoint, with %s before it,', (_, handlers) => {
    test('answers a good, repeated, empty, bracketed, long or foreign body as it does without', async () => {
      const withParser = await Promise.all(answered.map((content) => answerOf(handlers, content)))
      expect(withParser).toEqual(await withoutParser())
    })

    test('refuses what the parser has lost, and takes brackets behind a known name for another name, or refuses them [input-4]', async () => {
      const response = await post(handlers, `${grant}&scope[]=unheard-of`, formType)
      expect(response.text).toMatch(/"scope":"photos:read"|"invalid_request"/)
      const statuses = await Promise.all(
        refused.map(async ([, body, type]) => (await post(handlers, body, type)).status),
      )
      for (const status of statuses) expect([400, 415]).toContain(status)
    })
  })
})

describe('Bodies of forms', () => {
  const form = 'application/x-www-form-urlencoded'
  const formType = `Content-Type: ${form}`
  const chunked = 'Transfer-Encoding: chunked'

  /** Tells what it got as `a` and as `b`. */
  const echo: Endpoint = {
    name: 'echo',
    path: '/echo',
    clientAuthentication: 'none',
    handle: async ({ parameters }) => ({
      members: { a: parameters.get('a') ?? null, b: parameters.get('b') ?? null },
    }),
  }

  interface Sent {
    readonly type?: string
    readonly headers?: readonly string[]
    /** Handlers of the host before the router. */
    readonly before?: readonly RequestHandler[]
  }

  const asChunk = (bytes: Buffer) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

  /** What the endpoint made of a body that comes in these pieces: its values, or the reason of the refusal. */
  async function madeOf(
    pieces: readonly Buffer[],
    { type = formType, headers = [], before = [] }: Sent = {},
  ) {
    const { app, failures } = application(
      { plugins: [{ name: 'host-endpoints', endpoints: [echo] }] },
      { mount: (host, oauth) => host.use(...before, oauth.router()) },
    )
    const { port, close } = await listening(createServer(app))
    try {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => undefined)
      let answer = ''
      socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
      const lines = ['POST /echo HTTP/1.1', 'Host: localhost', 'Connection: close', type, ...headers, chunked]
      socket.write(`${lines.filter(Boolean).join('\r\n')}\r\n\r\n`)
      for (const piece of pieces.filter(({ length }) => length > 0)) socket.write(asChunk(piece))
      socket.write('0\r\n\r\n')
      await within('the connection ends', once(socket, 'close'))
      const text = answer.slice(answer.indexOf('\r\n\r\n') + 4)
      const body = JSON.parse(/\{.*\}/s.exec(text)?.[0] ?? '{}')
      const [failure] = failures
      return failure === undefined
        ? body
        : [body.error, failure.reason, failure.cause].filter(Boolean).join(' ')
    } finally {
      await close()
    }
  }
  const textOf = (text: string, sent?: Sent) => madeOf([Buffer.from(text)], sent)

  test.each([
    form.toUpperCase(),
    `${form};charset=utf-8`,
    `${form}; charset="UTF-8"`,
    `${form} ; Charset=Utf-8 `,
  ])('A body of the type %s is a form', async (type) => {
    expect(await textOf('a=1', { type: `Content-Type: ${type}` })).toEqual({ a: '1', b: null })
  })

  test.each<[string, Sent]>([
    ['of a form with more letters', { type: `${formType}x` }],
    ['of UTF-16', { type: `${formType}; charset=utf-16` }],
    ['without a charset', { type: `${formType}; charset=` }],
    ['of two types in one', { type: `${formType}, application/json` }],
    ['of two types, both forms', { headers: [formType] }],
    ['of two types', { headers: ['Content-Type: text/plain'] }],
    ['without a type', { type: '' }],
  ])('A body %s is none', async (_what, sent) => {
    expect(await textOf('a=1', sent)).toBe('invalid_request body_type')
  })

  test.each(['gzip', 'GZIP', 'deflate', 'br', 'gzip, identity'])(
    'A body in %s is refused unread [input-7]',
    async (encoding) => {
      const headers = [`Content-Encoding: ${encoding}`]
      expect(await madeOf([gzipSync('a=1')], { headers })).toBe('invalid_request body_encoding')
    },
  )

  test('A body in identity is read', async () => {
    expect(await textOf('a=1', { headers: ['Content-Encoding: Identity'] })).toEqual({ a: '1', b: null })
  })

  test('Letters that are split between pieces come together', async () => {
    const pieces = [...Buffer.from('a=é€🔑&b=%C3%A9')].map((byte) => Buffer.from([byte]))
    expect(await madeOf(pieces)).toEqual({ a: 'é€🔑', b: 'é' })
  })

  test.each([1, 64])('64 KiB in %d pieces are read, and one byte more is not [input-8]', async (count) => {
    const [head, size] = [Buffer.from('a='), 65_536 / count]
    const pieces = Array.from({ length: count }, () => Buffer.alloc(size, 'x'))
    pieces[0] = Buffer.concat([head, Buffer.alloc(size - head.length, 'x')])
    expect(await madeOf(pieces)).toEqual({ a: 'x'.repeat(65_534), b: null })
    expect(await madeOf([...pieces, Buffer.from('x')])).toBe('invalid_request body_too_large')
  })

  test.each([
    ['more bytes than letters', Buffer.from('é'.repeat(32_769)), 'body_too_large'],
    ['Latin-1', Buffer.from('a=\xE9', 'latin1'), 'body_encoding'],
    ['UTF-8 that is cut', Buffer.from('a=é').subarray(0, 3), 'body_encoding'],
    ['a surrogate', Buffer.from([0x61, 0x3d, 0xed, 0xa0, 0x80]), 'body_encoding'],
  ])('A body with %s is refused', async (_what, bytes, reason) => {
    expect(await madeOf([bytes])).toBe(`invalid_request ${reason}`)
  })

  test('A byte order mark is a part of the first name', async () => {
    expect(await textOf('\uFEFFa=1&b=2')).toEqual({ a: null, b: '2' })
  })

  const later: RequestHandler = (_request, _response, next) => void setTimeout(50).then(() => next())
  const readToEnd: RequestHandler = (request, _response, next) => void request.once('end', next).resume()
  const decoding: RequestHandler = (request, _response, next) => {
    request.setEncoding('utf8')
    next()
  }
  const leaving =
    (left: unknown): RequestHandler =>
    (request, _response, next) => {
      request.once('end', () => {
        request.body = left
        next()
      })
      request.resume()
    }
  const decoy: RequestHandler = (request, _response, next) => {
    request.body = { a: 'decoy' }
    next()
  }

  test.each<[string, string, readonly RequestHandler[]]>([
    ['that waits', 'a=1', [later]],
    ['that waits, for a long one', `a=${'x'.repeat(65_000)}`, [later]],
    ['with a parser of another type', 'a=1', [express.json()]],
    ['that puts something into request.body', 'a=1', [decoy]],
    ['with a parser of forms that waits', 'a=1', [express.urlencoded(), later]],
    ['that read nothing to its end', '', [readToEnd, later]],
    ['with a parser of forms that read nothing', '', [express.urlencoded(), later]],
  ])('A body is read as it came behind a host %s', async (_what, text, before) => {
    const expected = text === '' ? null : text.slice(2)
    expect(await textOf(text, { before })).toEqual({ a: expected, b: null })
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['a list', ['a=1']],
  ])(
    'A host that read the body and left %s learns what to do, and the client does not',
    async (_what, left) => {
      expect(await textOf('a=1', { before: [leaving(left)] })).toBe(
        'server_error unexpected Error: Another middleware read the request body and left nothing in request.body: mount the authorization server before that middleware.',
      )
    },
  )

  test.each([
    ['at once', []],
    ['later', [later]],
  ])('A host that decoded the text of the body learns it, %s', async (_when, waiting) => {
    expect(await textOf('a=1', { before: [decoding, ...waiting] })).toMatch(
      /^server_error unexpected .*set an encoding/,
    )
  })

  test('A connection that is kept goes on to its next request', async () => {
    const { app } = application(
      { plugins: [{ name: 'host-endpoints', endpoints: [echo] }] },
      { mount: (host, oauth) => host.use(later, oauth.router()) },
    )
    const { port, close } = await listening(createServer(app))
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
    const request = (body: string, connection: string) =>
      `POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n${formType}\r\nContent-Length: 3\r\n\r\n${body}`
    socket.write(request('a=1', 'keep-alive') + request('a=2', 'close'))
    await within('the connection ends', once(socket, 'close'))
    await close()
    expect(answer.match(/\{"a":"\d"/g)).toEqual(['{"a":"1"', '{"a":"2"'])
  })
})
