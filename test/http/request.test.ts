import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { formOf, headerLines, queryOf } from '../../lib/http/request'
import { authorizationRequest } from '../support/rooms/consent-form'
import { formApp } from '../support/rooms/form-app'
import { hostWith } from '../support/rooms/host'
import { statusOf } from '../support/rooms/status'
import { beginAndHangUp, chunk, exchangeBytes, formHead, onTheWire } from '../support/rooms/wire'
import { waitUntil } from '../support/wait-until'

const rawHeaders = ['Host', 'a', 'AUTHORIZATION', 'first', 'Authorization2', 'x', 'authorization', 'second']

describe('headerLines', () => {
  it('has every line of the header in the order of the request, whatever the case of its name', () => {
    expect(headerLines({ rawHeaders }, 'authorization')).toEqual(['first', 'second'])
  })

  it('has none of a header that is not there, and takes no value for a name', () => {
    expect(headerLines({ rawHeaders }, 'cookie')).toEqual([])
    expect(headerLines({ rawHeaders: ['X', 'cookie', 'Y', 'z'] }, 'cookie')).toEqual([])
    expect(headerLines({ rawHeaders: [] }, '__proto__')).toEqual([])
  })
})

const queryIn = (url: string | undefined) => {
  const message = new IncomingMessage(new Socket())
  if (url !== undefined) message.url = url
  return queryOf(message).format()
}

describe('queryOf', () => {
  it.each([
    ['/authorize', ''],
    ['/authorize?', ''],
    ['/authorize?a=1&b=2', 'a=1&b=2'],
    ['/authorize?a=1?b', 'a=1%3Fb'],
    ['/authorize?a[b]=1&a[]=2', 'a%5Bb%5D=1&a%5B%5D=2'],
    ['/authorize?a=%zz&b=1', 'b=1'],
    ['?a=1', 'a=1'],
    ['', ''],
  ])('reads %s', (url, parameters) => {
    expect(queryIn(url)).toBe(parameters)
  })

  it.each(['simple', 'extended'])(
    'does not care for the %s query parser of the host (EPT-4)',
    async (parser) => {
      const { app, failures } = hostWith()
      app.set('query parser', parser)
      const { client_id, ...others } = authorizationRequest
      const query = new URLSearchParams({ ...others, 'client_id[]': client_id, 'scope[x]': 'y' })
      expect(await statusOf(request(app).get(`/authorize?${query.toString()}`))).toBe(400)
      expect(failures).toEqual([expect.objectContaining({ reason: 'parameter_missing' })])
      expect(await statusOf(request(app).get(`/authorize?${query.toString()}&client_id=${client_id}`))).toBe(
        200,
      )
    },
  )
})

describe('form body', () => {
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
        exchangeBytes(open(), [
          `POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 3\r\n\r\na=1`,
        ]),
      )
      expect(answer).toMatch(/invalid_request body_type$/)
    })

    it.each([`${ended}\r\n`, ''])('takes a request without a body for an empty form: %j', async (length) => {
      const head = `POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${length}\r\n`
      const answer = await onTheWire(formApp(), (open) => exchangeBytes(open(), [head]))
      expect(answer).toMatch(/parameters $/)
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
      expect(await inPieces(pieces)).toBe(
        `parameters ${new URLSearchParams({ a: 'é€🔑', ü: 'é' }).toString()}`,
      )
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
      const answer = await onTheWire(formApp(later), (open) =>
        exchangeBytes(open(), [`${first}a=1${last}b=2`]),
      )
      expect(answer).toMatch(/parameters a=1[^]*parameters b=2$/)
    })

    it.each([
      ['at once', []],
      ['later', [later]],
    ])('reports that the host decoded its text, %s', async (_when, waiting) => {
      expect(await send('a=1', {}, formApp(decoding, ...waiting))).toMatch(/^broke: .*set an encoding/)
    })
  })
})

describe('form body parsed', () => {
  const form = 'application/x-www-form-urlencoded'
  const later: RequestHandler = (_request, _response, next) => void setTimeout(next, 20)

  const readToEnd: RequestHandler = (req, _response, next) => void req.once('end', next).resume()

  const decoy: RequestHandler = (req, _response, next) => {
    req.body = { a: 'decoy' }
    next()
  }

  const send = async (body: string, before: readonly RequestHandler[]) => {
    const test = request(formApp(...before))
      .post('/')
      .set('Content-Type', form)
      .send(body)
    return test.timeout(60_000).then(
      ({ text }) => text,
      () => 'no answer',
    )
  }

  const parsers: readonly [string, RequestHandler][] = [
    ['urlencoded', express.urlencoded({ extended: false })],
    ['urlencoded, extended', express.urlencoded({ extended: true })],
    ['text', express.text({ type: form })],
    ['raw', express.raw({ type: form })],
  ]

  describe.each(parsers)('formOf behind express.%s', (_name, parser) => {
    it('takes over what the parser read', async () => {
      expect(await send('a=1&b=%C3%A9+%26', [parser])).toBe('parameters a=1&b=%C3%A9+%26')
      expect(await send('a=1', [parser, later])).toBe('parameters a=1')
    })

    it('keeps a repeated parameter', async () => {
      expect(await send('a=1&a=2&b=3', [parser])).toBe('parameters a=1&a=2&b=3')
    })

    it('takes no body for no parameters', async () => {
      expect(await send('', [parser])).toBe('parameters ')
    })

    it('takes no body for no parameters, and hangs nothing, when the host lets some time pass', async () => {
      expect(await send('', [parser, later])).toBe('parameters ')
    })
  })

  describe('formOf behind a host', () => {
    it.each(['Transfer-Encoding: chunked', 'Content-Length: 0'])(
      'takes a body as empty that was read to its end and gave nothing: %s',
      async (framing) => {
        const answer = await onTheWire(formApp(readToEnd, later), (open) =>
          exchangeBytes(open(), [formHead('/', framing), framing.endsWith('0') ? '' : '0\r\n\r\n']),
        )
        expect(answer).toMatch(/parameters $/)
      },
    )

    it('reads the stream itself where the parser was for other types', async () => {
      expect(await send('a=1', [express.json()])).toBe('parameters a=1')
    })

    it('reads the stream even if req.body is an object', async () => {
      expect(await send('a=1', [decoy])).toBe('parameters a=1')
    })

    it('refuses bytes that are not UTF-8, where the parser left bytes', async () => {
      const latin = Buffer.from('a=\xE9', 'latin1')
      const app = formApp(express.raw({ type: form }))
      const answer = await onTheWire(app, (open) =>
        exchangeBytes(open(), [formHead('/', `Content-Length: ${latin.length}`), latin]),
      )
      expect(answer).toMatch(/invalid_request body_encoding$/)
    })

    it.each([
      ['nothing', undefined],
      ['null', null],
      ['a number', 7],
      ['a list', ['a=1']],
    ])('says what to do when another middleware read the body and left %s', async (_what, left) => {
      const swallow: RequestHandler = (req, _response, next) => {
        req.on('end', () => {
          req.body = left
          next()
        })
        req.resume()
      }
      // The message is for the log of the host.
      expect(await send('a=1', [swallow])).toBe(
        'broke: Error: Another middleware read the request body and left nothing in request.body: mount the authorization server before that middleware.',
      )
    })

    it('looks at the type even when the body is read', async () => {
      const { text } = await request(formApp(express.json())).post('/').send({ a: '1' })
      expect(text).toBe('invalid_request body_type')
    })
  })
})
