import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { CertificateAuthority } from '../support/certificate-authority'
import { fetchOf, outcomeOfFetch, stoppedTimers } from '../support/flows/opened-documents'
import { authority, httpsOrigin, silentListener, tlsOrigin } from '../support/https-origin'
import type { Listener } from '../support/listening'
import { waitUntil } from '../support/wait-until'

const { ca } = authority
const identity = authority.issue(['client.example'])
const lookup = async () => [{ address: '127.0.0.1' }]

/** What no redirect may reach. */
let inner: Listener
/** Answers as the test says. */
let origin: Listener
let answer: RequestListener
/** Writes what no http server would write. */
let raw: Listener
let write: (socket: Socket) => void
const others: Listener[] = []
beforeAll(async () => {
  jest.useFakeTimers(stoppedTimers)
  inner = await silentListener()
  origin = await httpsOrigin(identity, (request, response) => answer(request, response))
  raw = await tlsOrigin(identity, (socket) => write(socket))
})
afterEach(async () => {
  for (const other of others.splice(0)) await other.close()
  if (inner.connections() > 0) throw new Error('An inner listener was reached.')
})
afterAll(() => Promise.all([origin.close(), raw.close(), inner.close()]))

const urlAt = ({ port }: Listener, path = '/') => `https://client.example:${port}${path}`
const json = { 'Content-Type': 'application/json' }

/** What becomes of a document that comes so. Nothing of it stays open. */
async function outcomeOf(given: RequestListener): Promise<string> {
  answer = given
  const before = origin.connections()
  const outcome = await outcomeOfFetch(fetchOf({ ca, lookup }).fetch(urlAt(origin)))
  await waitUntil('the connection is closed', async () => origin.open() === 0)
  expect(origin.connections()).toBe(before + 1)
  return outcome
}

const body =
  (text: string | Buffer, headers: object = {}, status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { ...json, ...headers }).end(text)
/** A head that Node counts as so many bytes: the word of the status, and names and values of the headers. */
function sendHead(response: ServerResponse, bytes: number): void {
  response.sendDate = false
  const headers = { ...json, Connection: 'close', 'Content-Length': 2 }
  const rest = ['OK', ...Object.entries(headers).flat()].join('').length
  response.writeHead(200, { ...headers, 'X-Long': 'a'.repeat(bytes - rest - 'X-Long'.length) }).end('{}')
}

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe('A document', () => {
  test('is asked for by name, with its port, path and query, and with nothing that says who asks for whom', async () => {
    answer = ({ url, headers }, response) =>
      response.writeHead(200, json).end(JSON.stringify({ url, headers }))
    expect(await fetchOf({ ca, lookup }).fetch(urlAt(origin, '/a/b?c=%20d'))).toEqual({
      json: {
        url: '/a/b?c=%20d',
        headers: {
          host: `client.example:${origin.port}`,
          accept: 'application/json',
          'accept-encoding': 'identity',
          connection: 'close',
        },
      },
      maximumAge: 60,
    })
  })

  test.each<[string, RequestListener]>([
    ['with white space and in UTF-8', body(' {"a":[1,"\u00fc"]}\n')],
    ['with a longer type', body('{}', { 'Content-Type': 'Application/client+JSON; charset=utf-8' })],
    ['with no object', body('null')],
    ['with 32 levels', body(nested(32))],
    ['with a head of a byte less than 8 KiB', (_, response) => sendHead(response, 8191)],
    ['with 5120 bytes', body(JSON.stringify('a'.repeat(5118)), { 'Content-Length': 5120 })],
    ['in chunks', body('{}', { 'Transfer-Encoding': 'chunked' })],
  ])('is taken %s', async (_, given) => {
    expect(await outcomeOf(given)).toBe('document')
  })

  test('has a URL of 2048 characters, and no longer one', async () => {
    answer = body('{}')
    const documents = fetchOf({ ca, lookup })
    const at = (length: number) => outcomeOfFetch(documents.fetch(urlAt(origin).padEnd(length, 'a')))
    expect([await at(2048), await at(2049)]).toEqual(['document', 'url'])
  })

  test('gives members named __proto__ to nobody, and of equal names the last', async () => {
    answer = body('{"__proto__":{"secret":1},"b":1,"b":2,"a":[{"__proto__":null,"\\u005f_proto__":1}]}')
    const { json: found } = await fetchOf({ ca, lookup }).fetch(urlAt(origin))
    expect(JSON.stringify(found)).toBe('{"b":2,"a":[{}]}')
    expect(found).not.toHaveProperty('secret')
  })

  test('may be as large as each of two calls at once allows', async () => {
    answer = body(JSON.stringify('a'.repeat(65_534)))
    const documents = fetchOf({ ca, lookup })
    const both = [documents.fetch(urlAt(origin), 65_536), documents.fetch(urlAt(origin), 65_535)]
    expect(await Promise.all(both.map(outcomeOfFetch))).toEqual(['document', 'size'])
  })
})

