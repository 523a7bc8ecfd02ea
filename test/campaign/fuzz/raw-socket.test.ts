import { connect, type Socket } from 'node:net'
import { basic } from '../../support/flows/flow'
import { planOfMemory, service } from './parties'
import { startFuzzServer, type FuzzServer } from './start-fuzz-server'

let server: FuzzServer

beforeAll(async () => {
  server = await startFuzzServer(planOfMemory)
})

afterAll(() => server.stop())

// After whatever was sent: it lives, works, and nothing went wrong inside of it.
afterEach(async () => {
  const text = await speak([good])
  const { complaints } = await server.health()
  if (tokensIn(text) !== 1 || complaints.length > 0) throw new Error([...complaints, text].join('\n'))
})

const credentials = basic(service.registration.client_id, service.secret ?? '')
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

interface Manner {
  /** Ends its own side after the last byte. */
  readonly halfClose?: boolean
  /** How long it listens when the server does not hang up, in milliseconds. */
  readonly patience?: number
  /** Hangs up by itself once this was answered. */
  readonly until?: RegExp
}

/** Sends the parts as they are, one after the other, and hears the server out. */
async function speak(
  parts: readonly string[],
  { halfClose = false, patience = 5000, until }: Manner = {},
): Promise<string> {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
  const received = receive(socket, patience, until)
  for (const part of parts) await new Promise((resolve) => socket.write(part, 'latin1', resolve))
  if (halfClose) socket.end()
  return received
}

function receive(socket: Socket, patience: number, until: RegExp | undefined): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const end = (how: string) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(text + how)
    }
    const timer = setTimeout(() => end('[silence]'), patience)
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      if (until?.test(text) === true) end('')
    })
    socket.on('end', () => end('[closed]')).on('error', () => end('[reset]'))
  })
}

const statusesOf = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
const tokensIn = (text: string): number => text.split('"access_token"').length - 1

/** One that leaves the connection open. */
const kept = (headers: readonly string[], body = form) =>
  post([...headers, `Content-Length: ${body.length}`], body)

describe('pipelined requests', () => {
  it('are answered in their order, each with the credentials of its own [input-20]', async () => {
    const nobody = kept(['Host: localhost', type])
    const wrong = kept(['Host: localhost', type, `Authorization: ${basic('night', 'wrong')}`])
    const text = await speak([kept(usual) + nobody + kept(usual) + wrong + get('/photos')])
    expect(statusesOf(text)).toEqual([200, 401, 200, 401, 401])
    expect(tokensIn(text)).toBe(2)
  })

  it('are not answered behind one that ends the connection', async () => {
    expect(tokensIn(await speak([good + good + good]))).toBeLessThan(2)
  })

  it('do not lend the body of a refused one to the next [input-21]', async () => {
    const many = Array.from({ length: 20 }, (_, at) =>
      at % 2 === 0 ? kept(usual) : kept(usual, 'grant_type=x'),
    )
    const text = await speak([`${many.join('')}${get('/photos')}`])
    expect(statusesOf(text)).toEqual([...Array.from({ length: 10 }, () => [200, 400]).flat(), 401])
  })

  it('wait for no more than what comes when the sender ends its side', async () => {
    const text = await speak([kept(usual) + good.slice(0, -10)], { halfClose: true })
    expect(statusesOf(text).slice(0, 1)).toEqual([200])
    expect(tokensIn(text)).toBe(1)
  })
})

