import { randomUUID } from 'node:crypto'
import type { Response } from 'supertest'
import type { Flow } from '../../support/flows/flow'
import { keySecret } from '../../support/flows/jwt-tokens'
import { gallery, job, photosApi } from '../../support/flows/resources'
import type { IssuerPlan, JwtPlan } from '../../support/issuer/issuer-process'
import { type IssuerStage, openIssuerStage } from '../../support/issuer/issuer-stage'
import type { RedisServer } from '../../support/redis-server'
import { withRedis } from '../../support/with-redis'

const day = 24 * 3600
// Seconds.
const lifetime = 600
const jwts: JwtPlan = { secret: keySecret, algorithms: ['ES256'], rotateAfter: 90 * day, issues: true }
/** The versions of the guide: without the plug-ins, with them to accept JWTs, and with them to issue JWTs. */
const former: Partial<IssuerPlan> = { jwts: undefined }
const accepting: Partial<IssuerPlan> = { jwts: { ...jwts, issues: false } }
const issuing: Partial<IssuerPlan> = { jwts }

let redis: RedisServer
withRedis(({ server }) => void (redis = server))

let stage: IssuerStage
let uses = 0
/** Tokens of each step, which must be good at every process until they end. */
let kept: { readonly token: string; readonly endsAt: number }[] = []

beforeAll(async () => {
  const store = { url: redis.url, prefix: `issuer:${randomUUID()}:` }
  stage = await openIssuerStage({ store, accessToken: lifetime })
})
afterAll(() => stage.stop())

const call = ({ flow }: { readonly flow: Flow }, token: string) =>
  flow.open('/api/photos', undefined, { Authorization: `Bearer ${token}` })
const formOf = (token: string) => (token.startsWith('at_') ? 'opaque' : 'JWT')

function tokensIn({ status, body, text }: Response) {
  if (status !== 200) throw new Error(`No tokens came: ${status} ${text}`)
  return { token: String(body.access_token), refreshToken: String(body.refresh_token) }
}

async function logIn({ flow }: { readonly flow: Flow }) {
  const code = await flow.approve(gallery, { scope: 'photos:read', resource: photosApi })
  return tokensIn(await flow.redeem(gallery, code))
}

/** A guard takes a token, and introspection finds it active. */
async function expectGood(party: { readonly flow: Flow }, token: string): Promise<void> {
  expect([token, (await call(party, token)).status]).toEqual([token, 200])
  expect((await party.flow.introspect(job, token)).body).toMatchObject({ active: true })
}

async function expectEnded(token: string): Promise<void> {
  for (const each of stage.processes) {
    expect((await call(each, token)).status).toBe(401)
    expect((await each.flow.introspect(job, token)).body).toEqual({ active: false })
  }
}

/** What a client does all day, at whichever process the dispatcher finds. */
async function useOnce(): Promise<void> {
  const first = await logIn(stage)
  const second = tokensIn(await stage.flow.refresh(gallery, first.refreshToken))
  const again = tokensIn(await stage.flow.refresh(gallery, first.refreshToken))
  uses += 1
  const earlier = kept[uses % kept.length]?.token ?? first.token
  for (const token of [first.token, second.token, again.token, earlier]) await expectGood(stage, token)
}

/** Puts another version in the place of a process under load. Then every kept token must be good at both processes. */
async function deploy(index: 0 | 1, version: Partial<IssuerPlan>): Promise<void> {
  const act = { isOver: false }
  const deployed = stage.deploy(index, version).finally(() => (act.isOver = true))
  const work = async () => {
    for (let round = 0; round < 3 && !act.isOver; round++) await useOnce()
  }
  await Promise.all([deployed, work()])
  await useOnce()
  for (const each of stage.processes) {
    const endsAt = stage.now() + lifetime
    kept.push({ token: (await logIn(each)).token, endsAt })
  }
  await expectKeptGood()
}

const expectKeptGood = () =>
  Promise.all(kept.flatMap(({ token }) => stage.processes.map((each) => expectGood(each, token))))

const formsKept = () => kept.slice(-2).map(({ token }) => formOf(token))

/** Each of two processes repeats what the other one has answered. */
async function expectSameRepetition(): Promise<void> {
  for (const [one, other] of [stage.processes, stage.processes.toReversed()]) {
    if (one === undefined || other === undefined) throw new Error('Two processes run.')
    const { refreshToken } = await logIn(one)
    const first = tokensIn(await one.flow.refresh(gallery, refreshToken))
    const again = tokensIn(await other.flow.refresh(gallery, refreshToken))
    expect([formOf(again.token), again.refreshToken]).toEqual([formOf(first.token), first.refreshToken])
    for (const { token } of [first, again]) for (const each of stage.processes) await expectGood(each, token)
  }
}

/** Tokens are good a minute before their end, and ended at it. */
async function expectKeptUntilTheirEnd(): Promise<void> {
  const last = Math.max(...kept.map(({ endsAt }) => endsAt))
  await stage.advance(Math.min(...kept.map(({ endsAt }) => endsAt)) - stage.now() - 60)
  await expectKeptGood()
  await stage.advance(last - stage.now() + 60)
  for (const { token } of kept) await expectEnded(token)
  kept = []
}

test('two processes go from opaque tokens to JWTs and back under load, and no process refuses a live token', async () => {
  const old = await logIn(stage)
  await deploy(0, accepting)
  await deploy(1, accepting)
  expect(formsKept()).toEqual(['opaque', 'opaque'])
  await deploy(0, issuing)
  expect(formsKept()).toEqual(['JWT', 'opaque'])
  await expectSameRepetition()
  await deploy(1, issuing)
  expect(formsKept()).toEqual(['JWT', 'JWT'])
  await expectKeptUntilTheirEnd()

  // A grant of the former version lives on, and comes back with a grant of this one.
  const renewed = tokensIn(await stage.flow.refresh(gallery, old.refreshToken))
  expect(formOf(renewed.token)).toBe('JWT')
  await deploy(0, accepting)
  expect(formsKept()).toEqual(['opaque', 'JWT'])
  await expectSameRepetition()
  await deploy(1, accepting)
  expect(formsKept()).toEqual(['opaque', 'opaque'])
  await expectKeptUntilTheirEnd()
  await deploy(0, former)
  await deploy(1, former)
  const back = tokensIn(await stage.flow.refresh(gallery, renewed.refreshToken))
  expect(formOf(back.token)).toBe('opaque')
  for (const each of stage.processes) await expectGood(each, back.token)
}, 300_000)
