import { randomUUID } from 'node:crypto'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { keySecret } from '../../support/flows/jwt-tokens'
import { printApi } from '../../support/flows/resources'
import { type IssuerStage, jobToken, kidOf, openIssuerStage } from '../../support/issuer/issuer-stage'
import { type KillingProxy, startKillingProxy } from './killing-proxy'
import type { IssuerProcess } from '../../support/issuer/start-issuer'
import type { RedisServer } from '../../support/redis-server'
import { withRedis } from '../../support/with-redis'

const algorithms = ['ES256', 'RS256'] as const
const paths = ['/token', '/RS256/token']
// Seconds.
const rotateAfter = 7200
const lifetime = 1200

let redis: RedisServer
withRedis(({ server }) => void (redis = server))

let proxy: KillingProxy
let stage: IssuerStage

/** Two processes, of which the first one reaches Redis by a way on which it dies. */
beforeAll(async () => {
  proxy = await startKillingProxy(redis.port)
  const jwts = { secret: keySecret, algorithms, rotateAfter }
  const prefix = `issuer:${randomUUID()}:`
  const plan = { store: { url: redis.url, prefix }, accessToken: lifetime, jwts }
  stage = await openIssuerStage(plan, [{ store: { url: proxy.url, prefix } }, {}])
})
afterAll(async () => {
  await stage.stop()
  await proxy.stop()
})

/** Tokens that live, with their ends. */
let live: { readonly token: string; readonly endsAt: number }[] = []
/** The keys that an operator has begun to retire. */
const leaked = new Set<string>()

/** A token of each algorithm from a process, which may be killed meanwhile. */
async function issue({ flow }: IssuerProcess): Promise<readonly string[]> {
  const endsAt = stage.now() + lifetime
  const answers = await Promise.allSettled(paths.map((path) => jobToken(flow, path)))
  const tokens = answers.flatMap((answer) => (answer.status === 'fulfilled' ? (answer.value ?? []) : []))
  live.push(...tokens.map((token) => ({ token, endsAt })))
  return tokens
}

const acts = {
  /** Both processes find at once that a rotation is due. */
  due: async () => {},
  rotate: async () => void (await stage.processes[0].rotate()),
  async retire() {
    const signing = (await stage.processes[1].keys()).filter(({ signs }) => signs)
    const { kid } = signing[leaked.size % signing.length] ?? { kid: '' }
    leaked.add(kid)
    await stage.processes[0].retire(kid)
  },
}

/** Kills the first process at a step of an act, under requests. @returns whether it came so far. */
async function killDuring(act: keyof typeof acts, step: number): Promise<boolean> {
  const [doomed, other] = stage.processes
  await stage.advance(act === 'due' ? rotateAfter : 30)
  proxy.killAt(step, () => void doomed.kill())
  await Promise.allSettled([acts[act](), issue(doomed), issue(other)])
  await issue(other)
  const wasKilled = !doomed.isAlive()
  proxy.killAt(Infinity, () => {})
  await stage.restart(0)
  return wasKilled
}

const publishedBy = async ({ flow }: IssuerProcess) => (await flow.open('/.well-known/jwks.json')).body
const kidsOf = ({ keys }: { readonly keys: readonly { readonly kid: string }[] }) =>
  keys.map(({ kid }) => kid).toSorted()

/** One key signs for each algorithm, at most one waits to sign, both processes agree, and every live token is good unless its key was retired. */
async function expectAgreement(): Promise<void> {
  const [one, other] = await Promise.all(stage.processes.map(publishedBy))
  expect(kidsOf(one)).toEqual(kidsOf(other))
  const keys = await stage.processes[1].keys()
  const signers = keys.filter(({ signs }) => signs)
  expect(signers.map(({ algorithm }) => algorithm).toSorted()).toEqual(algorithms)
  const waiting = keys.filter(({ signsFrom }) => signsFrom > stage.now()).map(({ algorithm }) => algorithm)
  expect(waiting).toHaveLength(new Set(waiting).size)
  for (const each of stage.processes) {
    const kids = (await issue(each)).map(kidOf)
    expect(kids.toSorted()).toEqual(signers.map(({ kid }) => kid).toSorted())
  }
  live = live.filter(({ endsAt }) => endsAt > stage.now() + 60)
  for (const { token } of live) {
    const isRetired = leaked.has(kidOf(token)) && !keys.some(({ kid }) => kid === kidOf(token))
    expect([...(await verdictsOn(token, [one, other]))]).toEqual([isRetired ? 'refused' : 'good'])
  }
}

/** What both published sets, and both guards of both processes, say of a token. */
async function verdictsOn(token: string, published: readonly Awaited<ReturnType<typeof publishedBy>>[]) {
  const currentDate = new Date(stage.now() * 1000)
  const terms = { issuer: stage.issuer, audience: printApi, currentDate, clockTolerance: 5 }
  const verified = published.map((set) =>
    jwtVerify(token, createLocalJWKSet(set), terms).then(
      () => 'good',
      () => 'refused',
    ),
  )
  const guarded = stage.processes.flatMap(({ flow }) =>
    ['/api/print', '/signed'].map(async (path) => {
      const { status } = await flow.open(path, undefined, { Authorization: `Bearer ${token}` })
      return status === 200 ? 'good' : status === 401 ? 'refused' : `status ${status}`
    }),
  )
  return new Set(await Promise.all([...verified, ...guarded]))
}

test('a process that is killed between any two steps of a rotation or a retirement leaves the others in agreement', async () => {
  for (const [act, step] of [
    ['due', 1],
    ['rotate', 4],
    ['retire', 3],
  ] as const) {
    expect([act, step, await killDuring(act, step)]).toEqual([act, step, true])
    await stage.advance(10)
    await expectAgreement()
    await stage.advance(900)
    await expectAgreement()
  }
}, 300_000)
