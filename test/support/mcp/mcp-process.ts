import { createServer } from 'node:http'
import { createMcpExpressApp } from '@modelcontextprotocol/express'
import { createBearerGuard, redisStore } from '../../../lib/index'
import { listening } from '../listening'
import { mcpScopes, mountMcp } from './mcp-server'

/** What the program is told by its only argument. */
export interface McpServerPlan {
  /** The issuer of the authorization server, in another process. */
  readonly issuer: string
  /** The Redis of both. */
  readonly redis: string
  readonly prefix: string
}

/** An MCP server as a program: all that it shares with the authorization server is a Redis. It tells its URL. */
async function serve({ issuer, redis, prefix }: McpServerPlan): Promise<void> {
  const http = createServer()
  const { port } = await listening(http)
  const resource = `http://127.0.0.1:${port}/mcp`
  const guard = createBearerGuard({
    issuer,
    store: redisStore({ url: redis, prefix }),
    resources: { [resource]: { scopes: Object.keys(mcpScopes) } },
    guards: { authInfo: true, cors: true },
    // A machine under load is not a store in trouble.
    storeDeadline: 10,
  })
  const app = createMcpExpressApp()
  app.use(guard.protectedResource(resource))
  mountMcp(app, guard)
  http.on('request', app)
  process.stdout.write(`url ${resource}\n`)
  process.stdin.resume().on('close', () => process.exit())
}

void serve(JSON.parse(process.argv[2] ?? '{}'))
