import { createLocalJWKSet, errors, jwtVerify } from 'jose'
import { manageSigningKeys, memoryStore, signingKeys, jwtAccessTokens } from '../../../lib/index'
import { application, canonicalOptions } from '../../support/flows/application'
import { Clock } from '../../support/flows/clock'
import { keySecret, withJwts } from '../../support/flows/jwt-tokens'
import { job, mountResources, reportsApi } from '../../support/flows/resources'
import { WaitingKeys } from '../../support/stores/waiting-keys'

// Seconds, of tokens for this resource.
const lifetime = 60
const hour = 3600

/** Two processes of one issuer on a key store that really waits. */
function twoProcesses() {
  const clock = new Clock()
  const keyStore = new WaitingKeys()
  const inner = memoryStore({ clock: clock.read })
  const store = Object.assign(inner, { keys: keyStore })
  const processes = [0, 1].map(() => {
    const keys = signingKeys({ secrets: [keySecret], rotateAfter: hour })
    const plugIns = [keys, jwtAccessTokens({ keys })]
    return application(withJwts({ store, clock: clock.read, plugIns, storeDeadline: 30 }), {
      mount: mountResources,
    })
  })
  return { clock, keyStore, store, processes }
}

type Served = ReturnType<typeof application>

async function tokenOf({ flow }: Served): Promise<string> {
  const fields = { grant_type: 'client_credentials', scope: 'reports:write', resource: reportsApi }
  return (await flow.request(job, fields)).body.access_token
}

const keySetOf = async ({ flow }: Served) => (await flow.open('/.well-known/jwks.json')).body

/** A verifier elsewhere: keeps the keys for as long as Cache-Control says, and its clock differs. */
function verifier(source: () => Promise<Awaited<ReturnType<typeof keySetOf>>>, clock: Clock, skew: number) {
  let cached: { readonly keys: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined
  return async (token: string): Promise<void> => {
    const now = clock.read() / 1000
    if (cached === undefined || now - cached.at >= 600)
      cached = { keys: createLocalJWKSet(await source()), at: now }
    await jwtVerify(token, cached.keys, {
      currentDate: new Date((now + skew) * 1000),
      clockTolerance: Math.abs(skew),
      audience: reportsApi,
    })
  }
}

test('verifiers with caches and clocks of their own refuse no live token through three rotations', async () => {
  const { clock, processes } = twoProcesses()
  const [one, other] = processes
  if (one === undefined || other === undefined) throw new Error('Two processes run.')
  const verifiers = [-300, 0, 300].flatMap((skew, index) =>
    processes.map((served) => {
      // Each one began to cache at another time.
      const begin = clock.read() + index * 200_000
      return { begin, verify: verifier(() => keySetOf(served), clock, skew) }
    }),
  )
  const kids = new Set<string>()
  const live: { readonly token: string; readonly at: number }[] = []
  for (let step = 0; step < 4 * 60; step++) {
    clock.advance(60)
    const now = clock.read()
    for (const served of processes) live.push({ token: await tokenOf(served), at: now })
    const fresh = live.filter(({ at }) => now - at < lifetime * 1000)
    for (const { token } of fresh) {
      kids.add(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid)
      for (const { begin, verify } of verifiers) if (now >= begin) await verify(token)
    }
  }
  expect(kids.size).toBe(4)
  const { keys } = await keySetOf(one)
  expect(keys.length).toBeLessThanOrEqual(3)
})

test('a key that is gone verifies nothing more', async () => {
  const { clock, store, processes } = twoProcesses()
  const [one] = processes
  if (one === undefined) throw new Error('A process runs.')
  const token = await tokenOf(one)
  const management = manageSigningKeys({
    issuer: canonicalOptions.issuer,
    store,
    secrets: [keySecret],
    clock: clock.read,
  })
  const [{ kid } = { kid: '' }] = await management.list()
  await management.retire(kid)
  clock.advance(10)
  const keys = createLocalJWKSet(await keySetOf(one))
  await expect(jwtVerify(token, keys, { currentDate: new Date(clock.read()) })).rejects.toThrow(
    errors.JWKSNoMatchingKey,
  )
})

test('64 requests at once on two processes that have no key yet share one', async () => {
  const { processes, keyStore } = twoProcesses()
  const tokens = await Promise.all(
    Array.from({ length: 64 }, (_, index) => {
      const served = processes[index % 2]
      if (served === undefined) throw new Error('Two processes run.')
      return tokenOf(served)
    }),
  )
  const kids = tokens.map(
    (token) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid,
  )
  expect(new Set(kids).size).toBe(1)
  expect(keyStore.writes).toBe(1)
})
