import { randomBytes } from 'node:crypto'
import express from 'express'
import type { Response } from 'supertest'
import {
  type AuthorizationServerOptions,
  createAuthorizationServer,
  memoryStore,
  type Plugin,
  type Store,
} from '../../lib/index'
import { dpop } from '../../lib/paths/dpop'
import { createBearerGuard } from '../../lib/paths/guards'
import { jwtAccessTokens, signingKeys } from '../../lib/paths/jwt'
import { legacyTokens, type LegacyTokensOptions } from '../../lib/paths/legacy-tokens'
import { recordEvents } from '../support/events'
import { application, canonicalOptions, mountAll, withoutLimits } from '../support/flows/application'
import { bent, type ClientApplication, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { type Fields, Flow } from '../support/flows/flow'
import { Gate } from '../support/flows/gate'
import { outcomeOf } from '../support/flows/outcome'
import { Prover } from '../support/flows/prover'
import { mountResources, photosApi, printApi, reach, threeResources } from '../support/flows/resources'
import { setStage } from '../support/flows/stage'
import { describeOnStores, type SetStage, stageOn } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'
import { mistakesIn } from '../support/mistakes-of'
import { but } from '../support/stores/but'

const day = 24 * 3600
const reader = bent(nightlyReport, { client_id: 'reader', may_introspect: true })

/** As a host calls it that writes JavaScript. */
const javascript: { make(options: unknown): Plugin } = { make: legacyTokens }

/** A server to which the grants of alice at another server move. There, 40 hexadecimal digits are a token. */
function moving(
  stage: SetStage,
  options: Partial<AuthorizationServerOptions> = {},
  bend: Partial<Record<keyof LegacyTokensOptions, unknown>> = {},
) {
  const tokens = new Map<string, unknown>()
  const asked: string[] = []
  const find = async (token: string) => {
    asked.push(token)
    return tokens.get(token)
  }
  const until = Math.floor(Date.now() / 1000) + 50 * day
  const usual = { form: /[0-9a-f]{40}/, until, findAccess: find, findRefresh: find }
  const clients = [photoPrint, photoBook, reader].map(({ registration }) => registration)
  const plugins = [...(options.plugins ?? []), javascript.make({ ...usual, ...bend })]
  const set = stage({ clients, authorizations: true, ...options, plugins })
  const now = () => Math.floor(set.clock.read() / 1000)
  const scope = ['photos:read', 'photos:print']
  const grant = { clientId: 'photo-print', subject: 'alice', scope, expiresAt: now() + 40 * day }
  /** A token that the other server has issued. */
  const issued = (token: object = {}) => {
    const text = randomBytes(20).toString('hex')
    tokens.set(text, { ...grant, ...token })
    return text
  }
  const listed = async () => (await set.oauth.authorizations.list('alice')).authorizations
  return { ...set, tokens, asked, usual, now, grant, issued, listed }
}

type Moving = ReturnType<typeof moving>

const refreshed =
  (fields: Fields = {}, client: ClientApplication = photoPrint) =>
  ({ flow }: Moving, token: string) =>
    flow.refresh(client, token, fields)
const instead = (token: string) => refreshed({ refresh_token: token })
/** A refresh a minute after something has happened. */
const after = (happens: (set: Moving) => unknown) => async (set: Moving, token: string) => {
  await happens(set)
  set.clock.advance(60)
  return set.flow.refresh(photoPrint, token)
}
const revokeAll = after(({ oauth }) => oauth.authorizations.revokeAll('alice'))
const revokeClient = after(({ oauth }) => oauth.authorizations.revokeClient('photo-print'))
const [before, since] = [-day, 30].map((seconds) => ({ now }: Moving) => ({ grantedAt: now() + seconds }))
const forEver = ({ now }: Moving) => ({ expiresAt: now() + 3000 * day })
const wrongSecret = { ...photoPrint, secret: 'x' }

type Row = [
  title: string,
  expected: string,
  ask: (set: Moving, token: string) => Promise<Response>,
  token?: ((set: Moving) => object) | undefined,
]
const moves: readonly Row[] = [
  ['a live token', 'tokens', refreshed()],
  ['another client', '400 invalid_grant', refreshed({}, photoBook)],
  ['a wrong secret', '401 invalid_client', refreshed({}, wrongSecret)],
  ['an expired token', '400 invalid_grant', refreshed(), ({ now }) => ({ expiresAt: now() })],
  ['a token after until', '400 invalid_grant', after(({ clock }) => clock.advance(50 * day)), forEver],
  ['a scope beyond the grant', '400 invalid_scope', refreshed({ scope: 'reports:write' })],
  ['a form that is not declared', '400 invalid_grant', instead('x')],
  ['a text longer than the form', '400 invalid_grant', instead('0'.repeat(41))],
  ['an unknown token', '400 invalid_grant', instead('0'.repeat(40))],
  ['a token of before revokeAll', '400 invalid_grant', revokeAll, before],
  ['a token of unknown age after revokeAll', '400 invalid_grant', revokeAll],
  ['a token of after revokeAll', 'tokens', revokeAll, since],
  ['a token of another owner after revokeAll', 'tokens', revokeAll, () => ({ subject: 'bob' })],
  ['a token of before revokeClient', '400 invalid_grant', revokeClient, before],
  ['a token of unknown age after revokeClient', '400 invalid_grant', revokeClient],
  ['a token of after revokeClient', 'tokens', revokeClient, since],
]

const wrong: readonly [title: string, token: unknown][] = [
  ['null', null],
  ['a text', 'photo-print'],
  ['a list', []],
  ['a promise in a list', [Promise.resolve()]],
  ['no client', { clientId: undefined }],
  ['a client that is a number', { clientId: 7 }],
  ['an owner that a look-up did not find', { subject: undefined }],
  ['an owner under another name', { sub: 'alice' }],
  ['a scope that is a text', { scope: 'photos:read' }],
  ['no scope', { scope: [] }],
  ['an end in milliseconds', { expiresAt: Date.now() + 1e9 }],
  ['a Date as the end', { expiresAt: new Date() }],
  ['a time of grant in milliseconds', { grantedAt: Date.now() }],
  ['a resource that is a text', { resources: photosApi }],
]

function stories(stage: SetStage) {
  test.each(moves)('with %s gets %s', async (_title, expected, ask, token = () => ({})) => {
    const set = moving(stage)
    const text = set.issued(token(set))
    expect(outcomeOf(await ask(set, text))).toBe(expected)
  })

  test('moves a grant: the tokens are of this server, and its owner finds and ends it', async () => {
    const set = moving(stage)
    const { flow, oauth, listed } = set
    const text = set.issued({ grantedAt: set.now() - day })
    const recorded = recordEvents(oauth.events)
    const moved = tokensOf(await flow.refresh(photoPrint, text))
    expect(moved).toMatchObject({ scope: 'photos:read photos:print', expiresIn: 3600 })
    expect((await flow.photos(moved.accessToken)).body).toMatchObject({ subject: 'alice' })
    expect(recorded).toMatchObject([{ event: 'refreshed', clientId: 'photo-print', subject: 'alice' }])
    expect(await listed()).toMatchObject([{ clientId: 'photo-print', grantedAt: set.now() - day }])
    const next = tokensOf(await flow.refresh(photoPrint, moved.refreshToken))
    await oauth.authorizations.revokeAll('alice')
    expect((await flow.photos(next.accessToken)).status).toBe(401)
    for (const token of [next.refreshToken, text])
      expect(outcomeOf(await flow.refresh(photoPrint, token))).toBe('400 invalid_grant')
  })

  test('gives the same tokens again within the grace, also if the host has forgotten the old token', async () => {
    const set = moving(stage)
    const text = set.issued()
    const first = tokensOf(await set.flow.refresh(photoPrint, text))
    set.tokens.clear()
    set.clock.advance(29)
    expect(tokensOf(await set.flow.refresh(photoPrint, text))).toMatchObject({
      accessToken: first.accessToken,
      refreshToken: first.refreshToken,
    })
    expect(outcomeOf(await set.flow.refresh(photoBook, text))).toBe('400 invalid_grant')
    expect(await set.listed()).toHaveLength(1)
  })

  test.each([
    ['beyond the grace', 31],
    ['after the grant was used, within the grace', 0],
  ])('ends the moved grant by a second use %s, for good', async (_when, seconds) => {
    const set = moving(stage)
    const text = set.issued()
    const first = tokensOf(await set.flow.refresh(photoPrint, text))
    const next = seconds > 0 ? first : tokensOf(await set.flow.refresh(photoPrint, first.refreshToken))
    set.clock.advance(seconds)
    expect(outcomeOf(await set.flow.refresh(photoBook, text))).toBe('400 invalid_grant')
    expect((await set.flow.photos(next.accessToken)).status).toBe(200)
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('400 invalid_grant')
    expect(set.failures.at(-1)).toMatchObject({ reason: 'refresh_token_reused' })
    expect((await set.flow.photos(next.accessToken)).status).toBe(401)
    // The old server still knows the token.
    set.clock.advance(30 * day)
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('400 invalid_grant')
    expect(set.failures.at(-1)).toMatchObject({ reason: 'grant_used_up' })
  })

  test('narrows the scope to what is asked and what the client may still have, and spends nothing in vain', async () => {
    const frugal = bent(photoPrint, { scope: 'photos:read' })
    const set = moving(stage, { clients: [frugal.registration] })
    const [one, other] = [set.issued(), set.issued({ scope: ['photos:print'] })]
    expect(tokensOf(await set.flow.refresh(frugal, one)).scope).toBe('photos:read')
    expect(outcomeOf(await set.flow.refresh(frugal, other))).toBe('400 invalid_scope')
    const wide = moving(stage)
    const text = wide.issued()
    expect(outcomeOf(await wide.flow.refresh(photoPrint, text, { scope: 'x' }))).toBe('400 invalid_scope')
    expect(tokensOf(await wide.flow.refresh(photoPrint, text, { scope: 'photos:print' })).scope).toBe(
      'photos:print',
    )
  })

  test('passes guards and introspection with an access token of the other server until its end', async () => {
    const set = moving(stage)
    const text = set.issued({ expiresAt: set.now() + 100, scope: ['photos:read'] })
    const access = { clientId: 'photo-print', subject: 'alice', scope: ['photos:read'], tokenType: 'bearer' }
    expect((await set.flow.photos(text)).body).toMatchObject({ ...access, expiresAt: set.now() + 100 })
    expect((await set.flow.introspect(reader, text)).body).toEqual({
      active: true,
      client_id: 'photo-print',
      sub: 'alice',
      scope: 'photos:read',
      token_type: 'bearer',
      exp: set.now() + 100,
      iss: 'http://localhost',
    })
    set.clock.advance(100)
    expect((await set.flow.photos(text)).status).toBe(401)
    expect(outcomeOf(await set.flow.introspect(reader, text))).toBe('inactive')
  })

  test.each<[string, (set: Moving) => Promise<unknown>]>([
    ['revokeAll', ({ oauth }) => oauth.authorizations.revokeAll('alice')],
    ['revokeClient', ({ oauth }) => oauth.authorizations.revokeClient('photo-print')],
  ])('ends access tokens of the other server by %s', async (_verb, revoke) => {
    const set = moving(stage)
    const [text, older] = [set.issued(), set.issued({ grantedAt: set.now() - 1 })]
    const later = set.issued({ grantedAt: set.now() + 30 })
    expect((await set.flow.photos(text)).status).toBe(200)
    await revoke(set)
    for (const token of [text, older]) expect((await set.flow.photos(token)).status).toBe(401)
    expect(outcomeOf(await set.flow.introspect(reader, text))).toBe('inactive')
    expect((await set.flow.photos(later)).status).toBe(200)
  })

  test('is temporarily unavailable if the host fails, and the old token stays good', async () => {
    let fails = true
    const find = async (token: string) => {
      if (fails) throw new Error(`The old database knows no "${token}".`)
      return set.grant
    }
    const set: Moving = moving(stage, {}, { findAccess: find, findRefresh: find })
    const text = set.issued()
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('400 temporarily_unavailable')
    expect((await set.flow.photos(text)).status).toBe(503)
    const failed = (verb: string) => ({
      reason: 'legacy_lookup_failed',
      cause: new Error(`${verb} of legacyTokens() failed: Error: The old database knows no "the token".`),
    })
    expect(set.failures).toMatchObject([failed('findRefresh'), failed('findAccess')])
    fails = false
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('tokens')
  })
}

describe('A refresh token of another server, in memory,', () => {
  stories(setStage)
})
describeOnStores('A refresh token of another server', stories)

describe('What the host returns for a token', () => {
  test.each(wrong)('is no token if it is %s', async (_title, token) => {
    const set = moving(setStage)
    const text = set.issued()
    const isPart = typeof token === 'object' && token !== null && !Array.isArray(token)
    set.tokens.set(text, isPart ? { ...set.grant, ...token } : token)
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('400 temporarily_unavailable')
    expect((await set.flow.photos(text)).status).toBe(503)
    const { reason, cause } = set.failures[0] ?? {}
    expect([reason, String(cause)]).toEqual([
      'legacy_lookup_failed',
      expect.stringMatching(
        /^Error: findRefresh of legacyTokens\(\) failed: TypeError: The token is wrong: .+(?: must be | is not known here)/,
      ),
    ])
    expect(String(cause)).not.toContain(text)
  })

  test.each<[string, (plugins: readonly Plugin[]) => readonly Plugin[]]>([
    ['after', (plugins) => plugins],
    ['before', (plugins) => [...plugins.slice(-1), ...plugins.slice(0, -1)]],
  ])(
    'is asked for texts of its form alone, never for tokens of this server (%s jwtAccessTokens())',
    async (_order, place) => {
      const keys = signingKeys({ secrets: ['a secret of thirty-two characters'] })
      const resources = { [photosApi]: { scopes: ['photos:read'] } }
      const ordered: SetStage = ({ plugins = [], ...options } = {}) =>
        setStage({ ...options, plugins: place(plugins) })
      const form = (text: string) => !text.startsWith('no')
      const set = moving(ordered, { plugins: [keys, jwtAccessTokens({ keys })], resources }, { form })
      const { access_token, refresh_token } = (
        await set.flow.redeem(photoPrint, await set.flow.approve(photoPrint, { scope: 'photos:read' }))
      ).body
      set.clock.advance(3600)
      for (const text of [access_token, 'no', `at_${'a'.repeat(65)}`, 'x'.repeat(8193), 'a text', 'é'])
        await set.flow.introspect(reader, text)
      for (const text of [refresh_token, 'no', `rt_${'a'.repeat(82)}`])
        await set.flow.refresh(photoPrint, text)
      expect(set.asked).toEqual([])
    },
  )

  test('is asked for texts that the regular expression matches as a whole, each time', async () => {
    const set = moving(setStage, {}, { form: /[0-9a-f]{40}/g })
    const text = '0'.repeat(40)
    for (const token of [text, text, `${text}0`]) await set.flow.refresh(photoPrint, token)
    expect(set.asked).toEqual([text, text])
  })

  test('counts for nothing once a form fails', async () => {
    for (const answer of ['yes', undefined]) {
      const set = moving(setStage, {}, { form: () => answer })
      expect(outcomeOf(await set.flow.refresh(photoPrint, set.issued()))).toBe('400 temporarily_unavailable')
    }
  })
})

describe('A text that the other server does not know', () => {
  test.each([
    ['of its form', '0'.repeat(40)],
    ['of no form', 'x'],
  ])('counts as a failure of its network, like every bad token (%s)', async (_title, text) => {
    const limits = { networks: { clients: { attempts: 2 } } }
    const set = moving(setStage, { limits })
    const answers = []
    for (let turn = 0; turn < 3; turn++) answers.push(outcomeOf(await set.flow.refresh(photoBook, text)))
    expect(answers).toEqual(['400 invalid_grant', '400 invalid_grant', '429 temporarily_unavailable'])
  })
})

describe('The revocation endpoint', () => {
  test('ends a token of the other server by the host, for its client alone, and the moved grant', async () => {
    const revoked: unknown[] = []
    const unknown = () => undefined
    const set = moving(
      setStage,
      {},
      { findAccess: unknown, revoke: (...token: unknown[]) => revoked.push(token) },
    )
    const text = set.issued()
    const { accessToken } = tokensOf(await set.flow.refresh(photoPrint, text))
    await set.flow.revoke(photoBook, text)
    expect([revoked, (await set.flow.photos(accessToken)).status]).toEqual([[], 200])
    const recorded = recordEvents(set.oauth.events)
    expect(outcomeOf(await set.flow.revoke(photoPrint, text))).toBe('done')
    expect([revoked, (await set.flow.photos(accessToken)).status]).toEqual([[[text, 'refresh_token']], 401])
    expect(recorded.slice(0, 1)).toMatchObject([{ event: 'revoked', reason: 'client', subject: 'alice' }])
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('400 invalid_grant')
  })

  test('says that the token lives on if the host fails', async () => {
    const revoke = () => Promise.reject(new Error('The old database is away.'))
    const set = moving(setStage, {}, { revoke })
    expect(outcomeOf(await set.flow.revoke(photoPrint, set.issued()))).toBe('503 temporarily_unavailable')
  })

  test('leaves a token of the other server to its end without a function of the host', async () => {
    const set = moving(setStage)
    const text = set.issued()
    expect(outcomeOf(await set.flow.revoke(photoPrint, text))).toBe('done')
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('tokens')
  })
})

describe('A move', () => {
  test('happens once, also if the host finds the old token good for ever, and the store forgets', async () => {
    const forgetful = stageOn((clock) => memoryStore({ clock }))
    const find = async () => ({ ...set.grant, expiresAt: set.now() + 60 })
    const set: Moving = moving(forgetful, {}, { findRefresh: find })
    const text = set.issued()
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('tokens')
    for (let days = 0; days < 60; days += 10) {
      set.clock.advance(10 * day)
      expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('400 invalid_grant')
    }
  })

  test('binds the tokens to the key of a public client that must prove one', async () => {
    const bound = bent(photoBook, { dpop_bound_access_tokens: true })
    const plugins = [dpop({ baseUrl: 'http://localhost' })]
    const set = moving(setStage, { plugins, clients: [bound.registration] })
    const refresh_token = set.issued({ clientId: 'photo-book' })
    const [key, thief] = [new Prover(set.clock.read), new Prover(set.clock.read)]
    const by = (prover: Prover, token: string) =>
      prover.tokens(set.flow, { grant_type: 'refresh_token', refresh_token: token })
    expect(outcomeOf(await set.flow.refresh(bound, refresh_token))).toBe('400 invalid_dpop_proof')
    const { body } = await by(key, refresh_token)
    expect(body.token_type).toBe('DPoP')
    expect((await key.call(set.flow, body.access_token)).status).toBe(200)
    expect((await thief.call(set.flow, body.access_token)).status).toBe(401)
    expect(outcomeOf(await by(thief, refresh_token))).toBe('400 invalid_grant')
    expect(outcomeOf(await by(thief, body.refresh_token))).toBe('400 invalid_grant')
    expect((await by(key, body.refresh_token)).body.token_type).toBe('DPoP')
  })

  test('gives a new refresh token also to a client whose refresh tokens do not rotate', async () => {
    const set = moving(setStage, { refreshTokenRotation: false })
    const text = set.issued()
    const { refreshToken } = tokensOf(await set.flow.refresh(photoPrint, text))
    expect(refreshToken).not.toBe(text)
    expect(tokensOf(await set.flow.refresh(photoPrint, refreshToken)).refreshToken).toBe(refreshToken)
    expect(tokensOf(await set.flow.refresh(photoPrint, text)).refreshToken).toBe(refreshToken)
  })

  test('is for the resources of the old token, or for the default one', async () => {
    const mount = { mount: mountResources }
    const set = moving((options) => setStage(options, mount), {
      resources: threeResources,
      defaultResource: photosApi,
    })
    const [one, other] = [{ resources: [printApi] }, {}].map((token) => ({
      refresh: set.issued(token),
      access: set.issued(token),
    }))
    for (const [{ refresh = '', access = '' } = {}, resource] of [
      [one, printApi],
      [other, photosApi],
    ] as const) {
      expect((await reach(set, access)).passed).toEqual([resource])
      const fields = { scope: 'photos:read' }
      const { accessToken } = tokensOf(await set.flow.refresh(photoPrint, refresh, fields))
      expect((await reach(set, accessToken)).passed).toEqual([resource])
      const wider = await set.flow.refresh(photoPrint, set.issued({ resources: [printApi] }), {
        resource: photosApi,
      })
      expect(outcomeOf(wider)).toBe('400 invalid_target')
    }
  })

  test('asks stillAllowed, and false moves nothing', async () => {
    let allowed = false
    const set = moving(setStage, { stillAllowed: () => allowed })
    const text = set.issued()
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: 'no_longer_allowed' }])
    expect(await set.listed()).toEqual([])
    allowed = true
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('tokens')
  })

  test('counts the absolute end of a grant from its approval', async () => {
    const set = moving(setStage, { lifetimes: { grant: 10 * day } })
    const [old, fresh] = [-11, -9].map((days) => set.issued({ grantedAt: set.now() + days * day }))
    expect(outcomeOf(await set.flow.refresh(photoPrint, old ?? ''))).toBe('400 invalid_grant')
    expect(outcomeOf(await set.flow.refresh(photoPrint, fresh ?? ''))).toBe('tokens')
  })

  test('works at a server without resource owners', async () => {
    const { resourceOwner: _, ...options } = canonicalOptions
    const { redirect_uris: __, ...registration } = photoPrint.registration
    const client = { ...photoPrint, registration: { ...registration, grant_types: ['refresh_token'] } }
    const { usual, issued, now } = moving(setStage)
    const app = express()
    const clients = [client.registration]
    const oauth = createAuthorizationServer({ ...options, clients, plugins: [javascript.make(usual)] })
    mountAll(app, oauth)
    const flow = new Flow(app)
    const { accessToken } = tokensOf(await flow.refresh(client, issued({ expiresAt: now() + 100 })))
    expect((await flow.photos(accessToken)).status).toBe(200)
  })

  test('of 64 at once at two servers, in which each found none before it, is one', async () => {
    const gate = new Gate()
    const store = memoryStore()
    const write: Store['write'] = async (key, ...words) => {
      if (key.startsWith('authorization:') && gate.waiting < 64) {
        if (gate.waiting === 63) gate.open()
        await gate.pass()
      }
      return store.write(key, ...words)
    }
    const shared = { ...withoutLimits, store: but(store, { write }), storeDeadline: 60 }
    const one = moving(setStage, shared)
    const other = application({
      ...canonicalOptions,
      ...shared,
      clock: one.clock.read,
      authorizations: true,
      clients: [photoPrint.registration],
      plugins: [javascript.make(one.usual)],
    })
    const text = one.issued()
    const flows = Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? one : other).flow)
    const answers = await Promise.all(flows.map((flow) => flow.refresh(photoPrint, text)))
    const pairs = answers.map(tokensOf).map((each) => `${each.accessToken} ${each.refreshToken}`)
    expect(new Set(pairs).size).toBe(1)
    expect(await one.listed()).toHaveLength(1)
    one.clock.advance(31)
    expect(outcomeOf(await other.flow.refresh(photoPrint, text))).toBe('400 invalid_grant')
    expect(await one.listed()).toEqual([])
  })

  test('that is slow, and finds the grant moved and refreshed meanwhile, is no theft', async () => {
    const set = moving(setStage)
    const text = set.issued()
    const { write } = set.store
    let latest = ''
    set.store.write = async (key, ...words) => {
      if (!key.startsWith('authorization:')) return write(key, ...words)
      set.store.write = write
      const { refreshToken } = tokensOf(await set.flow.refresh(photoPrint, text))
      latest = tokensOf(await set.flow.refresh(photoPrint, refreshToken)).accessToken
      return write(key, ...words)
    }
    expect(outcomeOf(await set.flow.refresh(photoPrint, text))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: 'refresh_token_superseded' }])
    expect((await set.flow.photos(latest)).status).toBe(200)
  })

  test('that the owner revokes while it is under way gives nothing', async () => {
    const set = moving(setStage)
    const { read } = set.store
    set.store.read = async (key) => {
      const found = await read(key)
      if (!key.startsWith('owner:')) return found
      set.store.read = read
      await set.oauth.authorizations.revokeAll('alice')
      return found
    }
    expect(outcomeOf(await set.flow.refresh(photoPrint, set.issued()))).toBe('400 invalid_grant')
    expect(await set.listed()).toEqual([])
  })
})

