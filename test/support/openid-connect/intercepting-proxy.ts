import type { KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Express, Request, Response } from 'express'
import type { Fault } from './faults'

/** What stands between a server and its clients. */
export interface Interception {
  /** The requests that came, such as `GET /userinfo`, with the query. */
  readonly requests: { readonly method: string; readonly url: URL }[]
  /** What is changed on the way. */
  fault: Fault
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Forwards every request to a server, and changes what comes back. Clients know the server by the URL of the proxy. */
export function intercept(app: Express, url: string, server: string, key: KeyObject): Interception {
  const interception: Interception = { requests: [], fault: {} }
  const answer = async (req: Request, res: Response) => {
    interception.requests.push({ method: req.method, url: new URL(req.url, url) })
    const { status, headers, body } = await forward(req, server)
    for (const [name, value = ''] of Object.entries(headers)) if (!left.has(name)) res.set(name, value)
    const { location } = headers
    if (location !== undefined) res.set('location', redirected(location, url, interception.fault))
    const change = status === 200 ? changes[req.path] : undefined
    res.status(status).send(change === undefined ? body : await change(body, interception.fault, key))
  }
  app.use((req, res, next) => void answer(req, res).catch(next))
  return interception
}

// The length changes with the body; there is nothing to ask for again.
const left = new Set(['connection', 'content-length', 'etag', 'keep-alive', 'transfer-encoding'])

async function forward(req: Request, server: string): Promise<Answer> {
  const { method, headers } = req
  const forwarded = request(new URL(req.url, server), {
    method,
    headers,
    signal: AbortSignal.timeout(120_000),
  })
  req.pipe(forwarded)
  const [response]: IncomingMessage[] = await once(forwarded, 'response')
  if (response === undefined) throw new Error('The server has not answered.')
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
}

/** What a fault changes in a response with 200, by the path. */
const changes: Readonly<Record<string, (body: string, fault: Fault, key: KeyObject) => Promise<string>>> = {
  '/token': async (body, { idToken = async (same) => same }, key) => {
    const { id_token, ...members }: { id_token: string } = JSON.parse(body)
    return JSON.stringify({ ...members, id_token: await idToken(id_token, key) })
  },
  '/userinfo': async (body, { userInfo = (same) => same }) => JSON.stringify(userInfo(JSON.parse(body))),
}

function redirected(location: string, own: string, { redirection = () => undefined }: Fault): string {
  const target = new URL(location, own)
  if (target.origin !== own && target.searchParams.has('code')) redirection(target.searchParams)
  return target.href
}
