import express from 'express'
import type { Redis } from 'ioredis'
import { createBearerGuard, type RedisStore, redisStore, type RemoteGuard } from '../../lib/index'
import { application } from '../support/flows/application'
import { photoBook } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { Flow } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { tokensOf } from '../support/flows/tokens'
import type { RedisServer } from '../support/redis-server'
import { watchCommands, type WatchedCommands } from '../support/reliability/watched-commands'
import { recalls } from '../support/stores/cached-records'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

describe('A client that another server has revoked', () => {
  let server: RedisServer
  let watched: WatchedCommands
  let redis: Redis
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

  let clock: Clock
  /** The server that revokes, and another one. */
  let [here, there]: ReturnType<typeof application>[] = []
  /** A resource server with a cache, in what could be another process. */
  let resources: Flow
  let cache: RedisStore
  let guard: RemoteGuard
  beforeEach(() => {
    const prefix = uniquePrefix()
    clock = new Clock()
    cache = redisStore({ url: server.url, prefix, clock: clock.read, cache: { maximum: 100 } })
    const open = () =>
      application({
        store: redisStore({ url: server.url, prefix, clock: clock.read }),
        clock: clock.read,
        storeDeadline: 10,
        authorizations: true,
      })
    here = open()
    there = open()
    const issuer = 'http://localhost'
    guard = createBearerGuard({
      issuer,
      store: cache,
      clock: clock.read,
      storeDeadline: 10,
      authorizations: true,
    })
    const app = express()
    app.get('/photos', guard('photos:read'), (request, response) => {
      response.json(request.oauth)
    })
    resources = new Flow(app)
  })
  afterEach(async () => {
    for (const each of [here?.oauth, there?.oauth, guard]) await each?.close()
  })

  const flows = () => [here?.flow, there?.flow].flatMap((flow) => flow ?? [])
  const revoke = async () => here?.oauth.authorizations.revokeClient('photo-book')
  const statusOf = async (accessToken: string) => (await resources.photos(accessToken)).status
  /** Uses the token until the cache of the resource server knows it. */
  async function warm(accessToken: string) {
    const { authorizationId } = (await resources.photos(accessToken)).body
    await waitUntil('it is cached', async () => {
      expect(await statusOf(accessToken)).toBe(200)
      return recalls(cache, authorizationId)
    })
  }

  test('gets no tokens from either server for what it had, at once', async () => {
    const [one, other] = flows()
    if (one === undefined || other === undefined) throw new Error('There are no two servers.')
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
    const [one, other] = flows()
    if (one === undefined || other === undefined) throw new Error('There are no two servers.')
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
    if (one === undefined) throw new Error('There is no server.')
    const { accessToken } = await one.tokens(photoBook)
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