/** Refused before anybody acts on it: by Node with 400 and the end of the connection, or by the suite. */
const refused: readonly (readonly [what: string, bytes: string])[] = [
  ['two lengths that differ', post([...usual, 'Content-Length: 5', `Content-Length: ${form.length}`])],
  [
    'two lengths that are the same',
    post([...usual, `Content-Length: ${form.length}`, `Content-Length: ${form.length}`]),
  ],
  ['a list of lengths', post([...usual, `Content-Length: ${form.length}, ${form.length}`])],
  ['a length with a sign', post([...usual, `Content-Length: +${form.length}`])],
  ['a length in hexadecimal', post([...usual, 'Content-Length: 0x31'])],
  ['a negative length', post([...usual, 'Content-Length: -1'])],
  ['a length that no number holds', post([...usual, 'Content-Length: 99999999999999999999999'])],
  ['a length beside chunks', chunked(`${sized(form)}0\r\n\r\n`, `Content-Length: ${form.length}`)],
  [
    'chunks beside a length',
    post([...usual, 'Content-Length: 4', 'Transfer-Encoding: chunked'], `${sized(form)}0\r\n\r\n`),
  ],
  ['an unknown transfer coding', post([...usual, 'Transfer-Encoding: xchunked'], `${sized(form)}0\r\n\r\n`)],
  [
    'chunked not as the last coding',
    post([...usual, 'Transfer-Encoding: chunked, identity'], `${sized(form)}0\r\n\r\n`),
  ],
  ['a chunk of a huge size', chunked(`FFFFFFFFFFFFFFFFF\r\n${form}`)],
  ['a chunk size that is no number', chunked(`zz\r\n${form}\r\n0\r\n\r\n`)],
  ['a chunk size that is negative', chunked(`-5\r\n${form}\r\n0\r\n\r\n`)],
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
  ['a bare CR in a header', framed([...usual, 'X-Any: a\rX-Other: b'])],
  ['a NUL in the name of a header', framed([...usual, 'X-\x00Any: a'])],
  ['a header without a name', framed([...usual, ': a'])],
  ['a line that is no header', framed([...usual, 'any'])],
  ['a name with bytes beyond ASCII', framed([...usual, 'X-\xe4: a'])],
  ['a NUL in the target', get('/authorize?a=\x00')],
  ['a bare CR in the target', get('/authorize?a=\rb')],
  ['a bare LF in the target', get('/authorize?a=\nX-Any: b')],
  ['a space in the target', get('/authorize?a= b')],
  ['a method in lower case', good.replace('POST', 'post')],
  ['a method in mixed case', good.replace('POST', 'Post')],
  ['an unknown method', good.replace('POST', 'FROB')],
  ['an unknown version', good.replace('HTTP/1.1', 'HTTP/3.7')],
  ['no version', `POST /token\r\n\r\n`],
  ['what is no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
]

describe('a request with', () => {
  it.each(refused)('%s is refused', async (_, bytes) => {
    const text = await speak([bytes])
    expect(text).not.toContain('access_token')
    expect([400, 401]).toContain(statusesOf(text)[0])
    expect(text).toMatch(/\[(?:closed|reset)\]$/)
  })

  it.each([
    ['a header of 20 KB', framed([...usual, `X-Any: ${'a'.repeat(20_000)}`])],
    ['a target of 20 KB', get(`/authorize?state=${'a'.repeat(20_000)}`)],
    ['credentials of 20 KB', framed(['Host: localhost', type, `Authorization: Basic ${'a'.repeat(20_000)}`])],
  ])('%s is refused by Node', async (_, bytes) => {
    const text = await speak([bytes])
    expect(statusesOf(text)).toEqual([431])
    expect(text).toMatch(/\[(?:closed|reset)\]$/)
  })

  it.each([
    // Node keeps the first, and nothing here comes from it but the proof of a token of the type mac, which refuses two.
    ['two hosts', framed(['Host: elsewhere.example', ...usual])],
    ['200 headers', framed([...usual, ...Array.from({ length: 200 }, (_, at) => `X-${at}: a`)])],
    ['chunks of one byte', chunked(`${form.replaceAll(/./g, (byte) => sized(byte))}0\r\n\r\n`)],
    ['chunk extensions', chunked(`${sized(form, ';a=b;c="d"')}0;e\r\n\r\n`)],
    ['trailers that say nothing', chunked(`${sized(form)}0\r\nX-Any: a\r\n\r\n`)],
    ['bytes beyond ASCII in a header', framed([...usual, 'X-Any: \xe4\xff'])],
    ['a target in absolute form', good.replace('/token', 'http://elsewhere.example/token')],
    [
      'header names in capitals',
      framed(usual.map((line) => line.replace(/^[^:]+/, (name) => name.toUpperCase()))),
    ],
    [
      'header names in small letters',
      framed(usual.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))),
    ],
    ['white space around its values', framed(usual.map((line) => `${line.replace(': ', ': \t ')} \t`))],
    ['empty lines before it', `\r\n\r\n${good}`],
    [
      'HTTP/1.0 and no host',
      post([...usual.slice(1), `Content-Length: ${form.length}`], form, 'POST /token HTTP/1.0'),
    ],
  ])('%s is answered as any other', async (_, bytes) => {
    const text = await speak([bytes])
    expect(statusesOf(text)).toEqual([200])
    expect(tokensIn(text)).toBe(1)
  })

  it.each([
    ['a NUL', `${form}\x00`],
    ['a percent encoded NUL', `${form}%00`],
    ['CR and LF', `${form}\r\n`],
    ['a second line', `${form}\r\nX-Any: a`],
  ])('%s in its scope is refused by the suite', async (_, body) => {
    const text = await speak([framed(usual, body)])
    expect(statusesOf(text)).toEqual([400])
    expect(text).toContain('"error":"invalid_scope"')
  })

  it('bytes beyond ASCII in its credentials or in its body is refused by the suite', async () => {
    const strange = ['Host: localhost', type, 'Authorization: Basic \xe4\xff']
    expect(statusesOf(await speak([framed(strange)]))).toEqual([401])
    expect(statusesOf(await speak([framed(usual, `${form}&a=\xff`)]))).toEqual([400])
  })

  it('an expectation of 100-continue gets 100, and one response', async () => {
    const head = lines(
      'POST /token HTTP/1.1',
      ...usual,
      `Content-Length: ${form.length}`,
      'Expect: 100-continue',
      'Connection: close',
    )
    const text = await speak([`${head}\r\n`, form])
    expect(statusesOf(text)).toEqual([100, 200])
  })

  it('any other expectation is refused', async () => {
    expect(statusesOf(await speak([framed([...usual, 'Expect: 200-maybe'])]))).toEqual([417])
  })

  it('CONNECT or an upgrade gets no tunnel', async () => {
    const connecting = lines('CONNECT localhost:80 HTTP/1.1', 'Host: localhost')
    expect(statusesOf(await speak([`${connecting}\r\n`]))).toEqual([])
    const upgrading = get('/photos', 'Upgrade: h2c').replace('Connection: close', 'Connection: Upgrade')
    expect(statusesOf(await speak([upgrading], { until: /\r\n\r\n/ }))).toEqual([401])
  })
})

describe('a sender that ends its side', () => {
  it('after its request gets the answer', async () => {
    const text = await speak([good], { halfClose: true })
    expect(statusesOf(text)).toEqual([200])
    expect(text).toMatch(/\[closed\]$/)
  })

  it.each([
    ['in the middle of its head', good.slice(0, 60)],
    ['in the middle of its body', good.slice(0, -10)],
    ['in the middle of a chunk', chunked(`${form.length.toString(16)}\r\n${form.slice(0, 9)}`)],
    ['before the last chunk', chunked(sized(form))],
  ])('%s gets nothing and is let go', async (_, bytes) => {
    const text = await speak([bytes], { halfClose: true })
    expect(text).not.toContain('access_token')
    expect(statusesOf(text).every((status) => status === 400)).toBe(true)
    expect(text).toMatch(/\[(?:closed|reset)\]$/)
  })
})
