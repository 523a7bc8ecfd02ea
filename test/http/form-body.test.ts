import { gzipSync } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { formOf } from '../../lib/http/request'
import { formApp } from '../support/rooms/form-app'
import { beginAndHangUp, chunk, exchangeBytes, formHead, onTheWire } from '../support/rooms/wire'
import { waitUntil } from '../support/wait-until'

const form = 'application/x-www-form-urlencoded'
const ended = 'Content-Length: 0'

const send = async (body: string, headers: Readonly<Record<string, string>> = {}, app = formApp()) => {
  const { text } = await request(app)
    .post('/')
    .set({ 'Content-Type': form, ...headers })
    .send(body)
  return text
}

/** Sends a form with these bytes in these pieces. */
const inPieces = (pieces: readonly Buffer[], app = formApp()) =>
  onTheWire(app, async (open) => {
    const head = formHead('/', 'Transfer-Encoding: chunked')
    const answer = await exchangeBytes(open(), [head, ...pieces.map(chunk), chunk(Buffer.alloc(0))])
    return answer.slice(answer.indexOf('\r\n\r\n') + 4)
  })

describe('formOf: the type', () => {
  it.each([
    form,
    form.toUpperCase(),
    `${form};charset=utf-8`,
    `${form}; charset=UTF-8`,
    `${form}; charset="utf-8"`,
    `${form} ; charset=utf-8 `,
    `${form}; Charset=Utf-8`,
  ])('takes %s (TOK-2)', async (type) => {
    expect(await send('a=1', { 'Content-Type': type })).toBe('parameters a=1')
  })

  it.each([
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    `${form}x`,
    `x${form}`,
    `${form}; charset=iso-8859-1`,
    `${form}; charset=utf-16`,
    `${form}; charset=`,
    `${form}, application/json`,
  ])('refuses %s (TOK-2)', async (type) => {
    expect(await send('a=1', { 'Content-Type': type })).toBe('invalid_request body_type')
  })

  it.each([form, 'text/plain'])('refuses a second type, be it %s', async (second) => {
    const head = formHead('/', `Content-Type: ${second}`, 'Content-Length: 3', 'Connection: close')
    const answer = await onTheWire(formApp(), (open) => exchangeBytes(open(), [head, 'a=1']))
    expect(answer).toMatch(/invalid_request body_type$/)
  })

  it('refuses a body without a type', async () => {
    const answer = await onTheWire(formApp(), (open) =>
      exchangeBytes(open(), [`POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${ended}\r\n\r\n`]),
    )
    expect(answer).toMatch(/invalid_request body_type$/)
  })

  it.each(['gzip', 'GZIP', 'deflate', 'br', 'gzip, identity'])(
    'refuses a body in %s [input-7]',
    async (encoding) => {
      const zipped = gzipSync('a=1')
      const answer = await onTheWire(formApp(), (open) =>
        exchangeBytes(open(), [
          formHead('/', `Content-Encoding: ${encoding}`, `Content-Length: ${zipped.length}`),
          zipped,
        ]),
      )
      expect(answer).toMatch(/invalid_request body_encoding$/)
    },
  )

  it.each(['identity', 'Identity'])('takes a body in %s', async (encoding) => {
    expect(await send('a=1', { 'Content-Encoding': encoding })).toBe('parameters a=1')
  })
})

