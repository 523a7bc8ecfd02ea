import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import express from 'express'
import { createIntrospectionGuard, type IntrospectionGuardOptions } from '../../../lib/index'
import { failuresOf } from '../events'
import { Clock } from './clock'
import { Flow } from './flow'

/** A request that reached the introspection endpoint. */
export interface Asked {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly contentType: string | undefined
  readonly authorization: string | undefined
  readonly body: string
  readonly form: URLSearchParams
}

type Answer = object | string | ((response: ServerResponse) => void)

/** An introspection endpoint that says what a test wants, with the metadata of its issuer. */
export class IntrospectionServer {
  readonly asked: Asked[] = []
  issuer = ''
  /** What the endpoint answers to every token. */
  answer: Answer = {}
  /** Members of the metadata besides `issuer` and the endpoint. */
  metadata: object = {}
  private readonly server = createServer((request, response) => void this.respond(request, response))

  get endpoint(): string {
    return `${this.issuer}/introspect`
  }

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    const place = this.server.address()
    if (place === null || typeof place === 'string') throw new Error('The server has no port.')
    this.issuer = `http://127.0.0.1:${place.port}`
  }

  stop(): void {
    this.server.close()
    this.server.closeAllConnections()
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/.well-known/oauth-authorization-server') {
      const { issuer, endpoint } = this
      return sendJson(response, { issuer, introspection_endpoint: endpoint, ...this.metadata })
    }
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { authorization, 'content-type': contentType } = request.headers
    const { method, url } = request
    this.asked.push({ method, url, contentType, authorization, body, form: new URLSearchParams(body) })
    if (typeof this.answer === 'function') this.answer(response)
    else sendJson(response, this.answer)
  }
}

function sendJson(response: ServerResponse, answer: object | string): void {
  response.setHeader('Content-Type', 'application/json')
  response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
}

/** A resource server that asks this endpoint. */
export function introspectedPhotos(issuer: string, bend: Partial<IntrospectionGuardOptions> = {}) {
  const clock = new Clock()
  const client = { client_id: 'photo-server', client_secret: 'a secret' }
  const guard = createIntrospectionGuard({ issuer, client, clock: clock.read, ...bend })
  const app = express().set('trust proxy', 1)
  app.get('/photos', guard('photos:read'), (request, response) => void response.json(request.oauth))
  app.get('/print', guard('photos:print'), (_request, response) => void response.end())
  app.get('/open', guard({ optional: true }), (request, response) => {
    response.json({ subject: request.oauth?.subject ?? 'nobody' })
  })
  const flow = new Flow(app)
  return {
    app,
    guard,
    clock,
    failures: failuresOf(guard.events),
    now: () => Math.floor(clock.read() / 1000),
    ask: (token: string, path = '/photos', address = '192.0.2.1') =>
      flow.open(path, undefined, { Authorization: `Bearer ${token}`, 'X-Forwarded-For': address }),
  }
}
