import { authCore, passportOpenIdConnect } from './openid-connect/frameworks'
import { startIdentityServer, type IdentityServer } from '../../support/openid-connect/identity-server'
import { oauth4webapi, openIdClient5, openIdClient6 } from './openid-connect/libraries'
import {
  startRelyingParty,
  type RelyingParty,
  type StartedRelyingParty,
} from '../../support/openid-connect/relying-party'
import { loggingOut, UserAgent } from '../../support/openid-connect/user-agent'

/** What a client has. */
interface Client {
  readonly name: string
  readonly party: RelyingParty
  readonly uses: string
  readonly refreshes: boolean
  /** Whether it sends its user to the logout endpoint of the server. */
  readonly logsOut: boolean
}

const clients: readonly Client[] = [
  {
    name: 'openid-client 6',
    party: openIdClient6,
    uses: 'discovery, state, nonce, PKCE, max_age',
    refreshes: true,
    logsOut: true,
  },
  {
    name: 'openid-client 5',
    party: openIdClient5,
    uses: 'discovery, state, nonce, PKCE, max_age',
    refreshes: true,
    logsOut: true,
  },
  {
    name: 'oauth4webapi',
    party: oauth4webapi,
    uses: 'discovery, state, nonce, PKCE, max_age',
    refreshes: true,
    logsOut: true,
  },
  {
    name: 'passport-openidconnect',
    party: passportOpenIdConnect,
    uses: 'state, nonce, max_age',
    refreshes: false,
    logsOut: false,
  },
  {
    name: '@auth/core',
    party: authCore,
    uses: 'discovery, state, nonce, PKCE, max_age',
    refreshes: false,
    logsOut: false,
  },
]

const started = new Map<string, StartedRelyingParty>()
let server: IdentityServer

beforeAll(async () => {
  server = await startIdentityServer(async (issuer) => {
    for (const { name, party } of clients)
      started.set(name, await startRelyingParty(issuer, name.replaceAll(/\W/g, '-'), party))
    return [...started.values()].map(({ registration }) => registration)
  })
})
beforeEach(() => {
  server.requests.length = 0
})
afterAll(async () => {
  for (const party of started.values()) await party.close()
  await server.close()
})

/** A page of the application of a client. */
const urlOf = ({ name }: Client, path: string) => `${started.get(name)?.url}${path}`

const logIn = (client: Client, agent: UserAgent) => agent.visit(urlOf(client, client.party.login))

const paths = () => server.requests.map(({ method, url }) => `${method} ${url.pathname}`)

// Name and address stand in UserInfo alone.
const alice = { sub: 'alice', name: 'alice of the test', email: 'alice@example.com' }

test.each(clients)('$name logs its user in and reads UserInfo ($uses)', async (client) => {
  const page = await logIn(client, new UserAgent())
  expect(JSON.parse(page.text)).toEqual(alice)
  expect(server.used()).toBe(client.uses)
  expect(server.failures).toEqual([])
})

test('the server publishes its key, and no private part, as clients need it', async () => {
  const response = await fetch(`${server.issuer}/.well-known/jwks.json`)
  const jwk = {
    ...server.publicKey.export({ format: 'jwk' }),
    alg: 'RS256',
    use: 'sig',
    kid: expect.any(String),
  }
  expect(await response.json()).toEqual({ keys: [jwk] })
})

test.each(clients.filter(({ refreshes }) => refreshes))(
  '$name refreshes, and reads UserInfo with the new token',
  async (client) => {
    const agent = new UserAgent()
    await logIn(client, agent)
    server.requests.length = 0
    const page = await agent.visit(urlOf(client, '/refresh'))
    expect(JSON.parse(page.text)).toEqual(alice)
    expect(paths()).toEqual(['POST /token', 'GET /userinfo'])
  },
)

test.each(clients.filter(({ logsOut }) => logsOut))(
  '$name logs its user out of the server, and the user returns with the state',
  async (client) => {
    const agent = new UserAgent()
    await logIn(client, agent)
    const page = await agent.visit(urlOf(client, '/logout'), loggingOut)
    expect(page.url.href).toBe(urlOf(client, '/bye?state=af0ifjsldkj'))
    // The next login asks who signs in.
    const again = await agent.open(new URL(urlOf(client, client.party.login)))
    expect(again.url.origin + again.url.pathname).toBe(`${server.issuer}/login`)
  },
)
