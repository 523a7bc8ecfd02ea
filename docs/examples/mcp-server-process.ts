import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import express from 'express'
import { createBearerGuard } from 'express-authorization-server/guards'
import { redisStore } from 'express-authorization-server/redis'

const { ISSUER = 'http://localhost:3000', REDIS_URL = 'redis://localhost:6379', PORT = '3001' } = process.env
const { MCP_URL = `http://localhost:${PORT}/mcp` } = process.env

const guard = createBearerGuard({
  issuer: ISSUER, // exactly as in the authorization server
  store: redisStore({ url: REDIS_URL }),
  resources: { [MCP_URL]: { scopes: ['notes:read', 'notes:write'] } },
  guards: { authInfo: true, cors: true },
})

const handle = toNodeHandler(
  createMcpHandler(() => {
    const server = new McpServer({ name: 'notes', version: '1.0.0' })
    server.registerTool('whoami', { description: 'Tells whose notes these are' }, ({ http }) => ({
      content: [{ type: 'text', text: String(http?.authInfo?.extra?.['subject']) }],
    }))
    return server
  }),
)

const app = express()
app.use(guard.protectedResource(MCP_URL, { scopes_supported: ['notes:read'] }))
app.all('/mcp', guard('notes:read'), express.json(), (req, res) => handle(req, res, req.body))
const server = app.listen(PORT)

process.once('SIGTERM', () => server.close(() => void guard.close()))
