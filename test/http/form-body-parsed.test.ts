import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { formApp } from '../support/rooms/form-app'
import { exchangeBytes, formHead, onTheWire } from '../support/rooms/wire'

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
  return test.timeout(1500).then(
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

  it('knows a repeated parameter', async () => {
    expect(await send('a=1&a=2&b=3', [parser])).toBe('parameters b=3')
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
    'takes a body for empty that somebody read to its end, though nothing came out of it: %s',
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

  it('reads the stream even where somebody put an object in its place', async () => {
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
    // Without the body, nobody would know: the message is for the host, in its log.
    expect(await send('a=1', [swallow])).toBe(
      'broke: Error: Another middleware read the request body and left nothing in request.body: mount the authorization server before it.',
    )
  })

  it('looks at the type even when the body is read', async () => {
    const { text } = await request(formApp(express.json())).post('/').send({ a: '1' })
    expect(text).toBe('invalid_request body_type')
  })
})
