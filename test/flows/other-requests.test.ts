import serverlessExpress from '@codegenie/serverless-express'
import type { Express } from 'express'
import lightMyRequest from 'light-my-request'
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { PassThrough, Readable } from 'node:stream'
import serverless from 'serverless-http'
import { dpop } from '../../lib/paths/dpop'
import { application } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest, Flow, redemption } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { Prover } from '../support/flows/prover'
import { codeOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer
}

/** Brings a request to an application without a connection. */
type Adapter = (app: Express) => (request: IncomingMessage, body: Buffer) => Promise<Answer>

/** An event of an HTTP API at AWS, format 2.0. */
function eventOf({ method = '', url = '', headers }: IncomingMessage, body: Buffer) {
  const { pathname, search } = new URL(url, 'http://localhost')
  const http = { method, path: pathname, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'any' }
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers,
    requestContext: { http, stage: '$default' },
    body: body.toString(),
    isBase64Encoded: false,
  }
}

function answerIn(result: unknown): Answer {
  const { statusCode, headers, cookies = [], body = '', isBase64Encoded } = Object(result)
  return {
    status: statusCode,
    headers: { ...headers, ...(cookies.length > 0 && { 'set-cookie': cookies }) },
    body: Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8'),
  }
}

const adapters: Readonly<Record<string, Adapter>> = {
  'serverless-http': (app) => {
    const handler = serverless(app)
    return async (request, body) => answerIn(await handler(eventOf(request, body), {}))
  },
  '@codegenie/serverless-express': (app) => {
    const handler = serverlessExpress({ app })
    return async (request, body) => {
      const result: unknown = await Reflect.apply(handler, undefined, [eventOf(request, body), {}])
      return answerIn(result)
    }
  },
  // What every such request has, and nothing more.
  'no adapter': (app) => async (request, body) => {
    const { method, url, headers } = request
    const socket = { remoteAddress: '192.0.2.1', encrypted: false }
    const bare = Object.assign(Readable.from([body]), { method, url, headers, socket })
    const response = new ServerResponse(request)
    const written = new PassThrough()
    Object(response).assignSocket(written)
    Reflect.apply(app, undefined, [bare, response])
    await new Promise((resolve) => response.on('finish', resolve))
    written.end()
    const text = await buffer(written)
    return {
      status: response.statusCode,
      headers: Object.fromEntries(headersIn(text)),
      body: text.subarray(text.indexOf('\r\n\r\n') + 4),
    }
  },
  // The last one: it changes the prototype that all applications of the process share.
  'light-my-request':
    (app) =>
    async ({ method, url = '', headers }, body) => {
      const injected = { method, url, headers, payload: body }
      const answer: unknown = await Reflect.apply(lightMyRequest, undefined, [app, injected])
      const { statusCode, headers: sent, rawPayload } = Object(answer)
      return { status: statusCode, headers: sent, body: rawPayload }
    },
}

function headersIn(text: Buffer): [string, string][] {
  const [head = ''] = text.toString().split('\r\n\r\n')
  return head
    .split('\r\n')
    .slice(1)
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
}

/** What stands before a function: takes each request whole, and has the adapter answer it. */
function gateway(adapter: ReturnType<Adapter>): Server {
  return createServer((request, response) => {
    void buffer(request)
      .then((body) => adapter(request, body))
      .then(
        ({ status, headers, body }) => response.writeHead(status, headers).end(body),
        (error: unknown) => response.writeHead(599).end(String(error)),
      )
  })
}

describe.each(Object.entries(adapters))('Requests that no socket of Node brings, by %s', (_name, adapter) => {
  function place() {
    const host = application({ plugins: [dpop({ baseUrl: 'http://localhost' })] })
    return { ...host, flow: new Flow(gateway(adapter(host.app))) }
  }

  test('lead from the login to calls that outlive a refresh, and end with the approval', async () => {
    const { flow, oauth, failures } = place()
    expect(outcomeOf(await flow.ask(authorizationRequest(photoBook)))).toBe('login')
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'alice' })
    const renewed = tokensOf(await flow.refresh(photoBook, refreshToken))
    expect((await flow.photos(renewed.accessToken)).status).toBe(200)
    const itself = { grant_type: 'client_credentials', scope: 'photos:read' }
    expect(outcomeOf(await flow.request(nightlyReport, itself))).toBe('tokens')
    expect(outcomeOf(await flow.revoke(photoBook, renewed.refreshToken))).toBe('done')
    expect((await flow.photos(renewed.accessToken)).status).toBe(401)
    expect((await flow.open('/.well-known/oauth-authorization-server')).body.issuer).toBe('http://localhost')
    expect(failures.map(({ reason }) => reason)).toEqual(['token_invalid'])
    // No request is left in progress.
    await oauth.close()
  })

  test('carry the proofs of a key', async () => {
    const { flow } = place()
    const client = new Prover(Date.now)
    const code = codeOf(
      await flow.decide(await flow.ask(authorizationRequest(photoBook), 'alice'), 'approve', 'alice'),
    )
    const { body } = await client.tokens(flow, redemption(photoBook, code), photoBook)
    expect(body).toMatchObject({ token_type: 'DPoP' })
  })
})
