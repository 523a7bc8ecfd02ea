import express from 'express'
import { type BearerGuard, type Extension, memoryStore } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { deviceAuthorization } from '../../lib/paths/devices'
import { dpop } from '../../lib/paths/dpop'
import { jwtAccessTokenReader, jwtAccessTokens, privateKeyJwt } from '../../lib/paths/jwt'
import { mac } from '../../lib/paths/mac'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { pushedAuthorizationRequests } from '../../lib/paths/pushed-requests'
import { jwt, signer } from '../support/assertions/jwt'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoPrint } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { consentFormOf } from '../support/flows/consent-form'
import { deviceCode, deviceSecret } from '../support/flows/device-stage'
import { authorizationRequest, type Fields, Flow, redemption } from '../support/flows/flow'
import { identityKeys } from '../support/flows/identity-stage'
import { Prover } from '../support/flows/prover'
import { notesService } from '../support/flows/registering'
import { startServer, type StartedServer } from '../support/start-server'

const opaqueApi = 'https://api.example/opaque'
const jwtApi = 'https://api.example/jwt'
const every = 'openid photos:read'

/** A client that may do everything: it asks about its own tokens, too. */
const own = bent(photoPrint, {
  client_id: 'own',
  scope: every,
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials', deviceCode],
  may_introspect: true,
})
const signed = bent(own, { client_id: 'signed' })
/** A resource server. */
const photoServer = bent(nightlyReport, { client_id: 'photo-server', may_introspect: true })
const assertionKey = signer('robot', '1')
const robot = {
  client_id: 'robot',
  client_type: 'confidential',
  credentials: { private_key_jwt: { keys: [assertionKey.jwk] } },
  grant_types: ['client_credentials'],
  scope: 'photos:read',
} as const

/** The tokens of one client are of the type mac. */
const macForSigned: Extension = {
  name: 'mac-for-signed',
  issue: ({ client }) => (client.client_id === 'signed' ? { tokenType: 'mac' } : undefined),
}

let started: StartedServer
afterAll(() => started.stop())

/** A server with every plug-in, and every guard of its two resources. */
async function everything() {
  const clock = new Clock()
  const now = () => Math.floor(clock.read() / 1000)
  const store = memoryStore({ clock: clock.read })
  const origin = express()
  started = await startServer(origin)
  const issuer = `http://127.0.0.1:${started.port}`
  const keys = identityKeys()
  const resources = {
    [opaqueApi]: { scopes: ['photos:read', 'openid'], accessTokenFormat: 'opaque' },
    [jwtApi]: { scopes: ['photos:read', 'openid'] },
  }
  const { app, flow, oauth } = application(
    {
      issuer,
      store,
      clock: clock.read,
      clients: [own.registration, signed.registration, photoServer.registration, robot],
      scopes: { openid: 'Know who you are', 'photos:read': 'See your photos', 'reports:write': 'Report' },
      resources,
      defaultResource: opaqueApi,
      logOut: () => undefined,
      dynamicRegistration: {},
      plugins: [
        mac({ hosts: ['api.example'] }),
        macForSigned,
        privateKeyJwt(),
        keys,
        jwtAccessTokens({ keys }),
        openIdConnect({ keys }),
        dpop({ baseUrl: issuer }),
        deviceAuthorization({ secret: deviceSecret }),
        pushedAuthorizationRequests(),
      ],
    },
    { mount: (host, server) => void host.use(server.router()) },
  )
  origin.use(app)

  const jwks = (await flow.open('/.well-known/jwks.json')).body
  const audience = [opaqueApi, jwtApi]
  const common = { issuer, clock: clock.read }
  const asking = (client: typeof own) =>
    ({
      ...common,
      introspection: {
        client: { client_id: client.registration.client_id, client_secret: client.secret ?? '' },
        inactive: false,
      },
    }) as const
  const guarding = (guard: BearerGuard, hasResources = false) => {
    const host = express()
    for (const resource of audience)
      host.get(
        `/${resource.slice(-3)}`,
        guard('photos:read', hasResources ? { resource } : {}),
        (_, res) => void res.end(),
      )
    return new Flow(host)
  }
  const reader = createBearerGuard({
    ...common,
    store,
    resources,
    plugins: [jwtAccessTokenReader({ jwks })],
  })
  const guards = {
    'same process': guarding(oauth.bearerGuard, true),
    'other process': guarding(reader, true),
    JWT: guarding(createBearerGuard({ ...common, resources, jwt: { jwks } }), true),
    introspection: guarding(createBearerGuard({ ...asking(photoServer), resources }), true),
    'introspection as the client, without a resource': guarding(createBearerGuard(asking(own))),
  }
  /** The guards that admit a text, under any scheme. */
  const admitting = async (text: string) => {
    const names: string[] = []
    for (const [name, guard] of Object.entries(guards)) {
      const statuses: number[] = []
      for (const [scheme, path] of [
        ['Bearer', '/que'],
        ['Bearer', '/jwt'],
        ['DPoP', '/que'],
        ['MAC', '/jwt'],
      ] as const)
        statuses.push((await guard.open(path, undefined, { Authorization: `${scheme} ${text}` })).status)
      expect([text, statuses.filter((status) => ![200, 400, 401].includes(status))]).toEqual([text, []])
      if (statuses.includes(200)) names.push(name)
    }
    return names
  }
  return { admitting, flow, oauth, issuer, now }
}

