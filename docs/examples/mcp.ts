import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  requireScopes,
  type ServerContext,
} from '@modelcontextprotocol/server'
import express, { type Express } from 'express'
import {
  createAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
} from 'express-authorization-server'
import { mcp, type McpOptions } from 'express-authorization-server/mcp'

/** What the application brings, such as its origin as `issuer`. */
export type Host = Pick<McpOptions, 'clients'> & Omit<AuthorizationServerOptions, 'clients' | 'scopes'>

/** Adds a guarded MCP server. Call it behind the session middleware. */
export function addNotes(app: Express, { clients = [], ...host }: Host): AuthorizationServer {
  const resource = `${host.issuer}/mcp`
  const scopes = { 'notes:read': 'Read your notes', 'notes:write': 'Write notes for you' }
  const oauth = createAuthorizationServer({
    ...mcp({ resource: { [resource]: 'Notes' }, scopes, clients }),
    ...host,
  })
  const handle = toNodeHandler(createMcpHandler(notesServer))
  app.use(oauth.router())
  // Clients begin with this scope. A tool that needs more asks for it.
  app.use(oauth.protectedResource(resource, { scopes_supported: ['notes:read'] }))
  app.all('/mcp', oauth.bearerGuard('notes:read'), express.json(), (req, res) => handle(req, res, req.body))
  return oauth
}

const notes = new Map<string, readonly string[]>()

function notesServer(): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  server.registerTool('list_notes', { description: 'Lists your notes' }, (context) =>
    text((notes.get(ownerOf(context)) ?? []).join('\n')),
  )
  server.registerTool(
    'write_note',
    {
      description: 'Writes a note',
      inputSchema: fromJsonSchema<{ text: string }>({
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      }),
      // Every scope that the tool needs: some clients ask for exactly these.
      scopeChallenge: requireScopes('notes:read', 'notes:write'),
    },
    (note, context) => {
      const owner = ownerOf(context)
      notes.set(owner, [...(notes.get(owner) ?? []), note.text])
      return text('Written.')
    },
  )
  return server
}

/** The user who approved the client: the `subject` of `resourceOwner`. */
function ownerOf({ http }: ServerContext): string {
  const subject = http?.authInfo?.extra?.['subject']
  if (typeof subject !== 'string') throw new Error('This tool needs a token that a user has approved.')
  return subject
}

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })
