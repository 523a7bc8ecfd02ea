import request, { type Response } from 'supertest'
import { type AuthorizationServerOptions, type ClientRegistration, implicit } from '../../lib/index'
import { metadataDocuments } from '../../lib/paths/registration'
import { application, type Application, canonicalOptions } from '../support/flows/application'
import { bent, type ClientApplication, photoBook, photoPrint } from '../support/flows/clients'
import { but } from '../support/stores/but'
import { DocumentOrigin } from '../support/flows/document-origin'
import { authorizationRequest, formOf, type RepeatedFields } from '../support/flows/flow'
import { claimsIn, identityStage, relyingParty } from '../support/flows/identity-stage'
import { outcomeOf } from '../support/flows/outcome'
import { answersOf, decideWith, withOptionalScope, workspaceQuestion } from '../support/flows/owner-decision'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { gallery, photosApi, printApi, withResources } from '../support/flows/resources'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

const day = 24 * 3600
const already = 'You have allowed this already'

/** Asks as a client does, and says what came: a page (`question`) or a code. */
const askAs = async (
  { flow }: Pick<Stage, 'flow'>,
  client: ClientApplication,
  bend: RepeatedFields = {},
  owner = 'alice',
) => outcomeOf(await flow.ask({ ...authorizationRequest(client), ...bend }, owner))

/** What comes of each request of alice's, one after the other. */
async function askEach(set: Pick<Stage, 'flow'>, client: ClientApplication, ...bends: RepeatedFields[]) {
  const outcomes: string[] = []
  for (const bend of bends) outcomes.push(await askAs(set, client, bend))
  return outcomes
}

const [read, print] = [{ scope: 'photos:read' }, { scope: 'photos:print' }]

/** The owner approves on the page, and a second passes. */
async function approve(
  { flow, clock }: Stage,
  client: ClientApplication,
  bend: RepeatedFields = {},
  selected: RepeatedFields = {},
  owner = 'alice',
): Promise<Response> {
  const page = await flow.ask({ ...authorizationRequest(client), ...bend }, owner)
  expect(outcomeOf(page)).toBe('question')
  const response = await decideWith(flow, page, selected, 'approve', owner)
  clock.advance(1)
  return response
}

