import express from 'express'
import type { Redis } from 'ioredis'
import { createBearerGuard, redisStore, type RedisStore } from '../../lib/index'
import { application } from '../support/flows/application'
import { photoBook } from '../support/flows/clients'
import { Flow } from '../support/flows/flow'
import { startServer } from '../support/flows/start-server'
import { tokensOf } from '../support/flows/tokens'
import type { RedisServer } from '../support/redis-server'
import { watchCommands, type WatchedCommands } from '../support/reliability/watched-commands'
import { recalls } from '../support/stores/cached-records'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

describe('A guard with a cache', () => {
  let server: RedisServer
  let redis: Redis
  let watched: WatchedCommands
  withRedis(
    (started) => {
      server = started.server
      redis = started.client
    },
    { own: true },
  )
  beforeAll(async () => {
    watched = await watchCommands(redis)
  })
  afterAll(() => watched.stop())

  let prefix: string
  let store: RedisStore
  /** The resource server, which has the cache. */
  let resources: Flow
  /** The authorization server, which has none, and a store of its own. */
  let authorizations: ReturnType<typeof application>
  beforeEach(() => {
    prefix = uniquePrefix()
    store = redisStore({ url: server.url, prefix, cache: { maximum: 100 } })
    const guard = createBearerGuard({ issuer: 'http://localhost', store, storeDeadline: 10 })
    const app = express()
    app.get('/photos', guard('photos:read'), (request, response) => {
      response.json(request.oauth)
    })
    resources = new Flow(app)
    authorizations = application({ store: redisStore({ url: server.url, prefix }), storeDeadline: 10 })
  })
  afterEach(async () => {
    await store.close()
    await authorizations.oauth.close()
  })

  const statusOf = async (accessToken: string) => (await resources.photos(accessToken)).status
  /** Uses the token until the cache knows it. */
  async function warm(accessToken: string): Promise<string> {
    const { authorizationId } = (await resources.photos(accessToken)).body
    await waitUntil('it is cached', async () => {
      expect(await statusOf(accessToken)).toBe(200)
      return recalls(store, authorizationId)
    })
    return authorizationId
  }

  test('accepts a known token without a command to Redis, with the same req.oauth', async () => {
    const { accessToken } = await authorizations.flow.tokens(photoBook)
    await warm(accessToken)
    const { answer, sent } = await watched.during(() => resources.photos(accessToken))
    expect(answer.body).toEqual((await authorizations.flow.photos(accessToken)).body)
    // What proves that news arrive is no part of a request.
    expect(sent.filter((command) => command !== 'SET')).toEqual([])
  })

  test('refuses a token that another server has revoked, as soon as Redis announces it [revocation-12]', async () => {
    const { accessToken: kept } = await authorizations.flow.tokens(photoBook)
    const keptId = await warm(kept)
    for (let round = 0; round < 10; round++) {
      const { accessToken } = await authorizations.flow.tokens(photoBook)
      const id = await warm(accessToken)
      expect((await authorizations.flow.revoke(photoBook, accessToken)).status).toBe(200)
      await waitUntil('the news is there', async () => !recalls(store, id), 1)
      expect(recalls(store, keptId)).toBe(true)
      expect(await statusOf(accessToken)).toBe(401)
    }
  })

  test('refuses a token that a server in another process has revoked', async () => {
    const process = await startServer({ redis: { url: server.url }, prefix })
    try {
      const { accessToken } = await process.flow.tokens(photoBook)
      const id = await warm(accessToken)
      await process.flow.revoke(photoBook, accessToken)
      await waitUntil('the news is there', async () => !recalls(store, id), 0.9)
      expect(await statusOf(accessToken)).toBe(401)
    } finally {
      await process.kill()
    }
  })

  test('lets a token pass that is newer than what it knows of its authorization', async () => {
    const first = await authorizations.flow.tokens(photoBook)
    const id = await warm(first.accessToken)
    const stale = store.getCached?.(id)
    const refreshed = tokensOf(await authorizations.flow.refresh(photoBook, first.refreshToken))
    // As if the news had not come yet.
    const late = { ...store, getCached: () => stale }
    const guard = createBearerGuard({ issuer: 'http://localhost', store: late })
    const app = express()
    app.get('/photos', guard('photos:read'), (_request, response) => void response.end())
    expect((await new Flow(app).photos(refreshed.accessToken)).status).toBe(200)
  })

  test('refuses at once what its own server has revoked, by a client or by the host', async () => {
    const { flow, oauth } = application({ store, storeDeadline: 10 })
    for (const way of ['client', 'host']) {
      const { accessToken } = await flow.tokens(photoBook)
      const id = await warm(accessToken)
      if (way === 'client') await flow.revoke(photoBook, accessToken)
      else await oauth.revoke(id)
      expect((await flow.photos(accessToken)).status).toBe(401)
    }
  })

  test('reads Redis for a refresh, whatever is cached', async () => {
    const { flow } = application({ store, storeDeadline: 10 })
    const tokens = await flow.tokens(photoBook)
    await warm(tokens.accessToken)
    const { sent } = await watched.during(() => flow.refresh(photoBook, tokens.refreshToken))
    expect(sent.filter((command) => command !== 'SET')).toEqual(['GET', 'EVALSHA'])
  })

  test('refuses a stranger who knows the id of a cached authorization', async () => {
    const { accessToken } = await authorizations.flow.tokens(photoBook)
    await warm(accessToken)
    const forged = `${accessToken.slice(0, -4)}AAAA`
    expect([await statusOf(forged), await statusOf(accessToken)]).toEqual([401, 200])
  })
})
