import { createServer } from 'node:http'
import { createMcpExpressApp } from '@modelcontextprotocol/express'
import { createAuthorizationServer, type AuthorizationServerOptions } from '../../../lib/index'
import { mcp, type McpOptions } from '../../../lib/paths/mcp'
import { listening } from '../listening'
import { withoutLimits } from '../flows/application'
import { mcpScopes, mountMcp } from './mcp-server'

export interface McpScene {
  /** The path of the issuer. Default none. */
  readonly issuerPath?: string
  /** Options of `mcp()`, such as the clients that the host registers itself. */
  readonly mcp?: Partial<McpOptions>
  /** Options of the server that `mcp()` does not have. */
  readonly options?: Partial<AuthorizationServerOptions>
  /** A document that the host serves at the first well-known path, made of the one of the server. */
  readonly document?: (metadata: Record<string, unknown>) => Record<string, unknown>
}

export async function startMcp({ issuerPath = '', options, document, ...scene }: McpScene) {
  const http = createServer()
  const { port, close } = await listening(http)
  const origin = `http://127.0.0.1:${port}`
  const issuer = origin + issuerPath
  const server = `${origin}/mcp`
  const oauth = createAuthorizationServer({
    issuer,
    ...mcp({ resource: server, scopes: mcpScopes, defaultScope: 'mcp:read', ...scene.mcp }),
    resourceOwner: (request) => request.get('X-Owner'),
    ...withoutLimits,
    ...options,
  })
  const asked: string[] = []
  const app = createMcpExpressApp()
  app.use((request, _response, next) => {
    asked.push(`${request.method} ${request.path}`)
    next()
  })
  if (document !== undefined)
    app.get('/.well-known/oauth-authorization-server', async (_request, response) => {
      const own = await fetch(`${origin}/.well-known/openid-configuration`)
      const metadata: Record<string, unknown> = JSON.parse(await own.text())
      response.json(document(metadata))
    })
  app.use(oauth.metadata())
  app.use(issuerPath || '/', oauth.router())
  app.use(oauth.protectedResource(server))
  mountMcp(app, oauth.bearerGuard)
  http.on('request', app)
  return {
    issuer,
    /** The URL of the MCP server. */
    server,
    /** What clients asked for, such as `GET /.well-known/oauth-authorization-server`. */
    asked,
    close: async () => {
      await oauth.close()
      await close()
    },
  }
}

/** An authorization server and the MCP server that it guards, on one port of this machine. */
export type McpStage = Awaited<ReturnType<typeof startMcp>>