describeOnStores('A remembered consent', (stage) => {
  const open = (...[options]: Parameters<SetStage>) => stage({ rememberConsent: true, ...options })

  test('lets the same request pass without a page, also with prompt=none, for this owner and this client alone', async () => {
    const set = open()
    const asked = await set.flow.ask(authorizationRequest(photoPrint), 'alice')
    expect(asked.text).not.toContain(already)
    expect(await askAs(set, photoPrint, { prompt: 'none' })).toBe('redirect consent_required')
    await approve(set, photoPrint)
    const response = await set.flow.ask(authorizationRequest(photoPrint), 'alice')
    const { accessToken } = tokensOf(await set.flow.redeem(photoPrint, codeOf(response)))
    expect((await set.flow.photos(accessToken)).body).toMatchObject({ subject: 'alice' })
    expect(await askEach(set, photoPrint, { prompt: 'none' }, { prompt: 'consent' })).toEqual([
      'redirect code',
      'question',
    ])
    const ofBob = await set.flow.ask(authorizationRequest(photoPrint), 'bob')
    expect([outcomeOf(ofBob), ofBob.text.includes(already)]).toEqual(['question', false])
    expect(await askAs(set, photoPrint, { prompt: 'none' }, 'bob')).toBe('redirect consent_required')
    expect(await askAs(set, photoBook)).toBe('question')
  })

  test('covers a smaller scope, and not a larger one, whose page says what was allowed before; both pages count then', async () => {
    const set = open()
    await approve(set, photoPrint, read)
    const page = await set.flow.ask(authorizationRequest(photoPrint), 'alice')
    expect(page.text).toMatch(/Print your photos[^]*You have allowed this already[^]*See your photos/)
    expect(await askEach(set, photoPrint, read, print)).toEqual(['redirect code', 'question'])
    await approve(set, photoPrint, print)
    expect(await askEach(set, photoPrint, {}, print)).toEqual(['redirect code', 'redirect code'])
  })

  test('comes from JSON as from the page, and the view says what was allowed before', async () => {
    const set = open()
    const json = { Accept: 'application/json' }
    const ask = async (scope: string) =>
      set.flow.open(`/authorize?${formOf({ ...authorizationRequest(photoBook), scope })}`, 'alice', json)
    const { body: view } = await ask('photos:read')
    expect(view.scope).toMatchObject([{ token: 'photos:read', allowedBefore: false }])
    const decision = { ...view.fields, decision: 'approve' }
    expect((await set.flow.submit('/authorize', decision, 'alice', json)).body.redirect_to).toBeDefined()
    expect((await ask('photos:read photos:print')).body.scope).toMatchObject([
      { token: 'photos:read', allowedBefore: true },
      { token: 'photos:print', allowedBefore: false },
    ])
    expect((await ask('photos:read')).status).toBe(303)
  })

  test('has no unticked scope, and forgets one that the owner leaves out later', async () => {
    const set = open(withOptionalScope)
    for (const [bend, boxes, whole] of [
      [{}, {}, 'question'],
      [{}, { 'scope:photos:print': 'yes' }, 'redirect code'],
      [{ prompt: 'consent' }, {}, 'question'],
    ] as const) {
      await approve(set, photoBook, bend, boxes)
      expect(await askEach(set, photoBook, {}, read)).toEqual([whole, 'redirect code'])
    }
  })

  test('ends after its seconds, however often it was used, and no later decision renews what it did not show', async () => {
    const set = open({ rememberConsent: { seconds: 10 * day } })
    await approve(set, photoPrint, read)
    set.clock.advance(9 * day)
    await approve(set, photoPrint, print)
    expect(await askAs(set, photoPrint)).toBe('redirect code')
    set.clock.advance(day)
    expect(await askEach(set, photoPrint, read, print)).toEqual(['question', 'redirect code'])
  })

  test('lasts for a year by default', async () => {
    const set = open()
    await approve(set, photoPrint, read)
    set.clock.advance(365 * day - 2)
    expect(await askAs(set, photoPrint, read)).toBe('redirect code')
    set.clock.advance(1)
    expect(await askAs(set, photoPrint, read)).toBe('question')
  })

  test('is not made by skipConsent, by a refusal or by a decision that is refused, and survives a refusal', async () => {
    let skips = true
    const set = open({ skipConsent: () => skips })
    expect(await askAs(set, photoPrint)).toBe('redirect code')
    skips = false
    const page = await set.flow.ask(authorizationRequest(photoPrint), 'alice')
    expect(outcomeOf(await set.flow.decide(page, 'approve', 'bob'))).toMatch(/^page 400/)
    expect(outcomeOf(await set.flow.decide(page, 'deny', 'alice'))).toBe('redirect access_denied')
    for (const owner of ['alice', 'bob']) expect(await askAs(set, photoPrint, {}, owner)).toBe('question')
    await approve(set, photoPrint)
    const again = await set.flow.ask({ ...authorizationRequest(photoPrint), prompt: 'consent' }, 'alice')
    await set.flow.decide(again, 'deny', 'alice')
    expect(await askAs(set, photoPrint)).toBe('redirect code')
  })

  test('is nothing without the option', async () => {
    const set = stage()
    await approve(set, photoPrint)
    expect(await askAs(set, photoPrint)).toBe('question')
  })
})

describeOnStores('A consent is never remembered', (stage) => {
  test.each<[string, Partial<ClientRegistration>, RepeatedFields]>([
    ['on loopback', { redirect_uris: ['http://127.0.0.1/callback'], loopback_redirect_uris: true }, {}],
    ['with a scheme of its own', { redirect_uris: ['com.example.book:/callback'] }, {}],
    [
      'that gets a token in the response',
      { grant_types: ['authorization_code', 'implicit'], response_types: ['code', 'token'] },
      { response_type: 'token' },
    ],
  ])('for a public client %s', async (_where, registered, bend) => {
    const client = bent(photoBook, registered)
    const clients = [client.registration]
    const set = stage({ rememberConsent: true, clients, plugins: [implicit()] })
    await approve(set, client, bend)
    expect(await askAs(set, client, bend)).toBe('question')
  })

  test('for a client that registered itself, also a confidential one', async () => {
    const set = stage({ rememberConsent: true, dynamicRegistration: {} })
    const metadata = { redirect_uris: ['https://app.example/callback'], scope: 'photos:read' }
    const { body } = await request(set.app).post('/register').send(metadata)
    expect(body.client_secret).toBeDefined()
    const registration = {
      client_id: String(body.client_id),
      client_type: 'confidential',
      redirect_uris: metadata.redirect_uris,
      scope: 'photos:read',
    } satisfies ClientRegistration
    await approve(set, { registration })
    expect(await askAs(set, { registration })).toBe('question')
  })
})

