import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import express from 'express'
import {
  createBearerGuard,
  type IntrospectionSource,
  type StandaloneGuardOptions,
} from '../../../lib/paths/guards'
import { failuresOf } from '../events'
import { listening, type Listener } from '../listening'
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
  /** Whether the metadata stand where OpenID Connect has them, and not where RFC 8414 has them. */
  openId = false
  /** How often the metadata were read. */
  lookedUp = 0
  private path = '/introspect'
  private listener: Listener | undefined
  private readonly former = new Map<string | undefined, Answer>()
  private readonly server = createServer((request, response) => void this.respond(request, response))

  get endpoint(): string {
    return `${this.issuer}${this.path}`
  }

  /** Forgets what a test has done. */
  reset(answer: Answer): void {
    Object.assign(this, { answer, metadata: {}, openId: false, lookedUp: 0, path: '/introspect' })
    this.asked.length = 0
    this.former.clear()
  }

  /** Moves the endpoint to another path. @param left what the former path answers from now on. */
  move(path: string, left: Answer = (response) => void response.writeHead(404).end()): void {
    this.former.set(this.path, left)
    this.path = path
  }

  async start(): Promise<void> {
    this.listener = await listening(this.server)
    this.issuer = `http://127.0.0.1:${this.listener.port}`
  }

  async stop(): Promise<void> {
    await this.listener?.close()
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.includes('/.well-known/') === true) return this.sendMetadata(request.url, response)
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { authorization, 'content-type': contentType } = request.headers
    const { method, url } = request
    this.asked.push({ method, url, contentType, authorization, body, form: new URLSearchParams(body) })
    const answer = this.former.get(request.url) ?? this.answer
    if (typeof answer === 'function') answer(response)
    else sendJson(response, answer)
  }

  private sendMetadata(url: string, response: ServerResponse): void {
    const { issuer, endpoint } = this
    const place = this.openId ? 'openid-configuration' : 'oauth-authorization-server'
    if (!url.endsWith(place)) return void response.writeHead(404).end()
    this.lookedUp += 1
    sendJson(response, { issuer, introspection_endpoint: endpoint, ...this.metadata })
  }
}

function sendJson(response: ServerResponse, answer: object | string): void {
  response.setHeader('Content-Type', 'application/json')
  response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
}

/** A resource server that asks this endpoint. */
export function introspectedPhotos(
  issuer: string,
  bend: Partial<IntrospectionSource> = {},
  more: Partial<StandaloneGuardOptions> = {},
) {
  const clock = new Clock()
  const client = { client_id: 'photo-server', client_secret: 'a secret' }
  const introspection = { client, ...bend }
  const guard = createBearerGuard({ issuer, clock: clock.read, introspection, ...more })
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
