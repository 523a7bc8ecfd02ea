import { Redis } from 'ioredis'
import { redisStore, type RedisStore, type ReplicaWait } from '../../../lib/index'
import { extentOfRun } from '../../support/extent'
import { application } from '../../support/flows/application'
import { nightlyReport, photoPrint } from '../../support/flows/clients'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { tokensOf } from '../../support/flows/tokens'
import { startReplicatedRedis, type ReplicatedRedis } from '../../support/redis-replicated'
import { report, type Row } from '../../support/reliability/report'
import { uniquePrefix } from '../../support/stores/redis-under-test'
import { waitUntil } from '../../support/wait-until'
import { saveRecord, threeVersions } from '../../../lib/testing/example-records'
import { startFailover, type Failover } from './failover'

const waitForReplicas = { replicas: 1, within: 0.2 }
const [saves, parallel] = [1000, 50]
const rows: Row[] = []
afterAll(() => report('durability', 'npm run test:durability', rows))

const saw = (what: string, invariant: string, result: string, rounds = 1) =>
  rows.push({ case: what, rounds, invariant, result })

describe('A replica that lags is made master', () => {
  let failover: Failover
  afterEach(() => failover.stop())

  async function twoAuthorizations() {
    const { flow } = failover
    const [rotating, revoked] = [await flow.tokens(photoPrint), await flow.tokens(photoPrint)]
    await failover.replicated()
    await failover.leaveReplicaBehind()
    return { flow, rotating, revoked }
  }

  test('without waitForReplicas, what was acknowledged can be lost', async () => {
    failover = await startFailover(undefined)
    const { flow, rotating, revoked } = await twoAuthorizations()
    const rotated = tokensOf(await flow.refresh(photoPrint, rotating.refreshToken))
    expect(outcomeOf(await flow.revoke(photoPrint, revoked.accessToken))).toBe('done')
    expect((await flow.photos(rotated.accessToken)).status).toBe(200)
    expect((await flow.photos(revoked.accessToken)).status).toBe(401)
    await failover.failOver()
    // This is the risk, and no promise: the new token is unknown, and the revoked one is good again.
    expect((await flow.photos(rotated.accessToken)).status).toBe(401)
    expect((await flow.photos(revoked.accessToken)).status).toBe(200)
    expect(outcomeOf(await flow.refresh(photoPrint, rotating.refreshToken))).toBe('tokens')
    saw(
      'failover to a lagging replica, default',
      'nothing: it shows the risk',
      'an acknowledged rotation and a revocation were lost',
    )
  })

  test('with waitForReplicas nothing that was acknowledged is lost, and the rest was never acknowledged', async () => {
    failover = await startFailover(waitForReplicas)
    const { elsewhere } = failover
    const code = await failover.flow.approve(photoPrint)
    const replayed = tokensOf(await failover.flow.redeem(photoPrint, code))
    const outOfUse = await failover.flow.tokens(photoPrint)
    const next = tokensOf(await failover.flow.refresh(photoPrint, outOfUse.refreshToken))
    const reused = tokensOf(await failover.flow.refresh(photoPrint, next.refreshToken))
    const { flow, rotating, revoked } = await twoAuthorizations()
    const unavailable = { status: 400, body: { error: 'temporarily_unavailable' } }
    const replay = (at: Flow) => at.redeem(photoPrint, code)
    const reuse = (at: Flow) => at.refresh(photoPrint, outOfUse.refreshToken)
    // At a second process, too: it finds the first attempt on the master, and must not be told that all is well.
    for (const at of [flow, elsewhere]) {
      expect(await at.refresh(photoPrint, rotating.refreshToken)).toMatchObject(unavailable)
      expect((await at.revoke(photoPrint, revoked.accessToken)).body).toMatchObject(unavailable.body)
      expect(await replay(at)).toMatchObject(unavailable)
      expect(await reuse(at)).toMatchObject(unavailable)
    }
    await failover.failOver()
    // The new master has no replica yet: it serves what it knows, and promises nothing.
    for (const { accessToken } of [rotating, revoked, replayed, reused])
      expect((await flow.photos(accessToken)).status).toBe(200)
    expect(await flow.refresh(photoPrint, rotating.refreshToken)).toMatchObject(unavailable)
    await failover.addReplica()
    const rotated = tokensOf(await flow.refresh(photoPrint, rotating.refreshToken))
    expect((await flow.photos(rotated.accessToken)).status).toBe(200)
    expect(outcomeOf(await flow.revoke(photoPrint, revoked.accessToken))).toBe('done')
    for (const theft of [replay, reuse]) expect(outcomeOf(await theft(elsewhere))).toBe('400 invalid_grant')
    for (const { accessToken } of [revoked, replayed, reused])
      expect((await flow.photos(accessToken)).status).toBe(401)
    saw(
      'failover to a lagging replica, waitForReplicas',
      'nothing acknowledged is lost',
      'held: all were answered temporarily_unavailable, at a second process too, and succeeded once a replica was there',
    )
  })
})

