import { extent } from '../../support/extent'
import { startRedis } from '../../support/redis-server'
import { fuzz, requestsOfFuzz, seedOfFuzz, type FuzzResult } from './fuzz'
import { planOfMemory } from './parties'
import { startFuzzServer } from './start-fuzz-server'

const seed = seedOfFuzz()
// The number of requests bounds a run, and each of them has a bound of its own: how long it all takes is up to the machine.
const unhurried = 30 * 60_000

/** What is wrong, with the seed that brings it again; empty when nothing is. */
function complaintsIn({ complaints }: FuzzResult): string {
  const messages = [...complaints].map(([complaint, story]) => `${complaint}\n${story}`)
  return messages.length === 0 ? '' : `FUZZ_SEED=${seed}\n\n${messages.join('\n\n')}`
}

test(
  `no request breaks the server, wins what it must not or leaves anything behind: seed ${seed} [input-17, input-18]`,
  async () => {
    const server = await startFuzzServer(planOfMemory)
    try {
      const requests = requestsOfFuzz(extent(500, 4000))
      const result = await fuzz(server, { seed, requests, timeMoves: true })
      expect(complaintsIn(result)).toBe('')
      // Else the requests were all too broken to try anything.
      expect(result.won).toBeGreaterThan(requests / 50)
      expect(result.statuses).toMatchObject({ 200: expect.any(Number), 303: expect.any(Number) })
    } finally {
      await server.stop()
    }
  },
  unhurried,
)

test(
  `nor on Redis: seed ${seed} [input-19]`,
  async () => {
    const redis = await startRedis()
    const server = await startFuzzServer({ ...planOfMemory, redis: { url: redis.url } })
    try {
      const result = await fuzz(server, {
        seed,
        requests: requestsOfFuzz(extent(150, 1000)),
        timeMoves: false,
      })
      expect(complaintsIn(result)).toBe('')
    } finally {
      await server.stop()
      await redis.stop()
    }
  },
  unhurried,
)
