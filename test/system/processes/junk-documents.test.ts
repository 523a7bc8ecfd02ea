import { randomUUID } from 'node:crypto'
import type { Response } from 'supertest'
import { claimsAt, jwt, signer } from '../../support/assertions/jwt'
import type { ClientApplication } from '../../support/flows/clients'
import { authorizationRequest, formOf } from '../../support/flows/flow'
import type { ServerPlan } from '../../support/flows/server-process'
import { startServer, type ServerProcess } from '../../support/flows/start-server'
import { tokensOf } from '../../support/flows/tokens'
import { startRedis, type RedisServer } from '../../support/redis-server'
import { startDocumentHosts } from '../../support/start-document-hosts'
import { waitUntil } from '../../support/wait-until'

/** How many requests come from how many networks, and how many clients of each kind stand among them. */
const requests = 600
const networks = 50
const samples = 8
const megabytes = 1e6
// Seconds: the documents have expired at the processes that begin later.
const ahead = 61

const own = signer('', 'own')
const jwks = { keys: [own.jwk] }
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, at) => make(at))

let redis: RedisServer
let hosts: Awaited<ReturnType<typeof startDocumentHosts>>
const servers: ServerProcess[] = []
beforeAll(async () => {
  redis = await startRedis({ own: true })
  hosts = await startDocumentHosts({ names: ['victim.example', '*.evil.example'], redirectUri, jwks })
})
afterAll(async () => {
  await Promise.all([...servers.map((each) => each.kill()), hosts.stop()])
  await redis.stop()
})

const redirectUri = 'https://victim.example/callback'
const at = (host: string, path: string) => `https://${host}:${hosts.port}${path}`
const client = (client_id: string): ClientApplication => ({
  registration: { client_id, client_type: 'public', redirect_uris: [redirectUri], scope: 'photos:read' },
})

/** A client whose keys stand at a URL. */
const registered = (index: number) => ({
  client_id: `keys-${index}`,
  client_type: 'confidential' as const,
  credentials: { private_key_jwt: { jwks_uri: at('victim.example', `/keys${index}.json`) } },
  grant_types: ['client_credentials'],
  scope: 'photos:read',
})

const assertion = (clientId: string, kid: string): Record<string, string> => ({
  grant_type: 'client_credentials',
  scope: 'photos:read',
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: jwt(
    own,
    { ...claimsAt(Math.floor(Date.now() / 1000) + ahead), iss: clientId, sub: clientId },
    { kid },
  ),
})

/** The request of an attacker: a junk document, a silent name, a look-alike host, or keys that do not exist. */
function junk(index: number): readonly [path: string, form?: Record<string, string>] {
  const ask = (client_id: string) =>
    [`/authorize?${formOf(authorizationRequest(client(client_id)))}`] as const
  switch (index % 6) {
    case 0:
      return ask(at('victim.example', `/x${index}`))
    case 1:
      return ask(at(`s${index}.silent.example`, '/client.json'))
    case 2:
      return ask(at(`victim.example.${index}.evil.example`, `/client${index % samples}.json`))
    case 3:
      return ask(at(`g${index}.evil.example`, '/client.json'))
    case 4:
      return ['/token', { grant_type: 'refresh_token', client_id: at('victim.example', `/y${index}`) }]
    default:
      return ['/token', assertion(`keys-${index % samples}`, `kid-${index}`)]
  }
}

async function send(url: string, index: number): Promise<void> {
  const [path, form] = junk(index)
  const headers = { 'X-Forwarded-For': `203.0.113.${index % networks}`, 'X-Owner': 'mallory' }
  const response = await fetch(`${url}${path}`, {
    headers,
    redirect: 'manual',
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  })
  await response.arrayBuffer()
}

/** A server as an honest network sees it. */
const flowFrom = ({ flow }: ServerProcess, index: number) =>
  flow.behind({ 'X-Forwarded-For': `198.51.100.${index}` })

const start = async (plan: ServerPlan) => {
  const server = await startServer(plan)
  servers.push(server)
  return server
}

test('junk documents, silent names and look-alike hosts from 50 networks shut out no client that has a token, and none with keys at a URL [stranger-10] [document-8]', async () => {
  const plan: ServerPlan = {
    store: { url: redis.url, prefix: `junk:${randomUUID()}:` },
    clients: times(samples, registered),
    documents: { ca: hosts.ca, dns: hosts.dns },
  }
  const known = times(samples, (index) => client(at('victim.example', `/client${index}.json`)))
  const before = await start(plan)
  const refreshTokens: string[] = []
  for (const [index, each] of known.entries())
    refreshTokens.push((await flowFrom(before, index).tokens(each)).refreshToken)
  await before.kill()

  const fresh = await Promise.all([start({ ...plan, ahead }), start({ ...plan, ahead })])
  let sent = 0
  const attacker = async () => {
    while (sent < requests) {
      const index = sent++
      await send(fresh[index % 2]?.url ?? '', index)
    }
  }
  const largest = [0, 0]
  const measure = async () => {
    for (const [place, server] of fresh.entries())
      largest[place] = Math.max(largest[place] ?? 0, (await server.memory()).rss)
  }
  const attack = Promise.all(times(2 * networks, attacker))
  const answers: string[] = []
  const note = (what: string, { status, text }: Response) =>
    answers.push(`${what} ${status}${status === 200 ? '' : ` ${text.slice(0, 300)}`}`)
  for (const [index, each] of known.entries()) {
    const begun = requests * (0.3 + (0.6 * index) / samples)
    await waitUntil('the attack goes on', async () => sent >= begun, 600)
    const flow = flowFrom(fresh[index % 2] ?? before, index)
    note('page', await flow.ask(authorizationRequest(each), 'alice'))
    const refreshed = await flow.refresh(each, refreshTokens[index] ?? '')
    note('refresh', refreshed)
    if (refreshed.status === 200) tokensOf(refreshed)
    note('keys', await flow.submit('/token', assertion(`keys-${index}`, 'own')))
    if (index % 4 === 0) await measure()
  }
  await attack
  await measure()
  expect(answers).toEqual(known.flatMap(() => ['page 200', 'refresh 200', 'keys 200']))
  for (const each of largest) expect(each).toBeLessThan(200 * megabytes)
}, 120_000)
