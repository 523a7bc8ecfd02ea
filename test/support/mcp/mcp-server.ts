import {
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  requireScopes,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { toNodeHandler } from '@modelcontextprotocol/node'
import express, { type Express, type RequestHandler } from 'express'
import { isRecord } from '../../../lib/primitives/values'

/** The scopes of the server: every call needs the first one, the tools `write-note` and `edit-note` the second, too. */
export const mcpScopes = {
  'mcp:read': 'Read your notes',
  'mcp:write': 'Write notes for you',
  'mcp:share': 'Share your notes',
}

/**
 * Mounts an MCP server behind guards. Its tool `whoami` tells what the guard says of the token. `write-note` and
 * `edit-note` need one scope more: a guard of ours demands it for the one, the SDK for the other. It speaks both revisions of the protocol, without sessions.
 */
export function mountMcp(app: Express, guard: (scope: string) => RequestHandler, path = '/mcp'): void {
  const handle = toNodeHandler(createMcpHandler(notesServer))
  const writes = guard('mcp:read mcp:write')
  app.all(path, guard('mcp:read'), express.json(), onlyFor('write-note', writes), (request, response) =>
    handle(request, response, request.body),
  )
}

function onlyFor(tool: string, guard: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const messages: readonly unknown[] = [request.body].flat()
    const needed = messages.some((message) => calledTool(message) === tool)
    return needed ? guard(request, response, next) : next()
  }
}

function calledTool(message: unknown): unknown {
  return isRecord(message) && message['method'] === 'tools/call' && isRecord(message['params'])
    ? message['params']['name']
    : undefined
}

function notesServer(): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  server.registerTool('whoami', { description: 'Tells whose access this is' }, (context) =>
    text(JSON.stringify(authInfoOf(context))),
  )
  server.registerTool(
    'write-note',
    { description: 'Writes a note', inputSchema: fromJsonSchema({ type: 'object' }) },
    () => text('written'),
  )
  server.registerTool(
    'edit-note',
    {
      description: 'Changes a note',
      inputSchema: fromJsonSchema({ type: 'object' }),
      scopeChallenge: requireScopes('mcp:read', 'mcp:write'),
    },
    () => text('changed'),
  )
  return server
}

function authInfoOf({ http }: ServerContext) {
  const { authInfo } = http ?? {}
  if (authInfo === undefined) return {}
  const { clientId, scopes, resource, expiresAt, extra } = authInfo
  return { clientId, scopes, expiresAt, resource: resource?.href, extra }
}

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })
