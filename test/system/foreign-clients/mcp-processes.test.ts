import { randomUUID } from 'node:crypto'
import { redisStore, type RedisStore } from '../../../lib/index'
import type { RedisServer } from '../../support/redis-server'
import { desk } from '../../support/mcp/mcp-clients'
import { runClient } from '../../support/mcp/run-client'
import { type McpStage, startMcp } from '../../support/mcp/stage'
import { type McpServerProcess, startMcpServer } from '../../support/mcp/start-mcp-server'
import { withRedis } from '../../support/with-redis'

let redis: RedisServer
withRedis(({ server }) => void (redis = server))

let store: RedisStore
let mcpServer: McpServerProcess
let stage: McpStage

beforeAll(async () => {
  const prefix = `mcp:${randomUUID()}:`
  store = redisStore({ url: redis.url, prefix })
  stage = await startMcp({
    mcp: { clients: [desk.registration] },
    options: { store, storeDeadline: 10 },
    elsewhere: async (issuer) => {
      mcpServer = await startMcpServer({ issuer, redis: redis.url, prefix })
      return mcpServer.url
    },
  })
})
afterAll(async () => {
  await mcpServer.stop()
  await stage.close()
})

test('an MCP client finds its way from an MCP server in a process of its own, and steps up there', async () => {
  const { client_id: clientId } = desk.registration
  const client = { kind: 'known', clientId, redirectUri: 'http://127.0.0.1:3333/callback' } as const
  const { server, issuer } = stage
  const tools = ['whoami', 'write-note', 'edit-note']
  const { results, error } = await runClient({ generation: 2, server, issuer, client, tools })
  expect(error).toBeUndefined()
  expect(results.slice(1)).toEqual(['written', 'changed'])
  expect(JSON.parse(results[0] ?? '')).toMatchObject({
    clientId,
    scopes: ['mcp:read'],
    resource: mcpServer.url,
    extra: { subject: 'alice', audience: [mcpServer.url] },
  })
  expect(stage.asked).not.toContain('POST /mcp')
})
