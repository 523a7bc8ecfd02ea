import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  requireScopes,
  type ServerContext,
} from '@modelcontextprotocol/server'
import express, { Router } from 'express'
import type { StandaloneGuard } from '../lib/paths/guards'
import { photosFor } from './photos'

/** The scopes of both the photo API and the MCP server, with what the consent page says of them. */
export const photoScopes = {
  'photos:read': 'See your photos',
  'photos:write': 'Add photos to your collection',
}

/** The MCP server of a resource server with this base URL. */
export function mcpUrl(resourceServer: string): string {
  return `${resourceServer}/mcp`
}

/** What tokens are for at a resource server with this base URL, by its URL, with what people call it. */
export function resourcesAt(resourceServer: string): Readonly<Record<string, string>> {
  return { [resourceServer]: 'Lumen photos', [mcpUrl(resourceServer)]: 'Lumen photos for AI clients' }
}

/** The photos as tools for AI clients: the same data as the API, behind a guard for tokens of its own. */
export function mcpServer(guard: StandaloneGuard, resource: string): Router {
  const router = Router()
  const handle = toNodeHandler(createMcpHandler(photoTools))
  // Clients begin with this scope; add_photo asks for one more.
  router.use(guard.protectedResource(resource, { scopes_supported: ['photos:read'] }))
  router.all('/mcp', guard('photos:read', { resource, authInfo: true, cors: true }), express.json())
  router.all('/mcp', (request, response) => handle(request, response, request.body))
  return router
}

function photoTools(): McpServer {
  const server = new McpServer({ name: 'lumen-photos', version: '1.0.0' })
  server.registerTool('list_photos', { description: 'Lists the photos of the user' }, (context) =>
    text(
      photosOf(context)
        .map(({ title, place }) => `${title}, ${place}`)
        .join('\n'),
    ),
  )
  server.registerTool(
    'add_photo',
    {
      description: 'Adds a photo to the collection of the user',
      inputSchema: fromJsonSchema<{ title: string }>({
        type: 'object',
        properties: { title: { type: 'string' } },
        required: ['title'],
      }),
      scopeChallenge: requireScopes('photos:read', 'photos:write'),
    },
    ({ title }) => text(`Accepted: ${title}`),
  )
  return server
}

// The guard has put what it knows of the token there.
const photosOf = ({ http }: ServerContext) => photosFor(http?.authInfo?.extra)

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })
