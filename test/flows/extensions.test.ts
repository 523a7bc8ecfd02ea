import express from 'express'
import {
  createAuthorizationServer,
  type Extension,
  invalidGrant,
  invalidTarget,
  type OwnerAnswer,
} from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import request from 'supertest'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { signedFormat } from '../support/flows/signed-format'
import { describeOnStores } from '../support/flows/stores-of-run'
import { outcomeOf } from '../support/flows/outcome'
import { tokensOf, refusalOf } from '../support/flows/tokens'
import { authorizationRequest, formOf, type RepeatedFields } from '../support/flows/flow'
import { decideWith, withOptionalScope, workspaceQuestion } from '../support/flows/owner-decision'
import { codeOf } from '../support/flows/redirection'

const report = bent(nightlyReport, { may_introspect: true })
const clients = [photoBook, photoPrint, report].map(({ registration }) => registration)

/** A host's own: a client names the tenant that it acts in. */
const tenants: Extension = {
  name: 'tenants',
  authorizationParameters: ['tenant'],
  authorizationMetadata: { tenants_supported: ['north', 'south'], issuer: 'https://elsewhere.example' },
  authorize: ({ parameters }) => ({ data: parameters.get('tenant') }),
  describe: ({ authorizationData: tenant }) =>
    tenant === undefined ? undefined : { tenant, active: 'always', sub: 'mallory' },
}

describeOnStores("An extension of the host's own", (stage) => {
  test('keeps what a request named, and introspection returns it; its own members do not change', async () => {
    const { flow } = stage({ clients, plugins: [tenants] })
    const { accessToken } = await flow.tokens(photoBook, { tenant: 'north' })
    const { body } = await flow.introspect(report, accessToken)
    expect(body).toMatchObject({ active: true, sub: 'alice', tenant: 'north' })
    expect((await flow.open('/.well-known/oauth-authorization-server')).body).toMatchObject({
      issuer: 'http://localhost',
      tenants_supported: ['north', 'south'],
    })
    const other = await flow.tokens(photoBook)
    expect((await flow.introspect(report, other.accessToken)).body).not.toHaveProperty('tenant')
  })
})

test('a server that asks no resource owner leaves out what extensions add at the authorization endpoint', async () => {
  const oauth = createAuthorizationServer({
    issuer: 'http://localhost',
    scopes: { 'photos:read': 'See your photos' },
    clients: [],
    plugins: [tenants],
  })
  const app = express().use(oauth.router())
  const { body } = await request(app).get('/.well-known/oauth-authorization-server')
  expect(Object.keys(body).filter((name) => /tenant|challenge/.test(name))).toEqual([])
  expect(body).toHaveProperty('token_endpoint', 'http://localhost/token')
})

/** A host's own: a token may be for one of the approved albums alone. A token for the locked album cannot print, and is short. */
const albums: Extension = {
  name: 'albums',
  authorizationParameters: ['albums'],
  tokenParameters: ['album'],
  authorize: ({ parameters }) => ({ data: parameters.get('albums')?.split(' ') }),
  issue({ parameters, authorizationData, begins, scope }) {
    const album = parameters.get('album')
    const asked = album === undefined ? undefined : [album]
    const approved = begins ? (asked ?? ['holidays']) : authorizationData
    if (!Array.isArray(approved)) return undefined
    if (album !== undefined && !approved.includes(album))
      throw invalidTarget('album_not_approved', 'The album is not approved.')
    return {
      tokenData: asked ?? approved,
      ...(begins ? { authorizationData: approved } : {}),
      ...(album === 'locked'
        ? { lifetime: 60, scope: scope.filter((token) => token !== 'photos:print') }
        : {}),
    }
  },
  admit: ({ request: { target }, tokenData }) => {
    const [, album] = /album=(\w+)/.exec(target) ?? []
    return album === undefined || (Array.isArray(tokenData) && tokenData.includes(album))
      ? undefined
      : 'token_album'
  },
  describe({ authorizationData, tokenData }, to) {
    if (to === 'introspection') return tokenData === undefined ? undefined : { albums: tokenData }
    return { albums: tokenData ?? null, approved: authorizationData ?? null, subject: 'mallory' }
  },
}

/** A host's own: refuses each request that says `strict`. */
const strict = (refusal: () => Error): Extension => ({
  name: 'strict',
  tokenParameters: ['strict'],
  issue({ parameters }) {
    if (parameters.get('strict') !== undefined) throw refusal()
    return undefined
  },
})

const approvedAlbums = { albums: 'holidays locked' }
const allScopes = 'photos:read photos:print'