describeOnStores('A consent for one resource or choice', (stage) => {
  const open = (options: Partial<AuthorizationServerOptions>) => stage({ rememberConsent: true, ...options })
  const scope = 'photos:read'

  test('covers each resource of its page and nothing of another one, and pages for two resources cover both', async () => {
    const set = open({ ...withResources(), defaultResource: photosApi })
    const [photos, prints] = [photosApi, printApi].map((resource) => ({ scope, resource }))
    const both = { scope, resource: [printApi, photosApi] }
    await approve(set, gallery, photos)
    expect(await askEach(set, gallery, photos ?? {}, prints ?? {}, both)).toEqual([
      'redirect code',
      'question',
      'question',
    ])
    const page = await set.flow.ask({ ...authorizationRequest(gallery), ...prints }, 'alice')
    expect(page.text).not.toContain(already)
    await approve(set, gallery, prints)
    expect(await askAs(set, gallery, both)).toBe('redirect code')
    const other = open({ ...withResources(), defaultResource: photosApi })
    await approve(other, gallery, both)
    expect(await askAs(other, gallery, prints)).toBe('redirect code')
  })

  const offers = (...workspaces: string[]) => ({ choices: () => workspaceQuestion(...workspaces) })

  test('gives the same answer again, as long as this question offers it', async () => {
    let name = 'workspace'
    let offered = ['w1', 'w2']
    const set = open({ choices: () => ({ ...workspaceQuestion(...offered), name }) })
    await approve(set, photoPrint, {}, { choice: 'w2' })
    const response = await set.flow.ask(authorizationRequest(photoPrint), 'alice')
    const { accessToken } = tokensOf(await set.flow.redeem(photoPrint, codeOf(response)))
    expect((await set.flow.photos(accessToken)).body.choice).toEqual({ workspace: 'w2' })
    const outcomes = () => askEach(set, photoPrint, {}, { prompt: 'none' })
    offered = ['w1', 'w3']
    expect(await outcomes()).toEqual(['question', 'redirect interaction_required'])
    offered = ['w1']
    expect(await outcomes()).toEqual(['question', 'redirect consent_required'])
    offered = ['w1', 'w2']
    name = 'account'
    expect(await outcomes()).toEqual(['question', 'redirect interaction_required'])
    name = 'workspace'
    await approve(set, photoPrint, { prompt: 'consent' }, { choice: 'w1' })
    // Two answers are remembered by now.
    expect(await outcomes()).toEqual(['question', 'redirect interaction_required'])
  })

  test('gives no scope for another choice, and its page asks for the choice again', async () => {
    const set = open(offers('w1', 'w2'))
    await approve(set, photoPrint, { scope: 'photos:read' }, { choice: 'w1' })
    expect(await askAs(set, photoPrint, { prompt: 'none' })).toBe('redirect consent_required')
    const page = await set.flow.ask(authorizationRequest(photoPrint), 'alice')
    expect(answersOf(page)).toEqual(['w1', 'w2'])
    expect(page.text).not.toContain(already)
    await decideWith(set.flow, page, { choice: 'w2' })
    expect(await askAs(set, photoPrint)).toBe('question')
  })

  test('lets skipConsent decide about a remembered answer, and about no other', async () => {
    const choices: unknown[] = []
    const set = open({
      ...offers('w1', 'w2'),
      skipConsent: (_request, { choice }) => {
        choices.push(choice)
        return true
      },
    })
    await approve(set, photoPrint, { scope: 'photos:read' }, { choice: 'w1' })
    expect(choices).toEqual([])
    expect(await askAs(set, photoPrint)).toBe('redirect code')
    expect(choices).toEqual([{ workspace: 'w1' }])
  })
})

