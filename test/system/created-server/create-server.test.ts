import express from 'express'
import { createServer as createPlainServer, IncomingMessage, ServerResponse } from 'node:http'
import { ConfigurationError, createSecureServer, createServer } from '../../../lib/index'
import { warningsOf } from '../../support/rooms/warnings'

const inProgram = `const { createServer, createSecureServer } = suite; const app = express();`
// V8 12 is that of Node 22, V8 13 that of Node 24.
const given = (program: string) => warningsOf(inProgram + program, '12.4.254')
const givenOnNode24 = (program: string) => warningsOf(inProgram + program, '13.6.233')
const reason = (obstacle: string) => [
  {
    name: 'AuthorizationServerWarning',
    code: 'EAS_PLAIN_SERVER',
    message: `createServer() created a plain server of Node, which may be slower: ${obstacle}.`,
  },
]

describe('createServer() takes an Express application and options of Node', () => {
  test.each([undefined, null, {}, 'app', { request: {}, response: {} }])('no app: %p', (app) => {
    expect(() => Reflect.apply(createServer, undefined, [app])).toThrow(
      new ConfigurationError('createServer() cannot work with this:', [
        { path: 'app', message: 'must be an Express application, as express() makes it.' },
      ]),
    )
  })

  test.each([null, 'key', []])('no options: %p', (options) => {
    expect(() => Reflect.apply(createServer, undefined, [() => undefined, options])).toThrow(
      "options must be an object: the options of Node's own createServer().",
    )
  })

  test('reports all mistakes at once, and those of createSecureServer() under its name', () => {
    expect(() => Reflect.apply(createSecureServer, undefined, [])).toThrow(
      /^createSecureServer\(\) cannot work with this:\n {2}- app .*\n {2}- options /,
    )
  })

  test('hands the options on to Node, which refuses its own', () => {
    expect(createServer(express(), { keepAliveTimeout: 7 }).keepAliveTimeout).toBe(7)
    expect(() => createServer(express(), { maxHeaderSize: -1 })).toThrow('maxHeaderSize')
  })
})

describe('EAS_PLAIN_SERVER', () => {
  test('is not given for an Express application', () => {
    expect(
      given(`createServer(app); createSecureServer(app, {}); createServer(app, { noDelay: false })`),
    ).toEqual([])
  })

  test.each([
    ['a function around the application', `createServer((req, res) => app(req, res))`],
    ['no prototypes of Node', `app.request = {}; createServer(app)`],
    ['only one of them', `app.response = null; createServer(app)`],
  ])('is given for %s', (_what, program) => {
    expect(given(program)).toEqual(
      reason('its argument is not an Express application, which would have the prototypes'),
    )
  })

  test.each(['IncomingMessage', 'ServerResponse'])('is given when options name their own %s', (name) => {
    const program = `createServer(app, { ${name}: require('node:http').${name} })`
    expect(given(program)).toEqual(reason('its options already name an IncomingMessage or a ServerResponse'))
  })

  test.each([
    ['a setter for what Node sets', `Object.defineProperty(app.request, 'url', { set() {} })`],
    ['a setter that throws', `Object.defineProperty(app.response, 'sendDate', { set() { throw 1 } })`],
    ['a value that cannot be set', `Object.defineProperty(app.request, 'method', { value: 'GET' })`],
    [
      'classes of Node that must be constructed',
      `
      const http = require('node:http')
      http.ServerResponse = class extends http.ServerResponse {}
      Object.setPrototypeOf(app.response, http.ServerResponse.prototype)`,
    ],
  ])('is given for %s', (_what, program) => {
    expect(given(`${program}; createServer(app)`)).toEqual(
      reason('the objects that Node creates do not fit the prototypes of the application'),
    )
  })

  test('is given once', () => {
    expect(given(`for (let i = 0; i < 3; i++) createServer(() => {})`)).toHaveLength(1)
  })

  test('comes with a server that works', () => {
    const program = `
      app.get('/', (req, res) => res.send('here'))
      app.listen = () => createServer((req, res) => app(req, res)).listen(0)
      await serve(app, async (url) => { if (await (await fetch(url)).text() !== 'here') process.exit(1) })`
    expect(given(program)).toHaveLength(1)
  })

  test('is never given from Node 24 on', () => {
    expect(
      givenOnNode24(`createServer((req, res) => app(req, res)); createSecureServer(() => {}, {})`),
    ).toEqual([])
  })
})

// Listeners of a server see a request before Express changes its prototype.
const firstPrototype = `
  app.get('/', (req, res) => res.end())
  app.listen = () => createServer(app).prependListener('request', (req) => {
    if (Object.getPrototypeOf(req) !== expected) throw new Error('another prototype')
  }).listen(0)
  await serve(app, (url) => fetch(url))`

test('createServer() gives a request the prototype of the application on Node 20 and 22', () => {
  expect(given(`const expected = app.request; ${firstPrototype}`)).toEqual([])
})

test('createServer() gives a request the prototype of Node from Node 24 on', () => {
  const expected = `const expected = require('node:http').IncomingMessage.prototype`
  expect(givenOnNode24(`${expected}; ${firstPrototype}`)).toEqual([])
})

test('the classes of Node are what they were', () => {
  const { IncomingMessage: Request, ServerResponse: Response } = { IncomingMessage, ServerResponse }
  const before = [Request.prototype, Response.prototype].map((prototype) => Reflect.ownKeys(prototype))
  const app = Object.assign(() => undefined, {
    request: Object.create(Request.prototype),
    response: Object.create(Response.prototype),
  })
  createServer(app)
  expect([Request.prototype, Response.prototype].map((prototype) => Reflect.ownKeys(prototype))).toEqual(
    before,
  )
  expect(Object.getPrototypeOf(createServer(app))).toBe(Object.getPrototypeOf(createPlainServer()))
  expect(Reflect.ownKeys(app.request)).toEqual([])
})