type Everything = Awaited<ReturnType<typeof everything>>

/** A credential, and whether what it belongs to still lives. */
interface Held {
  readonly text: string
  readonly lives: () => Promise<boolean>
}

async function tokensOf(set: Everything, client = own, bend: Fields = {}) {
  const code = await set.flow.approve(client, bend)
  const { body } = await set.flow.redeem(client, code)
  const held = (name: string): Held => ({
    text: String(body[name]),
    // Any client of the family: the refresh token lives as long as the authorization does.
    lives: async () => (await set.flow.introspect(client, body.refresh_token)).body.active,
  })
  return held
}

async function boundTokens(set: Everything): Promise<(name: string) => Held> {
  const prover = new Prover(() => set.now() * 1000, set.issuer)
  const { body } = await prover.tokens(set.flow, redemption(own, await set.flow.approve(own)), own)
  return (name) => ({
    text: String(body[name]),
    lives: async () => (await set.flow.introspect(own, body.refresh_token)).body.active,
  })
}

async function deviceOf({ flow }: Everything) {
  const { body } = await flow.request(own, { scope: 'photos:read' }, '/device_authorization')
  const poll = () => flow.request(own, { grant_type: deviceCode, device_code: body.device_code })
  const lives = async () => ['authorization_pending', 'slow_down'].includes((await poll()).body.error)
  return (name: 'device_code' | 'user_code'): Held => ({ text: String(body[name]), lives })
}

const always = async () => true

