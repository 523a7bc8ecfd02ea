import { randomInt } from 'node:crypto'
import { startDemo, type Demo } from '../../../demo/demo'
import { freePorts } from '../../support/clients/free-ports'
import { ResourceOwner } from '../../support/clients/resource-owner'
import { startRedis } from '../../support/redis-server'
import { waitUntil } from '../../support/wait-until'
import { startDemoProcess } from './demo-process'
import { storages } from './storages'

const running: (() => Promise<unknown>)[] = []
// The last first; a test that fails must not leave a program behind.
afterEach(async () => {
  for (const stop of running.splice(0).toReversed()) await stop()
})

function keep<Started>(started: Started, stop: (started: Started) => Promise<unknown>): Started {
  running.push(() => stop(started))
  return started
}

const demoWith = async (options: Parameters<typeof startDemo>[0]): Promise<Demo> =>
  keep(await startDemo(options), (demo) => demo.stop())
const redisAt = async (port?: number) =>
  keep(await startRedis({ own: true, ...(port === undefined ? {} : { port }) }), (redis) => redis.stop())

function post(url: string, form: Record<string, string>, cookie = ''): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: { cookie },
    redirect: 'manual',
  })
}

function cookieOf(response: Response): string {
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

/** Connects Photo Book from the first click to the guarded photos; the cookie shows them again. */
async function connect(demo: Demo): Promise<string> {
  const departure = await post(`${demo.client}/connect`, {})
  const cookie = cookieOf(departure)
  const owner = new ResourceOwner(demo)
  const callback = await owner.decide(departure.headers.get('location') ?? '')
  await fetch(callback, { headers: { cookie }, redirect: 'manual' })
  return cookie
}

async function photosOf(demo: Demo, cookie: string): Promise<number> {
  const page = await (await fetch(demo.client, { headers: { cookie } })).text()
  return page.split('<figure>').length - 1
}

async function isUp(demo: Demo): Promise<boolean> {
  const { authorizationServer, client, relyingParty, postcards, attackLab } = demo
  const pages = [authorizationServer, client, relyingParty, postcards, attackLab]
  return (await Promise.all(pages.map((page) => fetch(page)))).every(({ ok }) => ok)
}

async function expectWordsForAll(demo: Demo): Promise<void> {
  const { authorizationServer, client, relyingParty, postcards, attackLab, resourceServer } = demo
  for (const url of [
    authorizationServer,
    `${authorizationServer}/login`,
    `${authorizationServer}/authorize`,
    client,
    relyingParty,
    postcards,
    attackLab,
  ]) {
    const response = await fetch(url, { redirect: 'manual' })
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    const page = await response.text()
    expect(page).toContain('role="alert"')
    expect(page).not.toMatch(/Redis|Error|node_modules/)
  }
  const signIn = await post(`${authorizationServer}/login`, { ...demo.account })
  expect(signIn.status).toBe(503)
  const { client_id, client_secret } = demo.clients.nightlyReport
  const token = await post(`${authorizationServer}/token`, {
    grant_type: 'client_credentials',
    scope: 'photos:read',
    client_id,
    client_secret,
  })
  expect({ status: token.status, body: await token.json() }).toMatchObject({
    status: 400,
    body: { error: 'temporarily_unavailable' },
  })
  const credential = `at_${'A'.repeat(64)}`
  const photos = await fetch(`${resourceServer}/photos`, {
    headers: { authorization: `Bearer ${credential}` },
  })
  expect(photos.status).toBe(503)
}

test('the demo starts while Redis is away, works when it comes, says when it goes, and works again', async () => {
  jest.spyOn(console, 'error').mockReturnValue()
  const port = randomInt(11_000, 22_000)
  const demo = await demoWith({ ports: freePorts, redisUrl: `redis://127.0.0.1:${port}` })
  await waitUntil('its pages know that Redis is away', async () => {
    const response = await fetch(demo.authorizationServer)
    return response.status === 503
  })
  await expectWordsForAll(demo)

  const first = await redisAt(port)
  await waitUntil('the demo has found Redis', () => isUp(demo))
  const cookie = await connect(demo)
  expect(await photosOf(demo, cookie)).toBe(4)

  await first.kill('SIGKILL')
  await waitUntil('the demo has lost Redis', async () => !(await isUp(demo)))
  await expectWordsForAll(demo)

  await redisAt(port)
  await waitUntil('the demo has found Redis again', () => isUp(demo))
  // This Redis kept nothing: everybody signs in again.
  expect(await photosOf(demo, cookie)).toBe(0)
  expect(await photosOf(demo, await connect(demo))).toBe(4)

  expect(jest.mocked(console.error).mock.calls.map(([line]) => String(line).split(':', 2).join(':'))).toEqual(
    [
      `Redis at redis://127.0.0.1`,
      `Redis at redis://127.0.0.1`,
      `Redis at redis://127.0.0.1`,
      `Redis at redis://127.0.0.1`,
    ].map((line) => expect.stringContaining(line)),
  )
})

const guess = (at: string, username: string) => post(`${at}/login`, { username, password: 'guess' })

describe('limits', () => {
  test('hold over two processes, for one name and for one address, and the page says so', async () => {
    const redis = await redisAt()
    const environment = { PORT: '0', REDIS_URL: redis.url }
    const demos = await Promise.all([startDemoProcess(environment), startDemoProcess(environment)])
    const [one = '', other = ''] = demos.map(
      ({ printed }) => /Authorization server +(\S+)/.exec(printed)?.[1] ?? '',
    )

    for (const at of [one, other, one, other, one]) expect((await guess(at, 'ada')).status).toBe(200)
    for (const at of [one, other]) {
      const refused = await post(`${at}/login`, { username: 'ada', password: 'countess' })
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await refused.text()).toContain('Too many attempts. Wait a minute, then try again.')
    }
    // Another name has a count of its own, until the address has used up its own.
    const statuses: number[] = []
    for (let n = 0; n < 16; n++) statuses.push((await guess(n % 2 === 0 ? one : other, `name ${n}`)).status)
    expect(statuses).toEqual([...Array.from({ length: 15 }, () => 200), 429])

    await Promise.all(demos.map((demo) => demo.interrupt()))
  })

  test.each(storages)(
    'hold for all requests of one address, with %s, in words for clients',
    async (storage) => {
      const redis = storage === 'Redis' ? await redisAt() : undefined
      const demo = await demoWith({ ports: freePorts, redisUrl: redis?.url })
      await waitUntil('the demo is up', () => isUp(demo))
      const ask = () => fetch(`${demo.authorizationServer}/.well-known/oauth-authorization-server`)
      const statuses = await Promise.all(Array.from({ length: 300 }, async () => (await ask()).status))
      expect(new Set(statuses)).toEqual(new Set([200]))
      const refused = await ask()
      expect({ status: refused.status, body: await refused.json() }).toMatchObject({
        status: 429,
        body: { error: 'temporarily_unavailable' },
      })
    },
  )

  test('a sign-in that succeeds costs nothing of the limit', async () => {
    const redis = await redisAt()
    const demo = await demoWith({ ports: freePorts, redisUrl: redis.url })
    await waitUntil('the demo is up', () => isUp(demo))
    for (let n = 0; n < 8; n++)
      expect((await post(`${demo.authorizationServer}/login`, { ...demo.account })).status).toBe(303)
  })
})
