import { connect } from 'node:net'
import { application } from '../support/flows/application'
import { nightlyReport } from '../support/flows/clients'
import { basic } from '../support/flows/flow'
import { startServer, type StartedServer } from '../support/start-server'

let server: StartedServer

const { app, failures } = application()
beforeAll(async () => {
  server = await startServer(app)
})
afterAll(() => server.stop())

// After whatever was sent: it works, and nothing went wrong inside of it.
afterEach(async () => {
  const text = await speak(good)
  const causes = failures.flatMap(({ cause }) => cause ?? [])
  if (tokensIn(text) !== 1 || causes.length > 0) throw new Error([text, ...causes.map(String)].join('\n'))
})

const credentials = basic(nightlyReport.registration.client_id, nightlyReport.secret)
const form = 'grant_type=client_credentials&scope=photos%3Aread'
const lines = (...text: readonly string[]) => `${text.join('\r\n')}\r\n`
const type = 'Content-Type: application/x-www-form-urlencoded'
const usual = ['Host: localhost', type, `Authorization: ${credentials}`]

/** A token request with these header lines in place of the usual ones. */
const post = (headers: readonly string[], body = form, start = 'POST /token HTTP/1.1') =>
  `${lines(start, ...headers)}\r\n${body}`
const framed = (headers: readonly string[], body = form) =>
  post([...headers, `Content-Length: ${Buffer.byteLength(body, 'latin1')}`, 'Connection: close'], body)
const chunked = (body: string, ...headers: readonly string[]) =>
  post([...usual, 'Transfer-Encoding: chunked', 'Connection: close', ...headers], body)