describe('formOf: the stream', () => {
  it('puts letters together that are split between pieces', async () => {
    const bytes = Buffer.from('a=é€🔑&ü=%C3%A9')
    const pieces = [...bytes].map((byte) => Buffer.from([byte]))
    expect(await inPieces(pieces)).toBe(`parameters ${new URLSearchParams({ a: 'é€🔑', ü: 'é' }).toString()}`)
  })

  it('takes no body for no parameters', async () => {
    expect(await send('')).toBe('parameters ')
    expect(await inPieces([])).toBe('parameters ')
  })

  it.each([
    ['in one piece', 1],
    ['in many', 64],
  ])('takes 64 KiB %s, and refuses one byte more', async (_how, count) => {
    const size = 65_536
    const piece = Buffer.alloc(size / count, 'a')
    const pieces = Array.from({ length: count }, () => piece)
    expect(await inPieces(pieces)).toBe(`parameters ${'a'.repeat(size)}=`)
    expect(await inPieces([...pieces, Buffer.from('a')])).toBe('invalid_request body_too_large')
  })

  it('counts bytes, not letters', async () => {
    expect(await send('é'.repeat(32_769))).toBe('invalid_request body_too_large')
  })

  it('gives up on a body without an end as soon as it is too large [input-8]', async () => {
    const answer = await onTheWire(formApp(), (open) => {
      const head = formHead('/', 'Transfer-Encoding: chunked')
      return exchangeBytes(open(), [
        head,
        ...Array.from({ length: 5 }, () => chunk(Buffer.alloc(20_000, 'a'))),
      ])
    })
    expect(answer).toMatch(/invalid_request body_too_large$/)
  })

  it.each([
    ['Latin-1', Buffer.from('a=\xE9', 'latin1')],
    ['UTF-8 that is cut', Buffer.from('a=é').subarray(0, 3)],
    ['a surrogate', Buffer.from([0x61, 0x3d, 0xed, 0xa0, 0x80])],
  ])('refuses %s', async (_what, bytes) => {
    expect(await inPieces([bytes])).toBe('invalid_request body_encoding')
  })

  it('takes a byte order mark for a part of the first name, as every form parser does', async () => {
    expect(new URLSearchParams('\uFEFFa=1').get('a')).toBeNull()
    expect(await send('\uFEFFa=1')).toBe('parameters %EF%BB%BFa=1')
  })

  it('ends when the client hangs up, as a fault of the client', async () => {
    const arrived: unknown[] = []
    const app = formApp((req, _response, next) => {
      arrived.push(req)
      next()
    })
    await onTheWire(app, async (open) => {
      const part = `${formHead('/', 'Content-Length: 1000')}a=1`
      await beginAndHangUp(open(), part, () => arrived.length > 0)
      await waitUntil('the body has ended', async () => app.outcomes.length > 0)
    })
    expect(app.outcomes).toEqual(['invalid_request body_aborted'])
  })

  it('reads once, however often it is asked', async () => {
    const app = express().post('/', (req, res, next) => {
      const first = formOf(req, 10)
      const same = () => res.send(String(first === formOf(req, 10)))
      first.then(same).catch(next)
    })
    expect((await request(app).post('/').type('form').send({ a: '1' })).text).toBe('true')
  })
})

const later: RequestHandler = (_request, _response, next) => void setTimeout(next, 50)

const decoding: RequestHandler = (req, _response, next) => {
  req.setEncoding('utf8')
  next()
}

describe('formOf: a body that has come before it is asked for', () => {
  it.each(['a=1', '', 'a=é€🔑', 'a'.repeat(65_535)])('takes it whole', async (body) => {
    const expected = new URLSearchParams(body).toString()
    expect(await send(body, {}, formApp(later))).toBe(`parameters ${expected}`)
    expect(await inPieces(body === '' ? [] : [Buffer.from(body)], formApp(later))).toBe(
      `parameters ${expected}`,
    )
  })

  it('waits for the rest of one that has come in part', async () => {
    const head = formHead('/', 'Content-Length: 6')
    const answer = await onTheWire(formApp(later), async (open) => {
      const socket = open()
      socket.write(`${head}a=1`)
      await new Promise((resolve) => setTimeout(resolve, 100))
      return exchangeBytes(socket, ['&b='])
    })
    expect(answer).toMatch(/parameters a=1&b=$/)
  })

  it('leaves the connection to the requests that follow', async () => {
    const last = formHead('/', 'Content-Length: 3')
    const first = last.replace('Connection: close', 'Connection: keep-alive')
    const answer = await onTheWire(formApp(later), (open) => exchangeBytes(open(), [`${first}a=1${last}b=2`]))
    expect(answer).toMatch(/parameters a=1[^]*parameters b=2$/)
  })

  it.each([
    ['at once', []],
    ['later', [later]],
  ])('tells of a host that had its text decoded, %s', async (_when, waiting) => {
    expect(await send('a=1', {}, formApp(decoding, ...waiting))).toMatch(/^broke: .*set an encoding/)
  })
})
