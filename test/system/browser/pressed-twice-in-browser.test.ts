import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { type EagerClient, startEagerClient } from '../../support/browser/eager-client'
import { pressTwice } from './press-twice'
import { startSlowLine } from './slow-line'
import { launchChromium } from '../../support/chromium'
import { bent, photoBook } from '../../support/flows/clients'
import { authorizationRequest, formOf } from '../../support/flows/flow'
import { type ServerProcess, startServer } from '../../support/flows/start-server'
import { type RedisServer, startRedis } from '../../support/redis-server'

let browser: Browser
let redis: RedisServer
let parties: Parties
/** Milliseconds to each side. */
const latency = 600
const stops: (() => Promise<void>)[] = []
beforeAll(async () => {
  browser = await launchChromium()
  redis = await startRedis()
  parties = await start()
})
afterAll(async () => {
  await browser.close()
  await Promise.all(stops.map((stop) => stop()))
  await redis.stop()
})

interface Parties {
  readonly servers: readonly ServerProcess[]
  readonly client: EagerClient
  /** What the owner opens, with a `state` of its own. */
  readonly request: (state: string) => string
}

/** Two processes behind one slow line, and a client behind another that redeems over the first. */
async function start(): Promise<Parties> {
  const known = { client: '', tokenEndpoint: '' }
  const client = await startEagerClient(() => known)
  const toClient = await startSlowLine([`http://127.0.0.1:${client.port}`], () => latency)
  known.client = `http://127.0.0.1:${toClient.port}`
  const registered = bent(photoBook, { redirect_uris: [`${known.client}/callback`] })
  const plan = {
    store: { url: redis.url, prefix: `browser:${randomUUID()}:` },
    clients: [registered.registration],
  }
  const servers = await Promise.all([startServer(plan), startServer(plan)])
  const toServers = await startSlowLine(
    servers.map(({ url }) => url),
    () => latency,
  )
  const origin = `http://127.0.0.1:${toServers.port}`
  known.tokenEndpoint = `${origin}/token`
  stops.push(client.stop, toClient.stop, toServers.stop, ...servers.map((server) => () => server.kill()))
  const asked = authorizationRequest(registered)
  return { servers, client, request: (state) => `${origin}/authorize?${formOf({ ...asked, state })}` }
}

const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 800 } }
const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
}

/** Where the owner ends who presses a button twice, and follows the one link of a page that says it is done. */
async function endOf(
  state: string,
  name: string,
  device: BrowserContextOptions,
  style = '',
): Promise<string> {
  const owner = { extraHTTPHeaders: { 'X-Owner': `owner of ${state}` } }
  const context = await browser.newContext({ ...device, ...owner, bypassCSP: style !== '' })
  try {
    const page = await context.newPage()
    await page.goto(parties.request(state))
    if (style !== '') await page.addStyleTag({ content: style })
    await pressTwice(page, name, device.hasTouch === true)
    const heading = page.getByRole('heading', { level: 1, name: /onnected|Refused|already|cannot/ })
    const end = await heading.innerText()
    if (end !== 'You allowed access already') return end
    await page.locator('.actions a').click()
    return await page.getByRole('heading', { name: 'At home' }).innerText()
  } finally {
    await context.close()
  }
}

// The page of the suite takes a second press of a mouse for none; pages of hosts do not, and fingers are not stopped.
const withoutShield = '.actions::after { content: none }'

/** Where four owners end who press twice, and what the client redeemed for each; nothing is left of other trials. */
async function tryAll() {
  const trial = randomUUID()
  const owners = ['desktop', 'desktop with a page of the host', 'phone', 'denied'].map(
    (owner) => `${owner} of ${trial}`,
  )
  const [atDesktop = '', atPageOfHost = '', onPhone = '', denied = ''] = owners
  const ends = await Promise.all([
    endOf(atDesktop, 'Allow', desktop),
    endOf(atPageOfHost, 'Allow', desktop, withoutShield),
    endOf(onPhone, 'Allow', phone),
    endOf(denied, 'Cancel', phone),
  ])
  return { ends, redeemed: owners.map((state) => parties.client.redeemed(state)) }
}

type Trial = Awaited<ReturnType<typeof tryAll>>

const slowest = ({ redeemed }: Trial): number =>
  Math.max(...redeemed.flat().map(({ milliseconds }) => milliseconds))

test('In Chromium an owner who presses Allow twice ends at the client, whose tokens work, over slow lines', async () => {
  let trial = await tryAll()
  // The server waits one second for a redemption that is on its way. When the machine stood still, it could not know.
  while (slowest(trial) > 2 * latency + 500) trial = await tryAll()
  const { ends, redeemed } = trial
  const allowed = expect.stringMatching(/^(Connected|At home)$/)
  expect(ends).toEqual(['Connected', allowed, allowed, 'Refused: access_denied'])
  expect(redeemed.map((each) => each.map(({ status }) => status))).toEqual([[200], [200], [200], []])
  for (const [{ accessToken = '' } = {}] of redeemed.slice(0, 3))
    for (const { flow } of parties.servers) expect((await flow.photos(accessToken)).status).toBe(200)
})