describe('While too few replicas answer', () => {
  let redis: ReplicatedRedis
  let store: RedisStore
  beforeAll(async () => {
    redis = await startReplicatedRedis()
  })
  afterAll(() => redis.stop())
  beforeEach(() => {
    store = redisStore({ url: redis.master.url, prefix: uniquePrefix(), waitForReplicas })
  })
  afterEach(async () => {
    await redis.replica.kill('SIGCONT')
    await store.close()
  })

  const open = () => application({ store, storeDeadline: 5 }).flow

  async function replicaIsBack(): Promise<void> {
    await redis.replica.kill('SIGCONT')
    const [probe] = threeVersions()
    await waitUntil('the replica acknowledges', () =>
      saveRecord(store, probe).then(
        (saved) => saved,
        () => false,
      ),
    )
  }

  test('a client that refreshes again gets the answer that it missed, in the grace', async () => {
    const flow = open()
    const { refreshToken } = await flow.tokens(photoPrint)
    await redis.replica.kill('SIGSTOP')
    for (let attempt = 0; attempt < 3; attempt++)
      expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 temporarily_unavailable')
    await replicaIsBack()
    const first = tokensOf(await flow.refresh(photoPrint, refreshToken))
    expect(tokensOf(await flow.refresh(photoPrint, refreshToken))).toMatchObject({
      accessToken: first.accessToken,
      refreshToken: first.refreshToken,
    })
    saw('refresh while the replica is paused, repeated', 'one pair, once a replica has it', 'held', 4)
  })

  test('a code is spent though its client got nothing: the next attempt is a replay, and the owner is asked anew', async () => {
    const flow = open()
    const code = await flow.approve(photoPrint)
    await redis.replica.kill('SIGSTOP')
    expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('400 temporarily_unavailable')
    await replicaIsBack()
    expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
    await expect(flow.tokens(photoPrint)).resolves.toBeDefined()
    saw('code redeemed while the replica is paused', 'never two winners', 'held: the client begins again', 2)
  })

  test('a code is not spent where the server itself refuses writes, by min-replicas-to-write', async () => {
    const flow = open()
    const master = new Redis(redis.master.url)
    const code = await flow.approve(photoPrint)
    await master.config('SET', 'min-replicas-max-lag', '1')
    await master.config('SET', 'min-replicas-to-write', '1')
    try {
      await redis.replica.kill('SIGSTOP')
      const lags = async () => (await master.info()).includes('min_slaves_good_slaves:0')
      await waitUntil('the replica lags', lags)
      expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('400 temporarily_unavailable')
      await redis.replica.kill('SIGCONT')
      await waitUntil('the replica is back', async () => !(await lags()))
      expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('tokens')
      saw('the same, with min-replicas-to-write 1', 'the code is still good', 'held', 2)
    } finally {
      await master.config('SET', 'min-replicas-to-write', '0')
      master.disconnect()
    }
  })

  test('a client that revokes again gets 200 only when the removal is safe', async () => {
    const flow = open()
    const { accessToken } = await flow.tokens(photoPrint)
    await redis.replica.kill('SIGSTOP')
    for (let attempt = 0; attempt < 3; attempt++)
      expect((await flow.revoke(photoPrint, accessToken)).body.error).toBe('temporarily_unavailable')
    expect((await flow.photos(accessToken)).status).toBe(401)
    await replicaIsBack()
    expect(outcomeOf(await flow.revoke(photoPrint, accessToken))).toBe('done')
    saw('revocation while the replica is paused, repeated', 'no success before a replica has it', 'held', 4)
  })

  test('owner and client get an error for a write that is not safe; guards go on meanwhile', async () => {
    const flow = open()
    const { accessToken } = await flow.tokens(photoPrint)
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    await redis.replica.kill('SIGSTOP')
    const itself = { grant_type: 'client_credentials', scope: 'photos:read' }
    const writes = [flow.decide(page, 'approve', 'alice'), flow.request(nightlyReport, itself)]
    for (let reads = 0; reads < 20; reads++) expect((await flow.photos(accessToken)).status).toBe(200)
    expect((await Promise.all(writes)).map(outcomeOf)).toEqual([
      'redirect temporarily_unavailable',
      '400 temporarily_unavailable',
    ])
    saw('guards while writes wait', 'each is answered', 'held', 20)
  })
})

