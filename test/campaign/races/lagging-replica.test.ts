import { redisStore, type AuthorizationStore } from '../../../lib/index'
import { application } from '../../support/flows/application'
import { photoPrint } from '../../support/flows/clients'
import type { Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { tokensOf } from '../../support/flows/tokens'
import { startReplicatedRedis, type ReplicatedRedis } from '../../support/redis-replicated'
import { but } from '../../support/stores/broken-stores'
import { uniquePrefix } from '../../support/stores/redis-under-test'
import { waitUntil } from '../../support/wait-until'

/** A request that ends an authorization, however often it is sent. */
type Ending = (flow: Flow) => Promise<(flow: Flow) => ReturnType<Flow['revoke']>>

const endings: Readonly<Record<string, Ending>> = {
  'a replayed code': async (flow) => {
    const code = await flow.approve(photoPrint)
    tokensOf(await flow.redeem(photoPrint, code))
    return (at) => at.redeem(photoPrint, code)
  },
  'a reused refresh token': async (flow) => {
    const { refreshToken } = await flow.tokens(photoPrint)
    tokensOf(await flow.refresh(photoPrint, refreshToken))
    return (at) => at.refresh(photoPrint, refreshToken)
  },
  'a revoked token': async (flow) => {
    const { accessToken } = await flow.tokens(photoPrint)
    return (at) => at.revoke(photoPrint, accessToken)
  },
}

/** Another process may have removed what is not there: a look leaves `WAIT` with nothing to wait for. */
const onlyLooking = (sound: AuthorizationStore): AuthorizationStore =>
  but(sound, { confirmAbsent: async (id) => (await sound.find(id)) === undefined })

const cases = Object.entries(endings)

describe('While no replica has the removal', () => {
  let redis: ReplicatedRedis
  const stores: { close(): Promise<void> }[] = []
  beforeAll(async () => {
    redis = await startReplicatedRedis()
  })
  afterAll(() => redis.stop())
  afterEach(async () => {
    await redis.replica.kill('SIGCONT')
    await Promise.all(stores.splice(0).map((store) => store.close()))
  })

  /** Three processes: two that are asked at once, and one that is asked only afterwards. */
  function processes(plant = (sound: AuthorizationStore) => sound): readonly [Flow, Flow, Flow] {
    const prefix = uniquePrefix()
    const one = () => {
      const waitForReplicas = { replicas: 1, within: 0.1 }
      const store = redisStore({ url: redis.master.url, prefix, waitForReplicas })
      stores.push(store)
      return application({ store: plant(store), storeDeadline: 10, lifetimes: { refreshTokenGrace: 0 } }).flow
    }
    return [one(), one(), one()]
  }

  /** What the same request is answered, raced at two processes and then sent to the third. */
  async function raced(ending: Ending, [one, other, late]: readonly [Flow, Flow, Flow]) {
    const present = await ending(one)
    await redis.replica.kill('SIGSTOP')
    const answers = await Promise.all([one, other, one, other].map(present))
    answers.push(await present(late))
    return { present, outcomes: answers.map((answer) => answer.body.error ?? outcomeOf(answer)) }
  }

  test.each(cases)(
    '%s is confirmed by no process before a replica has it, and by each afterwards',
    async (_what, ending) => {
      const all = processes()
      const { present, outcomes } = await raced(ending, all)
      expect(outcomes).toEqual(Array(5).fill('temporarily_unavailable'))
      await redis.replica.kill('SIGCONT')
      for (const flow of all) {
        let outcome = ''
        // On a busy machine, the replica may be late once more.
        await waitUntil('the replica acknowledges', async () => {
          const answer = await present(flow)
          outcome = outcomeOf(answer)
          return answer.body.error !== 'temporarily_unavailable'
        })
        expect(['400 invalid_grant', 'done']).toContain(outcome)
      }
    },
  )

  test.each(cases)('%s shows a store that only looks', async (_what, ending) => {
    const { outcomes } = await raced(ending, processes(onlyLooking))
    expect(outcomes).not.toEqual(Array(5).fill('temporarily_unavailable'))
  })
})
