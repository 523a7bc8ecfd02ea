import { createHash, randomBytes } from 'node:crypto'
import { isRecord } from '../../../lib/primitives/values'
import { decide } from '../../support/mcp/owner'

/** The redirection URIs that Cursor registers, in one request: https://github.com/erp-mafia/accounted/pull/2225. */
export const cursorUris = {
  scheme: 'cursor://anysphere.cursor-mcp/oauth/callback',
  web: 'https://www.cursor.com/agents/mcp/oauth/callback',
  device: 'http://localhost:8787/callback',
} as const

/**
 * Registers as Cursor does, asks the owner with one of its redirection URIs, and lists the tools of an MCP server at
 * the issuer's path `/mcp`. Returns the names of the tools, or the status of the page that the owner sees instead.
 */
export async function throughCursor(
  issuer: string,
  redirectUri: string,
): Promise<readonly string[] | number> {
  const resource = `${issuer}/mcp`
  const { client_id } = await post(`${issuer}/register`, {
    client_name: 'Cursor',
    redirect_uris: Object.values(cursorUris),
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  })
  const verifier = randomBytes(32).toString('base64url')
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: String(client_id),
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: 'notes:read',
    resource,
  })
  const authorizationUrl = `${issuer}/authorize?${request.toString()}`
  const { status } = await fetch(authorizationUrl)
  if (status !== 200) return status
  const answer = await decide(authorizationUrl)
  const { access_token } = await post(
    `${issuer}/token`,
    new URLSearchParams({
      grant_type: 'authorization_code',
      code: answer.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      client_id: String(client_id),
      code_verifier: verifier,
      resource,
    }),
  )
  return toolsAt(resource, String(access_token))
}

async function toolsAt(server: string, token: string): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' }
  const { result } = await post(server, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }, headers)
  const tools: unknown = isRecord(result) ? result['tools'] : undefined
  return Array.isArray(tools)
    ? tools.map((tool: unknown) => (isRecord(tool) ? String(tool['name']) : ''))
    : []
}

async function post(
  url: string,
  content: object,
  headers: Record<string, string> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const isForm = content instanceof URLSearchParams
  const answer = await fetch(url, {
    method: 'POST',
    headers: isForm ? headers : { ...headers, 'content-type': 'application/json' },
    body: isForm ? content : JSON.stringify(content),
  })
  const text = await answer.text()
  // A stream of events holds one message here.
  const parsed: unknown = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
  if (!answer.ok || !isRecord(parsed)) throw new Error(`${url} answers ${answer.status}: ${text}`)
  return parsed
}
