import express from 'express'
import { createServer as createPlainServer, IncomingMessage, ServerResponse } from 'node:http'
import { ConfigurationError, createSecureServer, createServer } from '../../../lib/index'
import { warningsOf } from '../../support/warnings'

const node22 = '12.4.254'
const node24 = '13.6.233'
const given = (program: string, v8 = node22) => warningsOf(`const app = express(); ${program}`, { v8 })

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
  const noApplication = 'its argument is not an Express application, which would have the prototypes'
  const named = 'its options already name an IncomingMessage or a ServerResponse'
  const unfit = 'the objects that Node creates do not fit the prototypes of the application'

  test.each([
    ['a function around the application', 'createServer((req, res) => app(req, res))', noApplication],
    ['no prototypes of Node', 'app.request = {}; createServer(app)', noApplication],
    ['only one of them', 'app.response = null; createServer(app)', noApplication],
    ...['IncomingMessage', 'ServerResponse'].map((name) => [
      `options that name their own ${name}`,
      `createServer(app, { ${name}: require('node:http').${name} })`,
      named,
    ]),
    [
      'a setter for what Node sets',
      "Object.defineProperty(app.request, 'url', { set() {} }); createServer(app)",
      unfit,
    ],
    [
      'a setter that throws',
      "Object.defineProperty(app.response, 'sendDate', { set() { throw 1 } }); createServer(app)",
      unfit,
    ],
    [
      'a value that cannot be set',
      "Object.defineProperty(app.request, 'method', { value: 'GET' }); createServer(app)",
      unfit,
    ],
    [
      'classes of Node that must be constructed',
      `const http = require('node:http')
      const { ServerResponse } = http
      http.ServerResponse = class extends ServerResponse {}
      Object.setPrototypeOf(app.response, http.ServerResponse.prototype)
      createServer(app)
      http.ServerResponse = ServerResponse`,
      unfit,
    ],
    [
      'three servers, and they work',
      `for (let i = 0; i < 3; i++) createServer(() => {})
      app.get('/', (req, res) => res.send('here'))
      app.listen = () => createServer((req, res) => app(req, res)).listen(0)
      await serve(app, async (url) => { if (await (await fetch(url)).text() !== 'here') process.exit(1) })`,
      noApplication,
    ],
  ])('is given once for %s', async (_what, program, reason) => {
    expect(await given(program)).toEqual([
      {
        name: 'AuthorizationServerWarning',
        code: 'EAS_PLAIN_SERVER',
        message: `createServer() created a plain server of Node, which may be slower: ${reason}.`,
      },
    ])
  })

  test.each([
    [
      'for an Express application',
      'createServer(app); createSecureServer(app, {}); createServer(app, { noDelay: false })',
      node22,
    ],
    [
      'from Node 24 on',
      'createServer((req, res) => app(req, res)); createSecureServer(() => {}, {})',
      node24,
    ],
  ])('is not given %s', async (_when, program, v8) => {
    expect(await given(program, v8)).toEqual([])
  })
})

test.each([
  ['the application on Node 20 and 22', 'app.request', node22],
  ['Node from Node 24 on', "require('node:http').IncomingMessage.prototype", node24],
])('createServer() gives a request the prototype of %s', async (_whose, expected, v8) => {
  // Listeners of a server see a request before Express changes its prototype.
  const program = `
    app.get('/', (req, res) => res.end())
    app.listen = () => createServer(app).prependListener('request', (req) => {
      if (Object.getPrototypeOf(req) !== ${expected}) throw new Error('another prototype')
    }).listen(0)
    await serve(app, (url) => fetch(url))`
  expect(await given(program, v8)).toEqual([])
})

test('the classes of Node are what they were', () => {
  const { IncomingMessage: Request, ServerResponse: Response } = { IncomingMessage, ServerResponse }
  const keys = () => [Request.prototype, Response.prototype].map((prototype) => Reflect.ownKeys(prototype))
  const before = keys()
  const app = Object.assign(() => undefined, {
    request: Object.create(Request.prototype),
    response: Object.create(Response.prototype),
  })
  createServer(app)
  expect(keys()).toEqual(before)
  expect(Object.getPrototypeOf(createServer(app))).toBe(Object.getPrototypeOf(createPlainServer()))
  expect(Reflect.ownKeys(app.request)).toEqual([])
})