const date = 'Tue, 15 Nov 1994 08:12:31 GMT'
const anHourLater = 'Tue, 15 Nov 1994 09:12:31 GMT'

test('A document is kept by its headers, from a minute to a day', async () => {
  const rows: readonly (readonly [
    title: string,
    headers: Readonly<Record<string, string>>,
    seconds: number,
  ])[] = [
    ['an empty header', { 'cache-control': '' }, 60],
    ['max-age', { 'cache-control': 'public, max-age=600' }, 600],
    ['max-age in capitals and in quotes', { 'cache-control': 'Max-Age="600"' }, 600],
    ['less than a minute', { 'cache-control': 'max-age=5' }, 60],
    ['more than a day', { 'cache-control': 'max-age=31536000' }, 86_400],
    ['a number beyond all bounds', { 'cache-control': `max-age=${'9'.repeat(400)}` }, 86_400],
    ['s-maxage before max-age', { 'cache-control': 'max-age=600, s-maxage=900' }, 900],
    ['max-age before Expires', { 'cache-control': 'max-age=600', expires: anHourLater, date }, 600],
    ['Expires', { expires: anHourLater, date }, 3600],
    ['Expires in the past', { expires: date, date: anHourLater }, 60],
    ['Expires that cannot be read', { expires: '0', date }, 60],
    ['Age is subtracted', { 'cache-control': 'max-age=600', age: '200' }, 400],
    ['Age is subtracted before the most', { 'cache-control': 'max-age=100000', age: '50000' }, 50_000],
    ['Age beyond all bounds', { 'cache-control': `max-age=${'9'.repeat(400)}`, age: '9'.repeat(400) }, 60],
    ['Age that cannot be read', { 'cache-control': 'max-age=600', age: '-9' }, 600],
    ['no-store beside max-age', { 'cache-control': 'max-age=600, no-store' }, 60],
    ['no-cache beside max-age', { 'cache-control': 'No-Cache, max-age=600' }, 60],
    ['max-age twice', { 'cache-control': 'max-age=600, max-age=300' }, 300],
    ['max-age without seconds', { 'cache-control': 'max-age' }, 60],
    ['max-age that is no number', { 'cache-control': 'max-age=1e5' }, 60],
    ['private, because the cache is shared', { 'cache-control': 'max-age=600, Private' }, 60],
    ['private for a header alone', { 'cache-control': 'private="set-cookie", max-age=600' }, 60],
    ['Vary with * among others', { 'cache-control': 'max-age=600', vary: 'Accept, *' }, 60],
    ['Vary without *', { 'cache-control': 'max-age=600', vary: 'Accept-Encoding, Origin' }, 600],
    ['a directive within quotes', { 'cache-control': 'x="x, max-age=9000", max-age=600' }, 600],
    ['a directive with a longer name', { 'cache-control': 'x-max-age=9000, max-age=600' }, 600],
    ['a long header', { 'cache-control': `${'a'.repeat(1000)}="${','.repeat(6000)}` }, 60],
  ]
  answer = (request, response) => {
    response.sendDate = false
    const [, headers] = rows[Number(request.url?.slice(1))] ?? []
    response.writeHead(200, { ...json, ...headers }).end('{}')
  }
  const documents = fetchOf({ ca, lookup })
  const ages = []
  for (const at of rows.keys())
    ages.push([rows[at]?.[0], (await documents.fetch(urlAt(origin, `/${at}`))).maximumAge])
  expect(ages).toEqual(rows.map(([title, , seconds]) => [title, seconds]))
})