if (extentOfRun === 'long')
  describe('What waiting costs, on loopback', () => {
    let redis: ReplicatedRedis
    const stores: RedisStore[] = []
    beforeAll(async () => {
      redis = await startReplicatedRedis()
    })
    afterAll(async () => {
      await Promise.all(stores.map((store) => store.close()))
      await redis.stop()
    })

    const open = (wait?: ReplicaWait) => {
      const options = { url: redis.master.url, prefix: uniquePrefix() }
      const store = redisStore({ ...options, ...(wait && { waitForReplicas: wait }) })
      stores.push(store)
      return store
    }

    test.each([
      ['default', undefined],
      ['waitForReplicas', { replicas: 1, within: 1 }],
    ])('is measured, not judged: %s', async (name, wait) => {
      const store = open(wait)
      const times: number[] = []
      const one = async () => {
        const begun = performance.now()
        expect(await saveRecord(store, threeVersions()[0])).toBe(true)
        times.push(performance.now() - begun)
      }
      for (let warmUp = 0; warmUp < 10; warmUp++) await Promise.all(Array.from({ length: parallel }, one))
      times.length = 0
      for (let n = 0; n < saves; n++) await one()
      const sorted = times.toSorted((a, b) => a - b)
      const [median = 0, late = 0] = [sorted[saves / 2], sorted[(saves * 99) / 100]]
      saw(
        `one save after another, ${name}`,
        'measured, not judged',
        `median ${median.toFixed(2)} ms, 99% within ${late.toFixed(2)} ms`,
        saves,
      )
      const begun = performance.now()
      for (let n = 0; n < saves / parallel; n++) await Promise.all(Array.from({ length: parallel }, one))
      const rate = (saves * 1000) / (performance.now() - begun)
      saw(
        `${parallel} saves at a time over one connection, ${name}`,
        'measured, not judged',
        `${rate.toFixed(0)} a second`,
        saves,
      )
    })

    // Each of those that wait for a silent replica waits by itself, and in line.
    test('a silent replica costs each save its whole wait: measured, not judged', async () => {
      const store = open({ replicas: 1, within: 0.1 })
      await saveRecord(store, threeVersions()[0])
      await redis.replica.kill('SIGSTOP')
      try {
        const begun = performance.now()
        const outcomes = await Promise.allSettled(
          Array.from({ length: 10 }, () => saveRecord(store, threeVersions()[0])),
        )
        expect(outcomes.map(({ status }) => status)).toEqual(Array(10).fill('rejected'))
        const last = `the last was answered after ${((performance.now() - begun) / 1000).toFixed(1)} s`
        saw('10 saves at once, no replica answers within 0.1 s', 'measured, not judged', last, 10)
      } finally {
        await redis.replica.kill('SIGCONT')
      }
    })
  })
