import express, { type RequestHandler } from 'express'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Endpoint } from '../../lib/index'
import { application } from '../support/flows/application'
import { listening } from '../support/listening'
import { within } from '../support/wait-until'

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
async function madeOf(pieces: readonly Buffer[], { type = formType, headers = [], before = [] }: Sent = {}) {
  const { app, failures } = application(
    { endpoints: [echo] },
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
    { endpoints: [echo] },
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