describeOnStores('An extension at the token request', (stage) => {
  const set = () => stage({ clients, plugins: [albums] })

  test('narrows the token of a code: its scope, its lifetime, and what introspection and the guard say', async () => {
    const { flow } = set()
    const code = await flow.approve(photoPrint, approvedAlbums)
    const tokens = tokensOf(await flow.redeem(photoPrint, code, { album: 'locked' }))
    expect(tokens).toMatchObject({ scope: 'photos:read', expiresIn: 60 })
    expect((await flow.introspect(report, tokens.accessToken)).body).toMatchObject({
      scope: 'photos:read',
      albums: ['locked'],
    })
    expect((await flow.photos(tokens.accessToken)).body).toMatchObject({
      albums: ['locked'],
      approved: ['holidays', 'locked'],
      subject: 'alice',
    })
    // The authorization stays as the owner approved it.
    const next = tokensOf(await flow.refresh(photoPrint, tokens.refreshToken))
    expect(next).toMatchObject({ scope: allScopes, expiresIn: 3600 })
    expect((await flow.photos(next.accessToken)).body).toHaveProperty('albums', ['holidays', 'locked'])
  })

  test('refuses a refresh, and the refresh token stays good', async () => {
    const { flow } = set()
    const { refreshToken } = await flow.tokens(photoPrint, approvedAlbums)
    for (const album of ['private', 'constructor', '__proto__'])
      expect(outcomeOf(await flow.refresh(photoPrint, refreshToken, { album }))).toBe('400 invalid_target')
    expect(outcomeOf(await flow.refresh(photoPrint, refreshToken, { album: 'locked' }))).toBe('tokens')
  })

  test('refuses a code with invalid_target as often as it likes, and the code stays good', async () => {
    const { flow } = stage({ clients, plugins: [strict(() => invalidTarget('too_strict', 'No.'))] })
    const code = await flow.approve(photoPrint)
    const wrong = () => flow.redeem(photoPrint, code, { strict: 'yes' })
    for (let time = 0; time < 6; time++) expect(outcomeOf(await wrong())).toBe('400 invalid_target')
    expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('tokens')
  })

  test('refuses a code with invalid_grant, and the fifth refusal burns it', async () => {
    const { flow } = stage({ clients, plugins: [strict(() => invalidGrant('too_strict', 'No.'))] })
    const code = await flow.approve(photoPrint)
    const wrong = () => flow.redeem(photoPrint, code, { strict: 'yes' })
    for (let time = 0; time < 5; time++) expect(outcomeOf(await wrong())).toBe('400 invalid_grant')
    expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
  })

  test('a repeated refresh gets the same token for the same album, and another one for another album', async () => {
    const { flow } = set()
    const { refreshToken } = await flow.tokens(photoPrint, approvedAlbums)
    const tokenFor = async (album?: string) =>
      tokensOf(await flow.refresh(photoPrint, refreshToken, { album })).accessToken
    const [first, again] = [await tokenFor('locked'), await tokenFor('locked')]
    const [other, otherAgain] = [await tokenFor('holidays'), await tokenFor('holidays')]
    expect(again).toBe(first)
    expect(otherAgain).toBe(other)
    expect(other).not.toBe(first)
    const seen = async (token: string) => (await flow.photos(token)).body.albums
    expect([await seen(first), await seen(other)]).toEqual([['locked'], ['holidays']])
    expect(outcomeOf(await flow.refresh(photoPrint, refreshToken, { album: 'private' }))).toBe(
      '400 invalid_target',
    )
  })

  test('keeps data with an authorization that a client begins for itself', async () => {
    const { flow } = set()
    const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
    const plain = tokensOf(await flow.request(report, grant))
    expect((await flow.photos(plain.accessToken)).body).toMatchObject({
      albums: ['holidays'],
      approved: ['holidays'],
    })
    const locked = tokensOf(await flow.request(report, { ...grant, album: 'locked' }))
    expect((await flow.photos(locked.accessToken)).body).toMatchObject({ approved: ['locked'] })
  })

  test('a guard refuses a token for another album as an unknown one; its event has the reason', async () => {
    const { flow, oauth } = set()
    const refused: string[] = []
    oauth.events.on('refused', ({ reason }) => refused.push(reason))
    const { accessToken } = await flow.tokens(photoPrint, approvedAlbums)
    const headers = { Authorization: `Bearer ${accessToken}` }
    const answer = async (query: string) => flow.open(`/photos?${query}`, undefined, headers)
    expect((await answer('album=locked')).status).toBe(200)
    const other = await answer('album=private')
    expect(other.status).toBe(401)
    expect(other.body).toEqual((await flow.photos('at_unknown')).body)
    expect(refused).toEqual(['token_album', 'token_invalid'])
  })

  test('a guard of another process knows the data by the same option, and ignores it without', async () => {
    const { flow, store, clock } = set()
    const { accessToken } = await flow.tokens(photoPrint, approvedAlbums)
    const guarded = (extensions: readonly Extension[]) => {
      const guard = createBearerGuard({
        issuer: 'http://localhost',
        store,
        plugins: [...extensions],
        clock: clock.read,
      })
      const app = express().get('/photos', guard('photos:read'), (req, res) => void res.json(req.oauth))
      return request(app).get('/photos?album=private').set('Authorization', `Bearer ${accessToken}`)
    }
    expect((await guarded([albums])).status).toBe(401)
    expect((await guarded([])).body).not.toHaveProperty('albums')
  })

  test('whose answer cannot be gives no token and spends nothing: a mistake never widens a grant', async () => {
    let answer: () => unknown = () => undefined
    const narrowing: Extension = { name: 'first', issue: () => ({ scope: ['photos:read'] }) }
    const faulty: Extension = { name: 'faulty', issue: () => unchecked(answer()) }
    const { flow, failures } = stage({ clients, plugins: [narrowing, faulty] })
    const { refreshToken } = await flow.tokens(photoPrint)
    const answers: readonly (() => unknown)[] = [
      () => ({ scope: ['photos:read', 'reports:write'] }),
      // The extension before took this one away.
      () => ({ scope: ['photos:print'] }),
      () => ({ scope: 'photos:read' }),
      () => ({ lifetime: 0.5 }),
      () => ({ tokenData: new Date() }),
      () => ({ tokenData: 'x'.repeat(20_000) }),
      () => ({ tokenType: 7 }),
      () => ({ format: '' }),
      () => ({ subject: 'mallory' }),
      () => [],
      async () => ({}),
      () => JSON.parse('{'),
    ]
    for (answer of answers)
      expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('500 server_error')
    expect(failures).toHaveLength(answers.length)
    answer = () => undefined
    expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('tokens')
  })

  test('that leaves no scope refuses the request', async () => {
    const { flow } = stage({ clients, plugins: [{ name: 'x', issue: () => ({ scope: [] }) }] })
    const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
    expect(outcomeOf(await flow.request(report, grant))).toBe('400 invalid_scope')
  })

  test('and another one agree on the type of a token, and the shortest lifetime counts', async () => {
    const signed = signedFormat('signed')
    const choosing = (...choices: readonly object[]) =>
      stage({
        clients,
        plugins: [
          { name: 'host-formats', accessTokenFormats: [signed] },
          ...choices.map((choice, at) => ({ name: `x${at}`, issue: () => choice })),
        ],
      }).flow.request(report, { grant_type: 'client_credentials', scope: 'photos:read' })
    expect((await choosing({ lifetime: 600 }, {}, { lifetime: 60 })).body).toHaveProperty('expires_in', 60)
    expect((await choosing({ format: 'signed' }, { tokenType: 'bearer' })).status).toBe(200)
    expect((await choosing({ format: 'signed' }, { format: 'opaque' })).status).toBe(500)
    expect((await choosing({ tokenType: 'bearer' }, { tokenType: 'DPoP' })).status).toBe(500)
  })

  test('sees its own data, evidence and parameters alone, whatever its name', async () => {
    const seen: unknown[] = []
    const named = (name: string, data: string): Extension => ({
      name,
      prepare: async () => data,
      authorize: () => ({ data }),
      issue: ({ authorizationData, evidence, subject, begins, scope }) =>
        void seen.push({ name, authorizationData, evidence, subject, begins, scope }),
    })
    const { flow } = stage({ clients, plugins: [named('__proto__', 'one'), named('constructor', 'two')] })
    await flow.tokens(photoBook)
    const shared = { subject: 'alice', begins: false, scope: ['photos:read', 'photos:print'] }
    expect(seen).toEqual([
      { name: '__proto__', authorizationData: 'one', evidence: 'one', ...shared },
      { name: 'constructor', authorizationData: 'two', evidence: 'two', ...shared },
    ])
  })
})

