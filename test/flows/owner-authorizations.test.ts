import type { OwnerAuthorizations } from '../../lib/index'
import { implicit, jwtBearer } from '../../lib/index'
import { claimsAt, hub, issuers, jwt } from '../support/assertions/jwt'
import { bent, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { application } from '../support/flows/application'
import { outcomeOf } from '../support/flows/outcome'
import { waitUntil } from '../support/wait-until'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'

const day = 24 * 3600

describeOnStores('oauth.authorizations', (stage) => {
  const open = (...[options]: Parameters<SetStage>) => stage({ authorizations: true, ...options })

  test('lists what an owner has approved: client, scope, since when, and the day of the last tokens', async () => {
    const { flow, oauth, clock } = open()
    const approvedAt = Math.floor(clock.read() / 1000)
    await flow.tokens(photoPrint, { scope: 'photos:read' })
    const { refreshToken } = await flow.tokens(photoBook)
    await flow.tokens(photoPrint, {}, 'bob')
    clock.advance(3 * day)
    await flow.refresh(photoBook, refreshToken)
    const { authorizations, next } = await oauth.authorizations.list('alice')
    const refreshedAt = approvedAt + 3 * day
    expect(authorizations.toSorted((one, other) => one.clientId.localeCompare(other.clientId))).toEqual([
      {
        authorizationId: expect.stringMatching(/^[\w-]{22}$/),
        clientId: 'photo-book',
        scope: ['photos:read', 'photos:print'],
        choice: undefined,
        resources: [],
        grantedAt: approvedAt,
        lastIssuedOn: refreshedAt - (refreshedAt % day),
        expiresAt: refreshedAt + 30 * day,
      },
      expect.objectContaining({
        clientId: 'photo-print',
        scope: ['photos:read'],
        grantedAt: approvedAt,
        lastIssuedOn: approvedAt - (approvedAt % day),
      }),
    ])
    expect(next).toBeUndefined()
  })

  test('lists no authorization that has ended, whether it expired, was revoked or was never redeemed', async () => {
    const { flow, oauth, clock } = open()
    const { accessToken } = await flow.tokens(photoPrint)
    await flow.revoke(photoPrint, accessToken)
    await flow.approve(photoBook)
    clock.advance(61)
    expect((await oauth.authorizations.list('alice')).authorizations).toEqual([])
  })

  test('lists many in parts', async () => {
    const { flow, oauth } = open({ skipConsent: () => true })
    for (let count = 0; count < 7; count++) await flow.ask(authorizationRequest(photoPrint), 'alice')
    const ids: string[] = []
    let after = ''
    for (let part = 0; part < 3; part++) {
      const { authorizations, next } = await oauth.authorizations.list('alice', { after, limit: 3 })
      ids.push(...authorizations.map(({ authorizationId }) => authorizationId))
      after = next ?? ''
    }
    expect(after).toBe('')
    expect(new Set(ids).size).toBe(7)
    expect(ids).toEqual(ids.toSorted())
  })

  test.each([0, -1, 1001, 1.5, Number.NaN])('list refuses the limit %d', async (limit) => {
    await expect(open().oauth.authorizations.list('alice', { limit })).rejects.toThrow(/from 1 to 1000/)
  })

  test('revoke ends what the owner approved for one client, and nothing else', async () => {
    const { flow, oauth } = open()
    const [print, book] = [await flow.tokens(photoPrint), await flow.tokens(photoBook)]
    const ofBob = await flow.tokens(photoPrint, {}, 'bob')
    expect(await oauth.authorizations.revoke('alice', 'photo-print')).toMatchObject({ count: 1 })
    expect((await flow.photos(print.accessToken)).status).toBe(401)
    expect(outcomeOf(await flow.refresh(photoPrint, print.refreshToken))).toBe('400 invalid_grant')
    expect((await flow.photos(book.accessToken)).status).toBe(200)
    expect((await flow.photos(ofBob.accessToken)).status).toBe(200)
    expect(await oauth.authorizations.revoke('alice', 'photo-print')).toMatchObject({ count: 0 })
  })

  test('revokeAll ends all that the owner approved, and tells an event for each', async () => {
    const { flow, oauth } = open({
      clients: [photoPrint, photoBook, photoFrame].map((each) => each.registration),
    })
    const revoked: string[] = []
    oauth.events.on('revoked', ({ clientId = '' }) => revoked.push(clientId))
    const tokens = [await flow.tokens(photoPrint), await flow.tokens(photoBook)]
    const ofBob = await flow.tokens(photoPrint, {}, 'bob')
    expect(await oauth.authorizations.revokeAll('alice')).toMatchObject({ count: 2 })
    for (const { accessToken } of tokens) expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await flow.photos(ofBob.accessToken)).status).toBe(200)
    expect(revoked.toSorted()).toEqual(['photo-book', 'photo-print'])
    expect(await oauth.authorizations.revokeAll('alice')).toMatchObject({ count: 0 })
    expect((await oauth.authorizations.list('alice')).authorizations).toEqual([])
  })

  test('revokeAll ends a code that is under way, and an approval whose owner was read before it', async () => {
    const { flow, oauth } = open()
    const code = await flow.approve(photoPrint)
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    await oauth.authorizations.revokeAll('alice')
    expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect access_denied')
  })

  test('an authorization whose creation is in flight fails after revokeAll', async () => {
    const { flow, oauth, store } = open({ skipConsent: () => true, storeDeadline: 1 })
    store.begin('hangs', 'save')
    const asked = flow.ask(authorizationRequest(photoPrint), 'alice')
    while (store.calls.save === 0) await new Promise((resolve) => setImmediate(resolve))
    store.recover()
    await oauth.authorizations.revokeAll('alice')
    await asked
    expect((await oauth.authorizations.list('alice')).authorizations).toEqual([])
  })

  test('says that it may be incomplete until nothing from before the option can live unlisted', async () => {
    const { flow, oauth, clock } = open()
    expect((await oauth.authorizations.list('alice')).isComplete).toBe(false)
    await flow.tokens(photoPrint)
    expect(await oauth.authorizations.revokeAll('alice')).toMatchObject({ isComplete: false })
    clock.advance(31 * day)
    expect((await oauth.authorizations.list('alice')).isComplete).toBe(true)
  })

  test('is complete at once if the host says that the option was on from the start', async () => {
    const { oauth } = open({ authorizations: { fromTheStart: true } })
    expect((await oauth.authorizations.list('alice')).isComplete).toBe(true)
    expect(await oauth.authorizations.revokeAll('alice')).toMatchObject({ isComplete: true })
  })

  test('knows from another process since when the index is written', async () => {
    const { oauth, clock, store } = open()
    await oauth.authorizations.list('alice')
    clock.advance(31 * day)
    const other = application({ store, clock: clock.read, storeDeadline: 10, authorizations: true })
    expect((await other.oauth.authorizations.list('alice')).isComplete).toBe(true)
  })

  test('knows since when the index is written from its start, though nobody asked before', async () => {
    const { oauth, clock } = open()
    await waitUntil('the server has started', () => oauth.ready())
    clock.advance(31 * day)
    expect((await oauth.authorizations.list('alice')).isComplete).toBe(true)
  })

  test('notes its start at a later check of readiness, if the index fails when it starts', async () => {
    const { oauth, clock, store } = open()
    store.begin('fails', 'index')
    const later = application({ store, clock: clock.read, storeDeadline: 10, authorizations: true })
    expect(await later.oauth.ready()).toBe(false)
    store.recover()
    expect(await later.oauth.ready()).toBe(true)
    expect(await oauth.ready()).toBe(true)
    clock.advance(31 * day)
    expect((await later.oauth.authorizations.list('alice')).isComplete).toBe(true)
  })

  test('reads each record once to end it', async () => {
    const { flow, oauth, store } = open({ skipConsent: () => true })
    for (let count = 0; count < 3; count++) await flow.ask(authorizationRequest(photoPrint), 'alice')
    const before = store.calls.find
    await oauth.authorizations.revokeAll('alice')
    expect(store.calls.find - before).toBe(3)
  })

  test('an authorization from before the option is listed after its next refresh', async () => {
    const { flow, clock, store } = stage()
    const { refreshToken } = await flow.tokens(photoPrint)
    const later = application({ store, clock: clock.read, storeDeadline: 10, authorizations: true })
    expect((await later.oauth.authorizations.list('alice')).authorizations).toEqual([])
    await later.flow.refresh(photoPrint, refreshToken)
    expect((await later.oauth.authorizations.list('alice')).authorizations).toHaveLength(1)
  })

  test('an authorization from before the option ends with its tokens at its next refresh after revokeAll', async () => {
    const { flow, clock, store } = stage()
    const { accessToken, refreshToken } = await flow.tokens(photoPrint)
    clock.advance(60)
    const later = application({ store, clock: clock.read, storeDeadline: 10, authorizations: true })
    await later.oauth.authorizations.revokeAll('alice')
    expect(outcomeOf(await later.flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
    expect((await later.flow.photos(accessToken)).status).toBe(401)
  })

  test('an assertion stays used after revokeAll, any number of times', async () => {
    const bearer = jwtBearer({ issuers, audience: 'http://localhost', resourceOwner: () => 'alice' })
    const trusted = bent(photoPrint, { grant_types: [bearer.name] })
    const { flow, oauth, clock } = open({ clients: [trusted.registration], grantTypes: [bearer] })
    const assertion = jwt(hub, claimsAt(Math.floor(clock.read() / 1000)))
    const request = { grant_type: bearer.name, assertion, scope: 'photos:read' }
    expect(outcomeOf(await flow.request(trusted, request))).toBe('tokens')
    expect(await oauth.authorizations.revokeAll('alice')).toMatchObject({ count: 1 })
    expect(await oauth.authorizations.revokeAll('alice')).toMatchObject({ count: 0 })
    expect(outcomeOf(await flow.request(trusted, request))).toBe('400 invalid_grant')
  })

  test('knows when the owner approved an authorization without a refresh token', async () => {
    const once = bent(photoPrint, { grant_types: ['authorization_code'] })
    const inBrowser = bent(photoBook, { grant_types: ['implicit'], response_types: ['token'] })
    const { flow, oauth, clock } = open({
      clients: [once.registration, inBrowser.registration],
      responseTypes: [implicit()],
    })
    const approvedAt = Math.floor(clock.read() / 1000)
    const code = await flow.approve(once)
    clock.advance(10)
    await flow.redeem(once, code)
    const request = { ...authorizationRequest(inBrowser), response_type: 'token' }
    await flow.decide(await flow.ask(request, 'alice'), 'approve', 'alice')
    const { authorizations } = await oauth.authorizations.list('alice')
    const times = Object.fromEntries(authorizations.map(({ clientId, grantedAt }) => [clientId, grantedAt]))
    expect(times).toEqual({ 'photo-print': approvedAt, 'photo-book': approvedAt + 10 })
  })

  test('an index that fails is temporarily_unavailable', async () => {
    const { oauth, store } = open()
    store.begin('fails', 'index')
    for (const call of [
      () => oauth.authorizations.list('alice'),
      () => oauth.authorizations.revoke('alice', 'photo-print'),
      () => oauth.authorizations.revokeAll('alice'),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'temporarily_unavailable' })
  })

  test('needs the option', async () => {
    const { authorizations } = stage().oauth
    for (const call of [
      () => authorizations.list('alice'),
      () => authorizations.revoke('alice', 'photo-print'),
      () => authorizations.revokeAll('alice'),
    ])
      await expect(call()).rejects.toThrow(/authorizations must be true/)
  })

  test('a subject or a client with an odd name works like any other', async () => {
    const odd = bent(photoPrint, { client_id: '__proto__' })
    const { flow, oauth } = open({ clients: [odd.registration] })
    await flow.tokens(odd, {}, 'constructor')
    expect(await oauth.authorizations.revoke('constructor', '__proto__')).toMatchObject({ count: 1 })
  })

  test.each<[string, keyof OwnerAuthorizations, readonly unknown[]]>([
    ['no client', 'revoke', ['alice']],
    ['an empty client', 'revoke', ['alice', '']],
    ['an empty subject', 'revoke', ['', 'photo-print']],
    ['an empty subject', 'revokeAll', ['']],
    ['no subject', 'revokeAll', []],
    ['a subject that is no text', 'list', [7]],
    ['no client', 'revokeClient', [undefined]],
  ])('%s is a mistake of %s(), and no count of 0', async (_what, name, given) => {
    const { authorizations } = open().oauth
    await expect(Reflect.apply(authorizations[name], undefined, given)).rejects.toThrow(
      new RegExp(`^authorizations\\.${name}\\(\\) needs .*(?:subject|client_id)`),
    )
  })
})
