import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening } from '../listening'
import { waitUntil } from '../wait-until'

/**
 * Stands before the processes of one service, as a load balancer does: sends each request to another process in turn. A
 * request that its process did not take goes to the next one, and so does a GET that its process did not answer.
 *
 * @param watch sees the path of each request that has passed.
 */
export async function startDispatcher(watch: (path: string) => void = () => {}) {
  let targets: readonly string[] = []
  let turn = 0
  const waiting = new Map<string, number>()
  const count = (url: string, more: number) => waiting.set(url, (waiting.get(url) ?? 0) + more)

  const inTurn = () => {
    turn += 1
    return targets.map((_url, index) => targets[(turn + index) % targets.length] ?? '')
  }
  const send = async (target: string, request: IncomingMessage, body: Buffer) => {
    const { method = 'GET', url = '/' } = request
    count(target, 1)
    try {
      const answer = await fetch(target + url, {
        method,
        headers: onwards(Object.entries(request.headers)),
        redirect: 'manual',
        ...(method === 'GET' ? {} : { body }),
      })
      // Here, because a process may die in the middle of an answer.
      return {
        status: answer.status,
        headers: onwards([...answer.headers]),
        body: Buffer.from(await answer.arrayBuffer()),
      }
    } finally {
      count(target, -1)
    }
  }
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray())
    for (const target of inTurn())
      try {
        const answer = await send(target, request, body)
        watch(request.url ?? '')
        response.writeHead(answer.status, answer.headers).end(answer.body)
        return
      } catch (error) {
        if (request.method !== 'GET' && !isUntaken(error)) break
      }
    response.writeHead(502).end()
  }
  const server = createServer((request, response) => void pass(request, response))
  server.keepAliveTimeout = 0
  const { port, close } = await listening(server)
  return {
    url: `http://127.0.0.1:${port}`,
    /** The processes from now on. Resolves when the processes that left have answered all that they had got. */
    lead: async (urls: readonly string[]) => {
      const left = targets.filter((url) => !urls.includes(url))
      targets = urls
      await waitUntil('the processes that leave have answered', async () =>
        left.every((url) => (waiting.get(url) ?? 0) === 0),
      )
    },
    stop: close,
  }
}

// Of one hop only (RFC 9110 7.6.1), or written anew by the next one.
const ofThisHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host'])

const onwards = (headers: readonly (readonly [string, unknown])[]): Record<string, string> =>
  Object.fromEntries(headers.flatMap(([name, value]) => (ofThisHop.has(name) ? [] : [[name, String(value)]])))

const isUntaken = (error: unknown): boolean =>
  error instanceof TypeError && String(Reflect.get(Object(error.cause), 'code')) === 'ECONNREFUSED'
