import { setTimeout } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { redisStore, type RedisStore } from '../../lib/index'
import { connectionSettings } from '../../lib/stores/redis/connection'
import { Creations } from '../../lib/stores/redis/writes'
import { type FaultyNetwork, startFaultyNetwork } from '../support/faulty-network'
import { application } from '../support/flows/application'
import { bent, everyClient, nightlyReport, photoPrint } from '../support/flows/clients'
import { authorizationRequest, type Flow } from '../support/flows/flow'
import { codeOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'
import { findRecord, saveRecord, threeVersions } from '../../lib/testing/example-records'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

const patience = 2000
const hour = 3_600_000
const keys = ['record', 'mark'] as const

/** A Redis with one key, as its script sees it, whose clock and the stopwatch of the process have nothing in common. */
function stage() {
  const at = { stopwatch: 5, redis: 1.7e12 }
  const deadlines: number[] = []
  let stored: string | undefined
  const run = async (_script: unknown, _keys: unknown, ...words: string[]): Promise<number> => {
    const [revision, , , deadline] = words
    deadlines.push(Number(deadline))
    if (stored !== undefined && stored !== revision) return 0
    if (stored === undefined && at.redis > Number(deadline)) return -at.redis
    stored = revision
    return at.redis
  }
  const creations = new Creations({ run, patience, stopwatch: () => at.stopwatch })
  const create = async (revision = 'a') => creations.create(keys, revision, '[]', '1000')
  const remove = () => void (stored = undefined)
  return { at, deadlines, create, remove, creations }
}

describe('A create', () => {
  it('asks Redis for its time once, and takes its deadline from each reply after it', async () => {
    const { at, deadlines, create, remove } = stage()
    expect(await create()).toBe(1)
    remove()
    at.stopwatch += 50
    at.redis += 50
    expect(await create()).toBe(1)
    expect(deadlines).toEqual([0, 1.7e12 + patience, 1.7e12 + 50 + patience])
  })

  it.each([hour, -hour, 10 * patience, -10 * patience])(
    'is done although the clock of Redis was set by %i ms, and knows that from then on',
    async (step) => {
      const { at, deadlines, create, remove } = stage()
      await create()
      at.redis += step
      for (let round = 0; round < 2; round++) {
        remove()
        expect(await create()).toBe(1)
      }
      expect(deadlines.at(-1)).toBe(1.7e12 + step + patience)
    },
  )

  it('finds itself, whenever it is sent again, and another writer', async () => {
    const { create } = stage()
    expect(await create('a')).toBe(1)
    expect(await create('a')).toBe(1)
    expect(await create('b')).toBe(0)
  })

  it('that reached Redis too late rejects, and is not sent again', async () => {
    let now = 0
    let sent = 0
    const run = async (): Promise<number> => {
      sent += 1
      now += patience
      return -1.7e12
    }
    const creations = new Creations({ run, patience, stopwatch: () => now })
    await expect(creations.create(keys, 'a', '[]', '1000')).rejects.toThrow('reached Redis too late')
    expect(sent).toBe(1)
  })
})

describe('On Redis, a create', () => {
  let redis: Redis
  withRedis(({ client }) => void (redis = client))

  /** A store whose creates have a deadline that is so much later: its process knows a wrong time of Redis. */
  const storeAhead = (milliseconds: number): RedisStore => {
    const call = (command: string, ...words: string[]) => {
      const deadline = Number(words.at(-1))
      const isCreate = words.some((word) => word.startsWith('[')) && deadline > 0
      const sent = isCreate ? [...words.slice(0, -1), String(deadline + milliseconds)] : words
      return redis.call(command, ...sent)
    }
    return redisStore({ client: { call }, prefix: uniquePrefix() })
  }

  it('is void if its deadline is later than the mark of a removal would live', async () => {
    const [first] = threeVersions()
    const store = storeAhead(hour)
    await expect(saveRecord(store, first)).rejects.toThrow('too late')
    expect(await findRecord(store, first)).toBeUndefined()
    expect(await saveRecord(storeAhead(0), first)).toBe(true)
  })
})

const skipConsent = () => true
const clients = everyClient.map(
  (client) => (client === photoPrint ? bent(client, { may_introspect: true }) : client).registration,
)

describe('A write that arrives once more, after its record was removed, brings nothing back:', () => {
  let port = 0
  withRedis(({ server }) => void (port = server.port))
  let network: FaultyNetwork
  let store: RedisStore
  let flow: Flow
  beforeEach(async () => {
    network = await startFaultyNetwork(port)
    store = redisStore({ url: network.url, prefix: uniquePrefix() })
    ;({ flow } = application({ clients, store, storeDeadline: 10, skipConsent }))
    network.copyWrites(true)
  })
  afterEach(async () => {
    await store.close()
    await network.stop()
  })

  /** As a box on the way may deliver them, when the wait for the first copy is over for long. */
  async function copiesArrive(): Promise<void> {
    await setTimeout(connectionSettings.commandTimeout + 100)
    expect(await network.deliverCopies()).toBeGreaterThan(0)
  }

  it('a token of client credentials that was revoked', async () => {
    const itself = { grant_type: 'client_credentials', scope: 'photos:read' }
    const issued = await flow.request(nightlyReport, itself)
    const accessToken = String(issued.body.access_token)
    expect((await flow.photos(accessToken)).status).toBe(200)
    await flow.revoke(nightlyReport, accessToken)
    await copiesArrive()
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  it('a code that was replayed, and its tokens', async () => {
    const code = codeOf(await flow.ask(authorizationRequest(photoPrint), 'bob'))
    const { accessToken, refreshToken } = tokensOf(await flow.redeem(photoPrint, code))
    expect((await flow.redeem(photoPrint, code)).status).toBe(400)
    await copiesArrive()
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await flow.refresh(photoPrint, refreshToken)).status).toBe(400)
    expect((await flow.redeem(photoPrint, code)).status).toBe(400)
  })
})