describeOnStores('A consent and single claims', (stage) => {
  const known = { email: 'a@example.com', birthdate: '1990-01-01', phone_number: '+1' }
  const claims = async () => known
  const open = (options: Partial<AuthorizationServerOptions> = {}) =>
    identityStage(stage)(
      { rememberConsent: true, authorizations: true, ...options },
      { claims, claimsParameter: true },
    )
  const asking = (scope: string, userinfo: readonly string[], id_token: readonly string[] = userinfo) => {
    const members = { userinfo, id_token }
    const named = Object.entries(members).map(([member, names]) => [
      member,
      Object.fromEntries(names.map((name) => [name, null])),
    ])
    return { scope, claims: JSON.stringify(Object.fromEntries(named)) }
  }
  const asks = (set: Stage, bend: RepeatedFields) => askAs(set, relyingParty, { ...bend, prompt: 'none' })
  /** The claims that a client gets by a code: in the ID token and at UserInfo. */
  const got = async (set: Stage, code: string) => {
    const { body } = await set.flow.redeem(relyingParty, code)
    const { body: told } = await set.flow.open('/userinfo', '', {
      Authorization: `Bearer ${body.access_token}`,
    })
    return [claimsIn(body.id_token), told].map((all) => Object.keys(known).filter((name) => name in all))
  }

  test('the page names each claim beyond the scope, and the memory covers each by itself', async () => {
    const set = open()
    await approve(set, relyingParty, { scope: 'openid' })
    const both = asking('openid', ['birthdate'], ['phone_number', 'birthdate', 'sub', 'acr'])
    expect(await asks(set, both)).toBe('redirect consent_required')
    const page = await set.flow.ask({ ...authorizationRequest(relyingParty), ...both }, 'alice')
    expect(page.text).toMatch(/About you.*phone number.*birthdate/s)
    expect(page.text).not.toMatch(/>(sub|acr)</)
    const hostile = { ...authorizationRequest(relyingParty), ...asking('openid', ['This app is safe.']) }
    expect((await set.flow.ask(hostile, 'alice')).text).not.toContain('This app is safe')
    await approve(set, relyingParty, both)
    for (const covered of [both, asking('openid', ['birthdate']), { scope: 'openid' }])
      expect(await asks(set, covered)).toBe('redirect code')
    const { consents } = await set.oauth.authorizations.list('alice')
    expect(consents).toMatchObject([{ scope: ['openid'], claims: ['birthdate', 'phone_number'] }])
    expect((await set.flow.open('/authorizations', 'alice')).text).toMatch(/About you.*phone number/s)
    expect(await asks(set, asking('openid', ['email', 'birthdate']))).toBe('redirect consent_required')
    const response = await set.flow.ask({ ...authorizationRequest(relyingParty), ...both }, 'alice')
    expect(await got(set, codeOf(response))).toEqual([['birthdate', 'phone_number'], ['birthdate']])
  })

  test('a claim of a scope that the page shows needs no words, and goes with the scope', async () => {
    const scopes = { openid: 'Know you', email: { description: 'See your address', optional: true } }
    const clients = [relyingParty.registration]
    const set = open({
      scopes: { ...canonicalOptions.scopes, phone: 'Call', profile: 'See', address: 'Visit', ...scopes },
      clients,
    })
    const both = asking('openid email', ['email'])
    const page = await set.flow.ask({ ...authorizationRequest(relyingParty), ...both }, 'alice')
    expect(page.text).not.toContain('About you')
    expect(await got(set, codeOf(await decideWith(set.flow, page, {})))).toEqual([[], []])
    const ticked = { 'scope:email': 'yes' }
    expect(await got(set, codeOf(await approve(set, relyingParty, both, ticked)))).toEqual([
      ['email'],
      ['email'],
    ])
  })
})

