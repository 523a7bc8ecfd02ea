import express from 'express'
import type { Redis } from 'ioredis'
import { createBearerGuard, type StandaloneGuard } from '../../lib/paths/guards'
import { redisStore, type RedisStore } from '../../lib/paths/redis'
import { application } from '../support/flows/application'
import { photoBook } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { Flow } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { tokensOf } from '../support/flows/tokens'
import type { RedisServer } from '../support/redis-server'
import { watchCommands, type WatchedCommands } from './guard-cache/watched-commands'
import { recalls } from '../support/stores/cached-records'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

/** Uses the token until the cache of the guard knows it. */
async function warmed(resources: Flow, cache: RedisStore, accessToken: string): Promise<string> {
  const { authorizationId } = (await resources.photos(accessToken)).body
  await waitUntil('it is cached', async () => {
    expect((await resources.photos(accessToken)).status).toBe(200)
    return recalls(cache, authorizationId)
  })
  return authorizationId
}

/** A resource server whose routes show what its guard has found. */
function resourcesOf(guard: StandaloneGuard): Flow {
  const show: express.RequestHandler = (request, response) => void response.json(request.oauth)
  return new Flow(express().get('/photos', guard('photos:read'), show))
}

describe('With a Redis of its own,', () => {
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

  describe('a guard with a cache', () => {
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
      resources = resourcesOf(guard)
      authorizations = application({ store: redisStore({ url: server.url, prefix }), storeDeadline: 10 })
    })
    afterEach(async () => {
      await store.close()
      await authorizations.oauth.close()
    })

    const statusOf = async (accessToken: string) => (await resources.photos(accessToken)).status
    const warm = (accessToken: string) => warmed(resources, store, accessToken)

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
        // While the machine is busy, the trust may pause.
        await waitUntil('the other token is known', async () => recalls(store, keptId))
        expect(await statusOf(accessToken)).toBe(401)
      }
    })

    test('lets a token pass that is newer than what it knows of its authorization', async () => {
      const first = await authorizations.flow.tokens(photoBook)
      const id = await warm(first.accessToken)
      const stale = store.peek?.(`authorization:${id}`)
      const refreshed = tokensOf(await authorizations.flow.refresh(photoBook, first.refreshToken))
      // As if the news had not come yet.
      const late = { ...store, peek: () => stale }
      const guard = createBearerGuard({ issuer: 'http://localhost', store: late })
      expect((await resourcesOf(guard).photos(refreshed.accessToken)).status).toBe(200)
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

  describe('a client that another server has revoked', () => {
    let clock: Clock
    /** The server that revokes, and another one. */
    let servers: readonly [ReturnType<typeof application>, ReturnType<typeof application>]
    /** A resource server with a cache, in what could be another process. */
    let resources: Flow
    let cache: RedisStore
    let guard: StandaloneGuard
    beforeEach(() => {
      const prefix = uniquePrefix()
      clock = new Clock()
      const shared = { clock: clock.read, storeDeadline: 10, authorizations: true }
      const store = (more: object = {}) => redisStore({ url: server.url, prefix, clock: clock.read, ...more })
      cache = store({ cache: { maximum: 100 } })
      servers = [application({ ...shared, store: store() }), application({ ...shared, store: store() })]
      guard = createBearerGuard({ ...shared, issuer: 'http://localhost', store: cache })
      resources = resourcesOf(guard)
    })
    afterEach(async () => {
      for (const each of [...servers.map(({ oauth }) => oauth), guard]) await each.close()
    })

    const flows = () => [servers[0].flow, servers[1].flow] as const
    const revoke = () => servers[0].oauth.authorizations.revokeClient('photo-book')
    const statusOf = async (accessToken: string) => (await resources.photos(accessToken)).status
    const warm = (accessToken: string) => warmed(resources, cache, accessToken)

    test('gets no tokens from either server for what it had, at once', async () => {
      const [one, other] = flows()
      const tokens = [await one.tokens(photoBook), await other.tokens(photoBook)]
      const codes = [await one.approve(photoBook), await other.approve(photoBook)]
      clock.advance(2)
      await revoke()
      for (const flow of flows()) {
        for (const { refreshToken } of tokens)
          expect(outcomeOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
        for (const code of codes)
          expect(outcomeOf(await flow.redeem(photoBook, code))).toBe('400 invalid_grant')
      }
    })

    test('is refused by a guard with a cache within a second, and so is a code that races with the mark', async () => {
      const [, other] = flows()
      const { accessToken } = await other.tokens(photoBook)
      await warm(accessToken)
      // The other server has just looked at the client, and remembers that there is no mark.
      const code = await other.approve(photoBook)
      expect((await other.photos(accessToken)).status).toBe(200)
      await revoke()
      const raced = tokensOf(await other.redeem(photoBook, code))
      clock.advance(1)
      expect(await statusOf(accessToken)).toBe(401)
      expect((await other.photos(accessToken)).status).toBe(401)
      expect(await statusOf(raced.accessToken)).toBe(401)
      expect(outcomeOf(await other.refresh(photoBook, raced.refreshToken))).toBe('400 invalid_grant')
    })

    test('costs a guard with a cache no command for each request, and one read of the mark for each second', async () => {
      const [one] = flows()
      const { accessToken } = await one.tokens(photoBook)
      // Reports arrive in order: with the report of a later write, no earlier one is on its way.
      const written = await one.tokens(photoBook)
      const laterId = await warm(written.accessToken)
      await one.refresh(photoBook, written.refreshToken)
      await waitUntil('the later write is reported', async () => !recalls(cache, laterId))
      await warm(accessToken)
      const { sent } = await watched.during(async () => {
        for (let count = 0; count < 5; count++) expect(await statusOf(accessToken)).toBe(200)
      })
      expect(sent.filter((command) => command !== 'SET')).toEqual([])
      clock.advance(1)
      const later = await watched.during(async () => {
        for (let count = 0; count < 5; count++) expect(await statusOf(accessToken)).toBe(200)
      })
      // One for the record, one for the mark.
      expect(later.sent.filter((command) => command !== 'SET')).toEqual(['GET', 'GET'])
    })
  })
})