describe('A guard of another process', () => {
  test('takes access tokens of the other server with the same plug-in, and needs the store', async () => {
    const { usual, issued, store, clock, oauth, grant } = moving(setStage)
    const options = { issuer: 'http://localhost', clock: clock.read, plugins: [javascript.make(usual)] }
    const app = express()
    app.use(createBearerGuard({ ...options, store, authorizations: true })('photos:read'))
    app.use((request, response) => void response.json(request.oauth))
    const flow = new Flow(app)
    const text = issued()
    expect((await flow.photos(text)).body).toMatchObject({ clientId: grant.clientId, subject: grant.subject })
    await oauth.authorizations.revokeAll('alice')
    expect((await flow.photos(text)).status).toBe(401)
    const introspection = { client: { client_id: 'x', client_secret: 'x'.repeat(32) } }
    expect(mistakesIn(() => createBearerGuard({ ...options, introspection }))).toEqual([
      'plugins[0] cannot be opened: needs the option store of the guard.',
    ])
  })
})

test('legacyTokens() lists every mistake in its options, and takes no later end than revocations are remembered', () => {
  expect(
    mistakesIn(() => javascript.make({ form: 'x', findRefresh: 1, revoke: true, found: 1 })).map(
      (each) => each.split(' ')[0],
    ),
  ).toEqual(['form', 'until', 'findAccess', 'findRefresh', 'revoke', 'found'])
  const late = Math.floor(Date.now() / 1000) + 61 * day
  expect(mistakesIn(() => moving(setStage, {}, { until: late }))).toEqual([
    'plugins[0] cannot be opened: has until later than 5184000 seconds from now, twice the longest of the lifetimes: choose an earlier one, in seconds, not in milliseconds.',
  ])
  expect(
    mistakesIn(() => moving(setStage, { lifetimes: { refreshToken: 31 * day } }, { until: late })),
  ).toEqual([])
})
