import express from 'express'
import { randomUUID } from 'node:crypto'
import { createBearerGuard } from '../../../lib/paths/guards'
import { redisStore } from '../../../lib/paths/redis'
import { application, mountAll } from '../../support/flows/application'
import { nightlyReport, photoBook } from '../../support/flows/clients'
import { Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { startServer } from '../../support/flows/start-server'
import { tokensOf } from '../../support/flows/tokens'
import { type RedisServer, startRedis } from '../../support/redis-server'
import { waitUntil } from '../../support/wait-until'

describe('A process that stands still', () => {
  const stands = new Int32Array(new SharedArrayBuffer(4))
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  // Both deadlines of a store by `url` are over when it wakes: those of the calls, and those of the commands.
  test.each([700, 2500])('for %d ms answers as soon as it wakes', async (milliseconds) => {
    const store = redisStore({ url: redis.url, prefix: `still:${randomUUID()}:` })
    let block = () => {}
    const { flow, oauth } = application(
      { store },
      {
        mount: (app, mounted) => {
          app.use((_request, _response, next) => {
            next()
            setImmediate(block)
          })
          mountAll(app, mounted)
        },
      },
    )
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    block = () => void Atomics.wait(stands, 0, 0, milliseconds)
    const statuses = [
      (await flow.photos(accessToken)).status,
      (await flow.refresh(photoBook, refreshToken)).status,
    ]
    await oauth.close()
    expect(statuses).toEqual([200, 200])
  })
})

describe('redis late', () => {
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
  const someToken = `at_${'A'.repeat(65)}`

  /** A port at which nothing listens, and where a Redis may be started later. */
  async function emptyPort(): Promise<number> {
    const redis = await startRedis({ own: true })
    await redis.stop()
    return redis.port
  }

  function guardedBy(guard: ReturnType<typeof createBearerGuard>): Flow {
    return new Flow(
      express().get('/photos', guard(), (request, response) => void response.json(request.oauth)),
    )
  }

  describe('A server that starts before its Redis', () => {
    let redis: RedisServer | undefined
    afterEach(() => redis?.stop())

    test('is not killed by an unhandled rejection', async () => {
      const port = await emptyPort()
      const store = { url: `redis://127.0.0.1:${port}`, prefix: `late:${randomUUID()}:` }
      const server = await startServer({ store, storeDeadline: 2 })
      const { flow } = server
      expect(outcomeOf(await flow.photos(someToken))).toBe('503 temporarily_unavailable')
      redis = await startRedis({ own: true, port })
      await waitUntil('it answers', async () => (await flow.photos(someToken)).status === 401)
      expect((await flow.tokens(photoBook)).scope).toBe(photoBook.registration.scope)
      await server.kill()
    })

    test('closes without it, too', async () => {
      const store = redisStore({ url: `redis://127.0.0.1:${await emptyPort()}` })
      const { oauth, flow } = application({ store })
      await oauth.close()
      expect(outcomeOf(await flow.request(nightlyReport, grant))).toBe('400 temporarily_unavailable')
      await expect(store.read('authorization:a')).rejects.toThrow('Connection is closed')
    })
  })

  describe('Closing on Redis', () => {
    let redis: RedisServer
    beforeEach(async () => {
      redis = await startRedis({ own: true })
    })
    afterEach(() => redis.stop())

    test('ends the connection of a store that server and guard share with the last of them', async () => {
      const store = redisStore({ url: redis.url })
      const { flow, oauth } = application({ store })
      const guard = createBearerGuard({ issuer: 'http://localhost', store })
      const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
      await oauth.close()
      expect((await guardedBy(guard).photos(accessToken)).status).toBe(200)
      await guard.close()
      await expect(store.read('authorization:a')).rejects.toThrow('Connection is closed')
    })
  })
})
