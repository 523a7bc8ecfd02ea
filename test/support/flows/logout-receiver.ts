import type { IncomingHttpHeaders } from 'node:http'
import { httpOrigin } from '../https-origin'
import { waitUntil } from '../wait-until'

/** A client on this machine that receives logout tokens. */
export interface LogoutReceiver {
  readonly uri: string
  /** The logout tokens that have come. */
  readonly tokens: readonly string[]
  readonly headers: readonly IncomingHttpHeaders[]
  /** The headers of each response. */
  responseHeaders: Readonly<Record<string, string>>
  /** Resolves once so many tokens have come. */
  readonly received: (count: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Starts a receiver. @param statusOf the status for the nth token, from 0; undefined for no response at all. */
export async function logoutReceiver(
  statusOf: (nth: number) => number | undefined | Promise<number> = () => 200,
): Promise<LogoutReceiver> {
  const tokens: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const { port, close } = await httpOrigin(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    headers.push(request.headers)
    const nth = tokens.push(new URLSearchParams(body).get('logout_token') ?? '') - 1
    const status = await statusOf(nth)
    if (status !== undefined) response.writeHead(status, receiver.responseHeaders).end()
  })
  const receiver: LogoutReceiver = {
    responseHeaders: {},
    uri: `http://127.0.0.1:${port}/logout`,
    tokens,
    headers,
    received: (count) => waitUntil(`${count} logout tokens came`, async () => tokens.length >= count),
    close,
  }
  return receiver
}
