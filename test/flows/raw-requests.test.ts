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

describe('A request with', () => {
  test.each([
    ['a length beside chunks', chunked(`${sized(form)}0\r\n\r\n`, `Content-Length: ${form.length}`)],
    [
      'a folded header',
      framed(['Host: localhost', type, 'Authorization: Basic', ` ${credentials.slice(6)}`]),
    ],
    [
      'credentials in a trailer',
      post(
        [...usual.slice(0, 2), 'Transfer-Encoding: chunked', 'Connection: close', 'Trailer: Authorization'],
        `${sized(form)}0\r\nAuthorization: ${credentials}\r\n\r\n`,
      ),
    ],
    ['two Authorization headers', framed([...usual, `Authorization: ${credentials}`])],
  ])('%s is refused before anybody acts on it', async (_, bytes) => {
    const text = await speak(bytes)
    expect(text).not.toContain('access_token')
    expect([400, 401]).toContain(statusesOf(text)[0])
    expect(text).toMatch(/\[(?:closed|reset)\]$/)
  })

  test.each([
    ['a NUL', `${form}\x00`],
    ['CR and LF', `${form}\r\n`],
  ])('%s in its scope is refused by the server', async (_, body) => {
    const text = await speak(framed(usual, body))
    expect(statusesOf(text)).toEqual([400])
    expect(text).toContain('"error":"invalid_scope"')
  })

  test.each([
    ['chunks of one byte', chunked(`${form.replaceAll(/./g, (byte) => sized(byte))}0\r\n\r\n`)],
    ['bytes beyond ASCII in a header', framed([...usual, 'X-Any: \xe4\xff'])],
    ['a target in absolute form', good.replace('/token', 'http://elsewhere.example/token')],
    [
      'header names in capitals',
      framed(usual.map((line) => line.replace(/^[^:]+/, (name) => name.toUpperCase()))),
    ],
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
    ['in the middle of its body', good.slice(0, -10)],
    ['before the last chunk', chunked(sized(form))],
  ])('%s gets nothing and is let go', async (_, bytes) => {
    const text = await speak(bytes, { halfClose: true })
    expect(text).not.toContain('access_token')
    expect(statusesOf(text).every((status) => status === 400)).toBe(true)
  })
})