const large = JSON.stringify('a'.repeat(5119))
const endless = (to: ServerResponse | Socket, text: string) => {
  const more = () => {
    while (!to.destroyed && to.write(text));
  }
  to.on('drain', more)
  more()
}
const redirect =
  (status: number, location = () => `https://127.0.0.1:${inner.port}/`): RequestListener =>
  (request, response) =>
    body('{}', { Location: location() }, status)(request, response)

test.each<[title: string, reason: string, given: RequestListener]>([
  ['a redirect', 'status', redirect(302)],
  ['a redirect with its method', 'status', redirect(308)],
  ['a redirect to http', 'status', redirect(302, () => `http://127.0.0.1:${inner.port}/`)],
  ['a redirect without a host', 'status', redirect(302, () => '/other')],
  ...[201, 206, 304, 404, 500].map((status): [string, string, RequestListener] => [
    `the status ${status}`,
    'status',
    body(status === 304 ? '' : '{}', {}, status),
  ]),
  ...['', 'text/html', 'application/json5', 'application/+json', 'text/plain, application/json'].map(
    (type): [string, string, RequestListener] => [
      `the type ${JSON.stringify(type)}`,
      'type',
      body('{}', { 'Content-Type': type }),
    ],
  ),
  ['a compressed bomb', 'encoding', body(gzipSync('0'.repeat(5_000_000)), { 'Content-Encoding': 'gzip' })],
  ['a layered encoding', 'encoding', body('{}', { 'Content-Encoding': 'identity, br' })],
  ['compressed bytes that it does not announce', 'malformed', body(gzipSync('{}'))],
  ['more bytes than allowed, announced', 'size', body(large, { 'Content-Length': large.length })],
  ['more bytes in one chunk', 'size', (_, response) => void response.writeHead(200, json).write(large)],
  ['endless white space', 'size', (_, response) => endless(response.writeHead(200, json), ' ')],
  ['a head of 8 KiB', 'size', (_, response) => sendHead(response, 8192)],
  [
    'fewer bytes than announced',
    'connection',
    (_, response) =>
      void response.writeHead(200, { ...json, 'Content-Length': 10 }).write('{}', () => response.destroy()),
  ],
  ['33 levels', 'malformed', body(nested(33))],
  ['2500 levels', 'malformed', body(nested(2500))],
  ['half a document', 'malformed', body('{"client_id":')],
  ['nothing', 'malformed', body('')],
  ['a byte order mark', 'malformed', body('\uFEFF{}')],
  ['UTF-16', 'malformed', body(Buffer.from('{}', 'utf16le'))],
  ['an overlong form', 'malformed', body(Buffer.from([0x22, 0xc0, 0xaf, 0x22]))],
  ['two values', 'malformed', body('{}{}')],
])('An origin gives no document with %s (%s) [document-4]', async (_, reason, given) => {
  expect(await outcomeOf(given)).toBe(reason)
})

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
const chunks = `${head}Transfer-Encoding: chunked\r\n\r\n`
const early = 'HTTP/1.1 103 Early Hints\r\n\r\n'
test.each<[title: string, reason: string, given: (socket: Socket) => unknown]>([
  ['no HTTP', 'connection', (socket) => socket.end('SSH-2.0-OpenSSH\r\n')],
  ['HTTP/0.9', 'connection', (socket) => socket.end('{}')],
  ['nothing, and an end', 'connection', (socket) => socket.end()],
  ['a reset', 'connection', (socket) => socket.destroy()],
  ['informational responses without end', 'size', (socket) => endless(socket, early)],
  ['a head without end', 'size', (socket) => (socket.write(head), endless(socket, 'X-A: a\r\n'))],
  [
    'chunk extensions without end',
    'size',
    (socket) => (socket.write(chunks), endless(socket, `1;${'a'.repeat(1000)}\r\n[\r\n`)),
  ],
  [
    'trailers without end',
    'size',
    (socket) => (socket.write(`${chunks}2\r\n{}\r\n0\r\n`), endless(socket, 'X-A: a\r\n')),
  ],
  [
    'another protocol',
    'connection',
    (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: inner\r\nConnection: Upgrade\r\n\r\n{}'),
  ],
  [
    'two lengths',
    'connection',
    (socket) => socket.end(`${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}1`),
  ],
  [
    'a length and chunks',
    'connection',
    (socket) => socket.end(`${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`),
  ],
  ['a huge chunk', 'connection', (socket) => socket.end(`${chunks}ffffffffffffffffff\r\n{}`)],
  ['a compressed transfer', 'encoding', (socket) => socket.end(`${head}Transfer-Encoding: gzip\r\n\r\n{}`)],
])('An origin gives no document with %s (%s) [document-6]', async (_, reason, given) => {
  write = given
  expect(await outcomeOfFetch(fetchOf({ ca, lookup }).fetch(urlAt(raw)))).toBe(reason)
  await waitUntil('the connection is closed', async () => raw.open() === 0)
})

test.each([
  ['another name', authority.issue(['other.example'])],
  ['a name below', authority.issue(['*.client.example'])],
  ['its address', authority.issue(['127.0.0.1'])],
  ['an unknown authority', new CertificateAuthority().issue(['client.example'])],
  ['yesterday', authority.issue(['client.example'], -0.5)],
])(
  'An origin with a certificate of %s gives no document, and sees no request [document-5]',
  async (_, foreign) => {
    let requests = 0
    const other = await httpsOrigin(foreign, () => void (requests += 1))
    others.push(other)
    expect(await outcomeOfFetch(fetchOf({ ca, lookup }).fetch(urlAt(other)))).toBe('connection')
    expect(requests).toBe(0)
  },
)

test('Whatever is slow ends two seconds after the call, with its connection [document-6]', async () => {
  const drip = (to: ServerResponse | Socket, text: string) => {
    const timer = setInterval(() => to.write(text), 50)
    to.once('close', () => clearInterval(timer))
  }
  let begun = 0
  const slow = (begin: (response: ServerResponse) => void) =>
    httpsOrigin(identity, (_, response) => (begin(response), void (begun += 1)))
  const slowly = (begin: (socket: Socket) => void) =>
    tlsOrigin(identity, (socket) => (begin(socket), void (begun += 1)))
  const origins = await Promise.all([
    silentListener(),
    slow(() => {}),
    slow((response) => void response.writeHead(200, json).write('{')),
    slow((response) => drip(response.writeHead(200, json), ' ')),
    slowly((socket) => drip(socket, early)),
    slowly((socket) => (socket.write('HTTP/1.1 200 OK\r\n'), drip(socket, 'X-A: a\r\n'))),
  ])
  others.push(...origins)
  const documents = fetchOf({ ca, lookup })
  const ended: string[] = []
  const all = [
    fetchOf({ lookup: () => new Promise<never>(() => {}) }).fetch('https://client.example/'),
    ...origins.map((each) => documents.fetch(urlAt(each))),
  ].map(async (each) => void ended.push(await outcomeOfFetch(each)))
  await waitUntil('all have begun', async () => begun === 5 && origins[0]?.connections() === 1)
  await jest.advanceTimersByTimeAsync(1950)
  expect(ended).toEqual([])
  await jest.advanceTimersByTimeAsync(150)
  await Promise.all(all)
  expect(ended).toEqual(all.map(() => 'timeout'))
  await waitUntil('all connections are closed', async () => origins.every(({ open }) => open() === 0))
  expect(origins.map(({ connections }) => connections())).toEqual(origins.map(() => 1))
})
