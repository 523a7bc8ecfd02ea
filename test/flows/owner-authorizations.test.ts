import type { OwnerAuthorizations } from '../../lib/index'
import { implicit } from '../../lib/index'
import { password } from '../../lib/paths/grants'
import type { Plugin, PluginServer } from '../../lib/index'
import { codeOf } from '../support/flows/redirection'
import { bent, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { application } from '../support/flows/application'
import { failAt } from '../support/flows/fail-at'
import { Gate } from '../support/flows/gate'
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

  test.each([0, 1001, 1.5])('list refuses the limit %d', async (limit) => {
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
    const { flow, oauth, store } = open({ skipConsent: () => true })
    const gate = new Gate()
    const { write } = store
    store.write = async (key, ...words) => {
      if (key.startsWith('authorization:')) await gate.pass()
      return write(key, ...words)
    }
    const asked = flow.ask(authorizationRequest(photoPrint), 'alice')
    await waitUntil('the record is on its way', async () => gate.waiting > 0)
    await oauth.authorizations.revokeAll('alice')
    gate.open()
    expect(outcomeOf(await asked)).toBe('redirect temporarily_unavailable')
    expect((await oauth.authorizations.list('alice')).authorizations).toEqual([])
  })

  test('says that it may be incomplete until nothing from before the option can live unlisted, in every process', async () => {
    const { flow, oauth, clock, store } = open()
    await waitUntil('the server has started', () => oauth.ready())
    await flow.tokens(photoPrint)
    expect((await oauth.authorizations.list('alice')).isComplete).toBe(false)
    expect(await oauth.authorizations.revokeAll('alice')).toMatchObject({ isComplete: false })
    const { authorizations } = open({ authorizations: { fromTheStart: true } }).oauth
    expect((await authorizations.list('alice')).isComplete).toBe(true)
    clock.advance(31 * day)
    const other = application({ store, clock: clock.read, storeDeadline: 10, authorizations: true })
    for (const each of [oauth, other.oauth])
      expect((await each.authorizations.list('alice')).isComplete).toBe(true)
  })

  test('notes its start at a later check of readiness, if the store fails when it starts', async () => {
    const { oauth, clock, store } = open()
    const recover = failAt(store, 'since:')
    const later = application({ store, clock: clock.read, storeDeadline: 10, authorizations: true })
    expect(await later.oauth.ready()).toBe(false)
    recover()
    expect(await later.oauth.ready()).toBe(true)
    expect(await oauth.ready()).toBe(true)
    clock.advance(31 * day)
    expect((await later.oauth.authorizations.list('alice')).isComplete).toBe(true)
  })

  test('an authorization from before the option is listed after its next refresh, and ends at it after revokeAll', async () => {
    const { flow, clock, store } = stage()
    const { accessToken, refreshToken } = await flow.tokens(photoPrint)
    const ofBob = await flow.tokens(photoPrint, {}, 'bob')
    clock.advance(60)
    const later = application({ store, clock: clock.read, storeDeadline: 10, authorizations: true })
    const listed = async (owner: string) =>
      (await later.oauth.authorizations.list(owner)).authorizations.length
    expect([await listed('alice'), await listed('bob')]).toEqual([0, 0])
    await later.flow.refresh(photoPrint, ofBob.refreshToken)
    await later.oauth.authorizations.revokeAll('alice')
    expect(outcomeOf(await later.flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
    expect((await later.flow.photos(accessToken)).status).toBe(401)
    expect([await listed('alice'), await listed('bob')]).toEqual([0, 1])
  })

  test('an authorization that is refreshed stays on the list for as long as it lives, and one that ended leaves it', async () => {
    const { flow, oauth, clock } = open()
    let { refreshToken } = await flow.tokens(photoPrint)
    const revoked = await flow.tokens(photoBook)
    await flow.revoke(photoBook, revoked.accessToken)
    await flow.approve(photoFrame)
    for (let month = 0; month < 4; month++) {
      clock.advance(29 * day)
      refreshToken = (await flow.refresh(photoPrint, refreshToken)).body.refresh_token
    }
    const { authorizations } = await oauth.authorizations.list('alice')
    expect(authorizations.map(({ clientId }) => clientId)).toEqual(['photo-print'])
  })

  test('has no page that is open, no denial and no client that acts for itself, and every approval without a page', async () => {
    const trusted = bent(photoPrint, {
      grant_types: ['authorization_code', 'password', 'client_credentials'],
    })
    const { flow, oauth } = open({
      clients: [photoBook.registration, trusted.registration],
      plugins: [password({ verify: async (username) => username })],
      skipConsent: (_request, { scope }) => scope.length === 1,
    })
    const asked = authorizationRequest(photoBook)
    await flow.decide(await flow.ask(asked, 'alice'), 'deny', 'alice')
    await flow.ask(asked, 'alice')
    await flow.request(trusted, { grant_type: 'client_credentials', scope: 'photos:read' })
    const clientsOf = async (owner: string) =>
      (await oauth.authorizations.list(owner)).authorizations.map(({ clientId }) => clientId)
    expect(await clientsOf('alice')).toEqual([])
    await flow.ask({ ...asked, scope: 'photos:read' }, 'bob')
    const direct = { grant_type: 'password', username: 'bob', password: 'x', scope: 'photos:read' }
    expect(outcomeOf(await flow.request(trusted, direct))).toBe('tokens')
    expect((await clientsOf('bob')).toSorted()).toEqual(['photo-book', 'photo-print'])
  })

  test('a record of the owner that fails refuses an approval, and spends nothing', async () => {
    const { flow, store } = open()
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    store.begin('fails', 'owner')
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect temporarily_unavailable')
    store.recover()
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('tokens')
  })

  test('knows when the owner approved an authorization without a refresh token', async () => {
    const once = bent(photoPrint, { grant_types: ['authorization_code'] })
    const inBrowser = bent(photoBook, { grant_types: ['implicit'], response_types: ['token'] })
    const { flow, oauth, clock } = open({
      clients: [once.registration, inBrowser.registration],
      plugins: [implicit()],
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

  test('a record of the owner that fails is temporarily_unavailable', async () => {
    const { oauth, store } = open()
    store.begin('fails', 'owner')
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
      () => authorizations.revokeClient('photo-print'),
    ])
      await expect(call()).rejects.toThrow(/authorizations must be true/)
  })

  test.each<[string, keyof OwnerAuthorizations, readonly unknown[]]>([
    ['no client', 'revoke', ['alice']],
    ['an empty subject', 'revokeAll', ['']],
    ['a subject that is no text', 'list', [7]],
    ['no client', 'revokeClient', [undefined]],
  ])('%s is a mistake of %s(), and no count of 0', async (_what, name, given) => {
    const { authorizations } = open().oauth
    await expect(Reflect.apply(authorizations[name], undefined, given)).rejects.toThrow(
      new RegExp(`^authorizations\\.${name}\\(\\) needs .*(?:subject|client_id)`),
    )
  })
})

describeOnStores('A plug-in that needs the list of authorizations', (stage) => {
  /** A plug-in that lists the authorizations of an owner. */
  function lister() {
    let opened: PluginServer | undefined
    const plugin: Plugin = {
      name: 'lister',
      open(server) {
        opened = server
        return { indexSeconds: 0 }
      },
    }
    return { plugin, list: (subject: string) => opened?.authorizationsOf(subject) }
  }

  test('gets the list without the option', async () => {
    const { plugin, list } = lister()
    const { flow } = stage({ plugins: [plugin] })
    await flow.approve(photoBook)
    await flow.tokens(photoPrint, {}, 'bob')
    const entry = { clientId: 'photo-book', openId: false, until: expect.any(Number) }
    expect(await list('alice')).toEqual([{ authorizationId: expect.any(String), ...entry }])
  })
})