describeOnStores('A remembered consent is forgotten', (stage) => {
  const open = (...[options]: Parameters<SetStage>) =>
    stage({ rememberConsent: true, authorizations: true, ...options })

  test('when a server of the issuer revokes an authorization of it, and only for its client', async () => {
    const set = open()
    const [id, other] = [await approvedId(set, photoPrint), await approvedId(set, photoBook)]
    await set.oauth.revoke(id)
    expect(await askAs(set, photoPrint)).toBe('question')
    expect(await askAs(set, photoBook)).toBe('redirect code')
    // One that remembers nothing itself.
    await application({ store: set.store, clock: set.clock.read, storeDeadline: 10 }).oauth.revoke(other)
    expect(await askAs(set, photoBook)).toBe('question')
  })

  test('by revoke for an owner and a client, also where no authorization lives, and by revokeAll for every client', async () => {
    const set = open()
    for (const client of [photoPrint, photoBook]) await approve(set, client)
    await approve(set, photoPrint, {}, {}, 'bob')
    set.clock.advance(61)
    expect(await set.oauth.authorizations.revoke('alice', 'photo-print')).toMatchObject({ count: 0 })
    expect(await askAs(set, photoPrint)).toBe('question')
    expect(await askAs(set, photoPrint, {}, 'bob')).toBe('redirect code')
    set.clock.advance(1)
    await approve(set, photoPrint)
    expect(await askAs(set, photoPrint)).toBe('redirect code')
    await set.oauth.authorizations.revokeAll('alice')
    set.clock.advance(2)
    for (const client of [photoPrint, photoBook]) expect(await askAs(set, client)).toBe('question')
    expect(await askAs(set, photoPrint, {}, 'bob')).toBe('redirect code')
  })

  test('by revokeClient, for every owner, and for as long as a consent counts', async () => {
    const set = open()
    for (const owner of ['alice', 'bob']) await approve(set, photoPrint, {}, {}, owner)
    await set.oauth.authorizations.revokeClient('photo-print')
    set.clock.advance(300 * day)
    for (const owner of ['alice', 'bob']) expect(await askAs(set, photoPrint, {}, owner)).toBe('question')
    await approve(set, photoPrint)
    expect(await askAs(set, photoPrint)).toBe('redirect code')
  })

  test('not when the client revokes its own tokens', async () => {
    const set = open()
    const { refreshToken } = tokensOf(
      await set.flow.redeem(photoPrint, codeOf(await approve(set, photoPrint))),
    )
    await set.flow.revoke(photoPrint, refreshToken)
    expect(await askAs(set, photoPrint)).toBe('redirect code')
  })

  test.each<[string, Partial<ClientRegistration>, string]>([
    ['changes a destination', { redirect_uris: ['https://other.example/callback'] }, 'question'],
    [
      'adds a destination',
      { redirect_uris: [...photoPrint.registration.redirect_uris, 'https://other.example/callback'] },
      'question',
    ],
    ['changes its authentication', { token_endpoint_auth_method: 'client_secret_post' }, 'question'],
    ['takes any query at its destinations', { dynamic_redirect_query: true }, 'question'],
    ['may leave without TLS', { insecure_redirect_uris: true }, 'question'],
    ['changes its name', { client_name: 'Photo Print 2' }, 'redirect code'],
  ])('if the client %s: %s', async (_what, change, outcome) => {
    const set = open()
    await approve(set, photoPrint)
    const changed = bent(photoPrint, change)
    const { store, clock } = set
    const always = { store, clock: clock.read, storeDeadline: 10, rememberConsent: true }
    const other = application({ ...always, clients: [changed.registration] })
    expect(await askAs(other, changed)).toBe(outcome)
    // Also if the client changes back: somebody else may have had it in between.
    expect(await askAs(set, photoPrint)).toBe(outcome)
  })

  test('if the document of a client changes its destinations, and it is remembered until then', async () => {
    const origin = await DocumentOrigin.start()
    try {
      const set = open({ clients: metadataDocuments(origin.reach) })
      const client = bent(origin.client, { redirect_uris: ['https://notes.example/callback'] })
      await approve(set, client)
      expect(await askAs(set, client)).toBe('redirect code')
      origin.members = { redirect_uris: ['https://notes.example/callback', 'https://evil.example/callback'] }
      set.clock.advance(day)
      expect(await askAs(set, client)).toBe('question')
    } finally {
      await origin.stop()
    }
  })
})

/** Approves on the page, redeems the code, and resolves to the id of the authorization. */
async function approvedId(set: Stage, client: ClientApplication): Promise<string> {
  const { accessToken } = tokensOf(await set.flow.redeem(client, codeOf(await approve(set, client))))
  return String((await set.flow.photos(accessToken)).body.authorizationId)
}

/** Lets another server of the issuer act once, after the next call of this kind. */
function actAfter(
  { store, clock }: Stage,
  verb: 'read' | 'write',
  start: 'owner:' | 'authorization:',
  act: (other: Pick<Application, 'oauth' | 'flow'>) => Promise<unknown>,
): { happened: boolean } {
  const { read: find, write } = store
  const other = application({
    ...withOptionalScope,
    store: but(store, { read: find, write }),
    clock: clock.read,
    storeDeadline: 10,
    rememberConsent: true,
    authorizations: true,
  })
  const state = { happened: false }
  const acting = async <T>(called: string, key: string, call: () => Promise<T>): Promise<T> => {
    const result = await call()
    if (called === verb && key.startsWith(start) && !state.happened) {
      state.happened = true
      await act(other)
    }
    return result
  }
  store.read = (key) => acting('read', key, () => find(key))
  store.write = (key, ...words) => acting('write', key, () => write(key, ...words))
  return state
}

