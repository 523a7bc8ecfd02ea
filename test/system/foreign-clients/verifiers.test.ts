import { randomUUID } from 'node:crypto'
import { keySecret } from '../../support/flows/jwt-tokens'
import { printApi } from '../../support/flows/resources'
import { type IssuerStage, jobToken, kidOf, openIssuerStage } from '../../support/issuer/issuer-stage'
import type { RedisServer } from '../../support/redis-server'
import { startVerifiers, type Verifiers } from '../../support/verifiers/start-verifiers'
import { withRedis } from '../../support/with-redis'

const algorithms = ['ES256', 'RS256', 'EdDSA', 'PS256'] as const
type Algorithm = (typeof algorithms)[number]
/** Those whose tokens are in use while keys rotate. All of them are rotated, and all are verified. */
const inUse: readonly Algorithm[] = algorithms.slice(0, 2)

// Seconds.
const lifetime = 900
const step = 150
const ofKeys = '/.well-known/jwks.json'

let redis: RedisServer
withRedis(({ server }) => void (redis = server))

let stage: IssuerStage
let verifiers: Verifiers
/** Seconds for which caches may keep the keys. */
let maximumAge: number
/** When each verifier asked for the keys. */
const asked = new Map<string, number[]>()

function watch(path: string): void {
  const { pathname, searchParams } = new URL(path, 'http://dispatcher')
  if (pathname !== ofKeys) return
  const by = searchParams.get('by') ?? 'discovery'
  asked.set(by, [...(asked.get(by) ?? []), stage.now()])
}

beforeAll(async () => {
  const jwts = { secret: keySecret, algorithms, rotateAfter: 90 * 24 * 3600 }
  const store = { url: redis.url, prefix: `issuer:${randomUUID()}:` }
  stage = await openIssuerStage({ store, accessToken: lifetime, jwts }, [{}, {}], watch)
  const cacheControl = (await stage.flow.open(ofKeys)).get('Cache-Control') ?? ''
  maximumAge = Number(/^public, max-age=(\d+)$/.exec(cacheControl)?.[1])
  asked.clear()
  verifiers = await startVerifiers({
    issuer: stage.issuer,
    audience: printApi,
    jwksUri: `${stage.issuer}${ofKeys}`,
    maximumAge,
    tolerance: 5,
  })
})
afterAll(async () => {
  await verifiers.stop()
  await stage.stop()
})

const pathOf = (algorithm: Algorithm) => (algorithm === algorithms[0] ? '/token' : `/${algorithm}/token`)

/** Why verifiers refuse a token: each with its reason. */
async function refusalsOf(algorithm: Algorithm, token: string): Promise<readonly string[]> {
  const able = verifiers.all.filter((each) => each.algorithms.includes(algorithm))
  const refusals = able.map(async ({ name, refusalOf }) => {
    const refusal = await refusalOf(token)
    return refusal === undefined ? [] : [`${name} ${algorithm}: ${refusal}`]
  })
  return (await Promise.all(refusals)).flat()
}

async function advance(seconds: number): Promise<void> {
  // The verifiers first: a token is under way meanwhile, and none comes from the future.
  await verifiers.setAhead(stage.ahead() + seconds)
  await stage.advance(seconds)
}

/** Issues tokens, and lets every verifier see each new one, and the oldest one that lives. */
function load() {
  const refusals: string[] = []
  const kids = new Map<Algorithm, Set<string>>(inUse.map((name) => [name, new Set()]))
  const live = new Map<Algorithm, { token: string; endsAt: number }[]>(inUse.map((name) => [name, []]))
  const useOnce = async (algorithm: Algorithm) => {
    const endsAt = stage.now() + lifetime
    const token = await jobToken(stage.flow, pathOf(algorithm))
    // The process was killed meanwhile.
    if (token === undefined) return
    kids.get(algorithm)?.add(kidOf(token))
    const tokens = live.get(algorithm) ?? []
    tokens.push({ token, endsAt })
    // The time may move meanwhile.
    while (tokens[0] !== undefined && tokens[0].endsAt < stage.now() + 2 * step) tokens.shift()
    for (const each of new Set([token, tokens[0]?.token ?? token]))
      refusals.push(...(await refusalsOf(algorithm, each)))
  }
  return {
    refusals,
    kids,
    /** Uses each algorithm while something happens, but not more often than four times. */
    during: async (restart: Promise<void>) => {
      const act = { isOver: false }
      const end = restart.finally(() => (act.isOver = true))
      for (let round = 0; round < 4 && !act.isOver; round++) await Promise.all(inUse.map(useOnce))
      await end
    },
    /** Lets so many seconds pass, in steps, while each algorithm is used. */
    pass: async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += step) {
        await Promise.all([advance(step), ...inUse.map(useOnce)])
        await Promise.all(inUse.map(useOnce))
      }
    },
  }
}

test('verifiers of other authors refuse no live token while keys rotate and processes are killed', async () => {
  const { refusals, kids, during, pass } = load()
  await pass(step)
  const first = await stage.processes[0].keys()
  await stage.processes[0].rotate()
  // The successors are published, and wait.
  await during(stage.restart(0))
  await pass(900)
  // They sign.
  await during(stage.restart(1))
  await pass(lifetime + 300)
  // The former keys have ended.
  await during(stage.restart(0))
  expect(refusals).toEqual([])
  expect([...kids.values()].map(({ size }) => size)).toEqual([2, 2])
  const published: { kid: string }[] = (await stage.flow.open(ofKeys)).body.keys
  expect(published).toHaveLength(algorithms.length)
  for (const { kid } of first) expect(published).not.toContainEqual(expect.objectContaining({ kid }))
  expect([...asked.keys()].toSorted()).toEqual(['PyJWT', 'discovery', 'jose', 'passport-jwt'])
  // They came back when their cache had ended, and never earlier because they met an unknown key.
  for (const by of ['PyJWT', 'jose']) {
    const times = asked.get(by) ?? []
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0))
    expect([by, Math.min(...pauses) >= maximumAge - step]).toEqual([by, true])
  }
})

test('verifiers of other authors refuse the tokens of retired keys when their caches have ended', async () => {
  const issue = async () =>
    Promise.all(
      algorithms.map(async (algorithm) => {
        const token = await jobToken(stage.flow, pathOf(algorithm))
        return { algorithm, token: token ?? '' }
      }),
    )
  const refusalsOfAll = async (tokens: Awaited<ReturnType<typeof issue>>) =>
    (await Promise.all(tokens.map(({ algorithm, token }) => refusalsOf(algorithm, token)))).flat()
  const leaked = await issue()
  expect(await refusalsOfAll(leaked)).toEqual([])
  for (const { token } of leaked) await stage.processes[0].retire(kidOf(token))
  await advance(10)
  for (const { flow } of stage.processes)
    for (const { token } of leaked)
      for (const path of ['/api/print', '/signed']) {
        const { status } = await flow.open(path, undefined, { Authorization: `Bearer ${token}` })
        expect([path, status]).toEqual([path, 401])
      }
  await advance(maximumAge)
  const pairs = verifiers.all.flatMap((each) => each.algorithms.map((name) => `${each.name} ${name}`))
  const refused = (await refusalsOfAll(leaked)).map((text) => text.split(':')[0] ?? '')
  expect(refused.toSorted()).toEqual(pairs.toSorted())
  expect(await refusalsOfAll(await issue())).toEqual([])
})