// A method, not a function type: so the checker lets through what a host wrote in JavaScript.
const javascript: { pass(value: unknown): never } = { pass: (value: never) => value }
const unchecked = (value: unknown): never => javascript.pass(value)

const asked = authorizationRequest(photoPrint)

/** An extension that asks for a team, and shows the answer to routes. */
const teams = (given: Partial<OwnerAnswer> = {}, ...values: readonly string[]): Extension => ({
  name: 'teams',
  authorize: () => ({
    data: { since: 'request' },
    question: async () => {
      const question = workspaceQuestion(...values)
      for (const answer of question.answers) Object.assign(answer, given)
      return question
    },
  }),
  describe: ({ authorizationData }) => ({ team: authorizationData ?? null }),
})

describeOnStores('An extension', (stage) => {
  test.each<[string, Partial<OwnerAnswer>, unknown]>([
    ['the value', {}, { workspace: 'b' }],
    ['its data', { data: ['of', 'b'] }, ['of', 'b']],
    ['null', { data: null }, null],
  ])('asks the owner, and keeps of the answer %s in place of its own data', async (_what, given, kept) => {
    const { flow } = stage({ plugins: [teams(given, 'a', 'b')] })
    const page = await flow.ask(asked, 'alice')
    const code = codeOf(await decideWith(flow, page, { choice: 'b' }))
    const { accessToken } = tokensOf(await flow.redeem(photoPrint, code))
    expect((await flow.photos(accessToken)).body.team).toEqual(kept)
  })

  test('shows the owner nothing of an answer but its value and label', async () => {
    const { flow } = stage({ plugins: [teams({ data: 'inner', scope: ['photos:read'] }, 'a', 'b')] })
    const view = await flow.open(`/authorize?${formOf(asked)}`, 'alice', { Accept: 'application/json' })
    expect(view.body.question.answers).toEqual(workspaceQuestion('a', 'b').answers)
  })

  test('that asks beside another one is a mistake, and no page', async () => {
    const { flow, failures } = stage({ plugins: [teams({}, 'a')], choices: () => workspaceQuestion('w1') })
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect server_error')
    expect(String(failures[0]?.cause)).toContain('both ask')
  })

  test.each([
    ['with a page', ['a', 'b'], false],
    ['with a page for one answer', ['a'], false],
    ['without a page', ['a'], true],
  ] as const)(
    'narrows what the owner approves by an answer, %s, and never widens it',
    async (_how, values, skips) => {
      const scopeWith = async (scope: readonly string[], selected: RepeatedFields = {}) => {
        const { flow } = stage({
          ...withOptionalScope,
          plugins: [teams({ scope }, ...values)],
          skipConsent: () => skips,
        })
        const first = await flow.ask(asked, 'alice')
        const ticks = { ...(values.length > 1 && { choice: 'b' }), ...selected }
        const response = outcomeOf(first) === 'question' ? await decideWith(flow, first, ticks) : first
        const outcome = outcomeOf(response)
        return outcome === 'redirect code'
          ? tokensOf(await flow.redeem(photoPrint, codeOf(response))).scope
          : outcome
      }
      const both = ['photos:read', 'photos:print']
      expect(await scopeWith(['photos:read'], { 'scope:photos:print': 'yes' })).toBe('photos:read')
      expect(await scopeWith(both)).toBe(skips ? 'photos:read photos:print' : 'photos:read')
      expect(await scopeWith(['photos:print'])).toBe(skips ? 'photos:print' : 'redirect invalid_scope')
      expect(await scopeWith([])).toBe('redirect invalid_scope')
      expect(await scopeWith([...both, 'reports:write'])).toBe('redirect server_error')
    },
  )

  test.each<Partial<OwnerAnswer>>([
    { data: unchecked(1n) },
    { data: 'a'.repeat(9_000) },
    { scope: unchecked('photos:read') },
    unchecked({ more: 'x' }),
  ])('that asks with %p in each of two answers is a mistake, and no page', async (given) => {
    const { flow, failures } = stage({ plugins: [teams(given, 'a', 'b')] })
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect server_error')
    expect(String(failures[0]?.cause)).toContain('answers must be a list of at most 100')
  })

  test('that approves without a page does not answer for the owner', async () => {
    const approving: Extension = { name: 'approving', authorize: () => ({ consent: 'approve' }) }
    let workspaces = ['w1']
    const { flow } = stage({ plugins: [approving], choices: () => workspaceQuestion(...workspaces) })
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect code')
    workspaces = ['w1', 'w2']
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('question')
  })

  // A host in JavaScript may say anything.
  const perhaps: 'end' = JSON.parse('"perhaps"')

  test.each([
    [undefined, 'tokens'],
    ['end', '400 invalid_grant'],
    [perhaps, '500 server_error'],
  ] as const)('says %s at a refresh', async (verdict, outcome) => {
    const judge: Extension = {
      name: 'judge',
      respond: async ({ grantType }) => (grantType === 'refresh_token' ? verdict : undefined),
    }
    const { flow } = stage({ plugins: [judge] })
    const { refreshToken } = await flow.tokens(photoPrint)
    const response = await flow.refresh(photoPrint, refreshToken)
    expect(response.status === 200 ? 'tokens' : refusalOf(response)).toBe(outcome)
  })

  test.each(['consent-offer', 'choices'])('may not have the name %s, which the server uses', (name) => {
    expect(() => stage({ plugins: [{ name, describe: () => undefined }] })).toThrow(/plugins\[0\]\.name is "/)
  })
})