describeOnStores('Between a decision and the memory of it', (stage) => {
  const open = (options: Partial<AuthorizationServerOptions> = {}) =>
    stage({ rememberConsent: true, authorizations: true, ...options })

  test('revokeAll wins: an approval whose owner was read before it is not remembered', async () => {
    const set = open()
    const { oauth, flow } = set
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    // Between the approval and the write of the memory.
    const revoked = actAfter(set, 'write', 'authorization:', (other) =>
      other.oauth.authorizations.revokeAll('alice'),
    )
    codeOf(await flow.decide(page, 'approve', 'alice'))
    expect(revoked.happened).toBe(true)
    set.clock.advance(2)
    expect(await askAs(set, photoPrint)).toBe('question')
    expect((await oauth.authorizations.list('alice')).authorizations).toEqual([])
  })

  test.each<[string, Partial<AuthorizationServerOptions>, RepeatedFields, RepeatedFields]>([
    ['a consent', {}, {}, { prompt: 'none' }],
    [
      'an answer that skipConsent uses',
      { choices: () => workspaceQuestion('w1', 'w2'), skipConsent: () => true },
      { choice: 'w2' },
      {},
    ],
  ])(
    '%s that is taken back while it approves a request gives no code',
    async (_what, options, selected, bend) => {
      const set = open(options)
      await approve(set, photoPrint, {}, selected)
      const revoked = actAfter(set, 'read', 'owner:', ({ oauth }) =>
        oauth.authorizations.revoke('alice', 'photo-print'),
      )
      expect(await askAs(set, photoPrint, bend)).toBe('redirect access_denied')
      expect(revoked.happened).toBe(true)
      expect((await set.oauth.authorizations.list('alice')).authorizations).toEqual([])
    },
  )

  test('a scope that the owner leaves out in another tab meanwhile gives no code', async () => {
    const set = open(withOptionalScope)
    await approve(set, photoBook, {}, { 'scope:photos:print': 'yes' })
    const again = { ...authorizationRequest(photoBook), prompt: 'consent' }
    const page = await set.flow.ask(again, 'alice')
    actAfter(set, 'read', 'owner:', ({ flow }) => decideWith(flow, page, {}))
    expect(await askAs(set, photoBook)).toBe('redirect access_denied')
    expect(await askAs(set, photoBook, { scope: 'photos:read' })).toBe('redirect code')
  })

  test('a store that fails leaves the approval as it is, and tells an event', async () => {
    const set = open()
    const { store, flow, failures } = set
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    actAfter(set, 'write', 'authorization:', async () => store.begin('fails', 'owner'))
    codeOf(await flow.decide(page, 'approve', 'alice'))
    expect(failures).toMatchObject([
      { code: 'temporarily_unavailable', reason: 'consent_not_remembered', clientId: 'photo-print' },
    ])
    store.recover()
    expect(await askAs(set, photoPrint)).toBe('question')
  })

  test('a store that fails at a request is temporarily_unavailable, and revokes nothing', async () => {
    const set = open()
    const id = await approvedId(set, photoPrint)
    set.store.begin('fails', 'owner')
    const response = await set.flow.ask(authorizationRequest(photoPrint), 'alice')
    expect(redirectionOf(response).parameters['error']).toBe('temporarily_unavailable')
    await expect(set.oauth.revoke(id)).rejects.toMatchObject({ code: 'temporarily_unavailable' })
    await expect(set.oauth.authorizations.revokeAll('alice')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
    })
    set.store.recover()
    expect((await set.oauth.authorizations.list('alice')).authorizations).not.toEqual([])
  })

  test('revoke waits for a record that cannot be read, because the record names whose consent it forgets', async () => {
    const set = open()
    const id = await approvedId(set, photoPrint)
    set.store.begin('fails', 'read')
    await expect(set.oauth.revoke(id)).rejects.toMatchObject({ code: 'temporarily_unavailable' })
    set.store.recover()
    await set.oauth.revoke(id)
    expect((await set.oauth.authorizations.list('alice')).authorizations).toEqual([])
    expect(await askAs(set, photoPrint)).toBe('question')
  })
})