const get = (target: string, ...headers: readonly string[]) =>
  `${lines(`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers, 'Connection: close')}\r\n`
const good = framed(usual)
const sized = (text: string, rest = '') => `${text.length.toString(16)}${rest}\r\n${text}\r\n`
/** One that leaves the connection open. */
const kept = (headers: readonly string[], body = form) =>
  post([...headers, `Content-Length: ${body.length}`], body)

/** Sends bytes as they are, and hears the server out; or hangs up once this was answered. */
function speak(bytes: string, { halfClose = false, until = /^$/ } = {}): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    const end = (how: string) => {
      socket.destroy()
      resolve(text + how)
    }
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      if (until.test(text)) end('')
    })
    socket.on('end', () => end('[closed]')).on('error', () => end('[reset]'))
    socket.write(bytes, 'latin1')
    if (halfClose) socket.end()
  })
}

const statusesOf = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
const tokensIn = (text: string): number => text.split('"access_token"').length - 1

test('Pipelined requests are answered in their order, each with the credentials of its own [input-20]', async () => {
  const nobody = kept(['Host: localhost', type])
  const wrong = kept(['Host: localhost', type, `Authorization: ${basic('night', 'wrong')}`])
  const text = await speak(kept(usual) + nobody + kept(usual) + wrong + get('/photos'))
  expect([statusesOf(text), tokensIn(text)]).toEqual([[200, 401, 200, 401, 401], 2])
})

test('The body of a refused request is not lent to the next one [input-21]', async () => {
  const pair = kept(usual) + kept(usual, 'grant_type=x')
  expect(statusesOf(await speak(`${pair.repeat(5)}${get('/photos')}`))).toEqual([
    ...Array.from({ length: 5 }, () => [200, 400]).flat(),
    401,
  ])
})

test('Nothing is answered behind a request that ends the connection', async () => {
  expect(tokensIn(await speak(good + good + good))).toBeLessThan(2)
})

/** Refused before anybody acts on it: by Node with 400 and the end of the connection, or by the suite. */
const refused: readonly (readonly [what: string, bytes: string])[] = [
  ['two lengths that differ', post([...usual, 'Content-Length: 5', `Content-Length: ${form.length}`])],
  ['a negative length', post([...usual, 'Content-Length: -1'])],
  ['a length beside chunks', chunked(`${sized(form)}0\r\n\r\n`, `Content-Length: ${form.length}`)],
  ['an unknown transfer coding', post([...usual, 'Transfer-Encoding: xchunked'], `${sized(form)}0\r\n\r\n`)],
  ['a chunk of a huge size', chunked(`FFFFFFFFFFFFFFFFF\r\n${form}`)],
  ['a chunk that is longer than it says', chunked(`5\r\n${form}\r\n0\r\n\r\n`)],
  [
    'credentials in a trailer',
    post(
      [...usual.slice(0, 2), 'Transfer-Encoding: chunked', 'Connection: close', 'Trailer: Authorization'],
      `${sized(form)}0\r\nAuthorization: ${credentials}\r\n\r\n`,
    ),
  ],
  ['two Authorization headers', framed([...usual, `Authorization: ${credentials}`])],
  ['no host', framed(usual.slice(1))],
  ['a space before the colon', framed(['Host: localhost', type, `Authorization : ${credentials}`])],
  ['a folded header', framed(['Host: localhost', type, 'Authorization: Basic', ` ${credentials.slice(6)}`])],
  ['a NUL in a header', framed([...usual, 'X-Any: a\x00b'])],
  ['a line that is no header', framed([...usual, 'any'])],
  ['a NUL in the target', get('/authorize?a=\x00')],
  ['a bare CR in the target', get('/authorize?a=\rb')],
  ['a method in lower case', good.replace('POST', 'post')],
  ['an unknown method', good.replace('POST', 'FROB')],
  ['no version', `POST /token\r\n\r\n`],
  ['what is no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
]

describe('A request with', () => {
  test.each(refused)('%s is refused', async (_, bytes) => {
    const text = await speak(bytes)
    expect(text).not.toContain('access_token')
    expect([400, 401]).toContain(statusesOf(text)[0])
    expect(text).toMatch(/\[(?:closed|reset)\]$/)
  })

  test.each([
    ['a header of 20 KB', framed([...usual, `X-Any: ${'a'.repeat(20_000)}`])],
    ['a target of 20 KB', get(`/authorize?state=${'a'.repeat(20_000)}`)],
    ['credentials of 20 KB', framed(['Host: localhost', type, `Authorization: Basic ${'a'.repeat(20_000)}`])],
  ])('%s is refused by Node', async (_, bytes) => {
    expect(statusesOf(await speak(bytes))).toEqual([431])
  })

  test.each([
    ['a NUL', `${form}\x00`],
    ['a percent encoded NUL', `${form}%00`],
    ['CR and LF', `${form}\r\n`],
    ['a second line', `${form}\r\nX-Any: a`],
  ])('%s in its scope is refused by the server', async (_, body) => {
    const text = await speak(framed(usual, body))
    expect(statusesOf(text)).toEqual([400])
    expect(text).toContain('"error":"invalid_scope"')
  })

  test.each([
    ['chunks of one byte', chunked(`${form.replaceAll(/./g, (byte) => sized(byte))}0\r\n\r\n`)],
    ['chunk extensions', chunked(`${sized(form, ';a=b;c="d"')}0;e\r\n\r\n`)],
    ['trailers that say nothing', chunked(`${sized(form)}0\r\nX-Any: a\r\n\r\n`)],
    ['bytes beyond ASCII in a header', framed([...usual, 'X-Any: \xe4\xff'])],
    ['200 headers', framed([...usual, ...Array.from({ length: 200 }, (_, at) => `X-${at}: a`)])],
    ['a target in absolute form', good.replace('/token', 'http://elsewhere.example/token')],
    [
      'header names in capitals',
      framed(usual.map((line) => line.replace(/^[^:]+/, (name) => name.toUpperCase()))),
    ],
    ['empty lines before it', `\r\n\r\n${good}`],
  ])('%s is answered as any other', async (_, bytes) => {
    const text = await speak(bytes)
    expect([statusesOf(text), tokensIn(text)]).toEqual([[200], 1])
  })

  test.each<[string, string, readonly number[], object]>([
    [
      'bytes beyond ASCII in its credentials',
      framed(['Host: localhost', type, 'Authorization: Basic \xe4\xff']),
      [401],
      {},
    ],
    ['bytes beyond ASCII in its body', framed(usual, `${form}&a=\xff`), [400], {}],
    ['an unknown expectation', framed([...usual, 'Expect: 200-maybe']), [417], {}],
    ['CONNECT', `${lines('CONNECT localhost:80 HTTP/1.1', 'Host: localhost')}\r\n`, [], {}],
    [
      'an upgrade',
      get('/photos', 'Upgrade: h2c').replace('Connection: close', 'Connection: Upgrade'),
      [401],
      { until: /\r\n\r\n/ },
    ],
  ])('%s gets no more than its answer', async (_, bytes, statuses, manner) => {
    expect(statusesOf(await speak(bytes, manner))).toEqual(statuses)
  })
})

describe('A sender that ends its side', () => {
  test('after its request gets the answer', async () => {
    expect(statusesOf(await speak(good, { halfClose: true }))).toEqual([200])
  })

  test.each([
    ['in the middle of its head', good.slice(0, 60)],
    ['in the middle of its body', good.slice(0, -10)],
    ['in the middle of a chunk', chunked(`${form.length.toString(16)}\r\n${form.slice(0, 9)}`)],
    ['before the last chunk', chunked(sized(form))],
  ])('%s gets nothing and is let go', async (_, bytes) => {
    const text = await speak(bytes, { halfClose: true })
    expect(text).not.toContain('access_token')
    expect(statusesOf(text).every((status) => status === 400)).toBe(true)
  })
})