/** Every credential that a server, a client or a page hands out. */
const credentials: Readonly<Record<string, (set: Everything) => Promise<Held>>> = {
  'an opaque access token': async (set) => (await tokensOf(set))('access_token'),
  'a JWT access token': async (set) => (await tokensOf(set, own, { resource: jwtApi }))('access_token'),
  'a DPoP-bound access token, without a proof': async (set) => (await boundTokens(set))('access_token'),
  'a mac token, as a bearer token': async (set) => (await tokensOf(set, signed))('access_token'),
  'a mac key': async (set) => (await tokensOf(set, signed))('mac_key'),
  'a refresh token': async (set) => (await tokensOf(set))('refresh_token'),
  'an ID token': async (set) => (await tokensOf(set))('id_token'),
  'a code': async ({ flow }) => {
    const text = await flow.approve(own)
    return { text, lives: async () => (await flow.redeem(own, text)).status === 200 }
  },
  'the consent token of a page': async ({ flow }) => {
    const page = await flow.ask(authorizationRequest(own), 'alice')
    const text = String(consentFormOf(page, '/authorize').fields['authorization_request'])
    return { text, lives: async () => (await flow.decide(page, 'approve', 'alice')).status === 303 }
  },
  'the reference of a demanded login': async ({ flow }) => {
    const answer = await flow.ask({ ...authorizationRequest(own), prompt: 'login' }, 'alice')
    return {
      text: String(/lr_[\w-]{65}/.exec(decodeURIComponent(answer.text + answer.get('Location')))),
      lives: always,
    }
  },
  'a device code': async (set) => (await deviceOf(set))('device_code'),
  'a user code': async (set) => (await deviceOf(set))('user_code'),
  'a request_uri': async ({ flow }) => {
    const { body } = await flow.request(own, authorizationRequest(own), '/par')
    const brought = { client_id: 'own', request_uri: body.request_uri }
    return {
      text: String(body.request_uri),
      lives: async () => (await flow.ask(brought, 'alice')).status === 200,
    }
  },
  'a registration access token': async ({ flow }) => {
    const { body } = await flow.submit('/register', JSON.stringify(notesService), undefined, {
      'Content-Type': 'application/json',
    })
    const text = String(body.registration_access_token)
    const { pathname, search } = new URL(body.registration_client_uri)
    const Authorization = `Bearer ${text}`
    return {
      text,
      lives: async () => (await flow.open(pathname + search, undefined, { Authorization })).status === 200,
    }
  },
  'a client assertion': async ({ issuer, now }) => {
    const claims = { iss: 'robot', sub: 'robot', aud: issuer, iat: now(), exp: now() + 60, jti: 'once' }
    return { text: jwt(assertionKey, claims), lives: always }
  },
  'the text of the logout page': async ({ flow }) => {
    const { text } = await flow.open('/logout', 'alice')
    return { text: String(/name="logout_request" value="([^"]+)"/.exec(text)?.[1]), lives: always }
  },
}

interface Answers {
  /** The guards that admit it. */
  readonly admit: readonly string[]
  /** What introspection calls it: for its client, for its client with the hint `access_token`, for a resource server. */
  readonly introspect: readonly (readonly [active: boolean, kind?: string])[]
  /** Whether a revocation by its client ends the authorization. */
  readonly revoke: boolean
}

const nowhere = { admit: [], introspect: [[false], [false], [false]], revoke: false } satisfies Answers
const onStore = ['same process', 'other process']
const accessToken = (type: string): Pick<Answers, 'introspect' | 'revoke'> => ({
  introspect: [
    [true, type],
    [true, type],
    [true, type],
  ],
  revoke: true,
})
const refreshToken: Answers = {
  admit: [],
  introspect: [[true, 'refresh_token'], [false], [false]],
  revoke: true,
}

const expected: Readonly<Record<string, Answers>> = {
  'an opaque access token': { admit: [...onStore, 'introspection'], ...accessToken('bearer') },
  'a JWT access token': { admit: [...onStore, 'JWT', 'introspection'], ...accessToken('bearer') },
  'a DPoP-bound access token, without a proof': { admit: [], ...accessToken('DPoP') },
  'a mac token, as a bearer token': { admit: [], ...accessToken('mac') },
  'a refresh token': refreshToken,
}

let set: Everything
beforeAll(async () => {
  set = await everything()
})

test.each(Object.keys(credentials))('guards, introspection and revocation tell what %s is', async (name) => {
  const answers = expected[name] ?? nowhere
  const held = await credentials[name]?.(set)
  if (held === undefined) throw new Error(`There is no ${name}.`)
  const { text, lives } = held
  const client = name.startsWith('a mac') ? signed : own
  expect(text).toMatch(/^[\x21-\x7E]{8,}$/)
  const asked = [
    await set.flow.introspect(client, text),
    await set.flow.introspect(client, text, { token_type_hint: 'access_token' }),
    await set.flow.introspect(photoServer, text),
  ].map(({ status, body: { active, token_use, token_type } }) => {
    expect(status).toBe(200)
    return active === true ? [true, token_use ?? token_type] : [active]
  })
  expect({ admit: await set.admitting(text), introspect: asked }).toEqual({
    admit: answers.admit,
    introspect: answers.introspect,
  })
  for (const [by, ends] of [
    [photoServer, false],
    [client, answers.revoke],
  ] as const) {
    expect((await set.flow.revoke(by, text)).status).toBe(200)
    // What is good once is looked at once.
    expect(by === photoServer && !answers.revoke ? true : await lives()).toBe(!ends)
  }
})
