import { memoryStore } from '../../lib/index'
import { registeredClients } from '../../lib/paths/registration'
import { bent, nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { failAt } from '../support/flows/fail-at'
import { Gate } from '../support/flows/gate'
import type { ObservedStore } from '../support/flows/observed-store'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { exchangeOf, exchanging, service } from '../support/flows/token-exchange'
import { tokensOf } from '../support/flows/tokens'
import { waitUntil } from '../support/wait-until'

const day = 24 * 3600
/** Seconds after a call for which clocks may differ. */
const clocksApart = 5
const forItself = { grant_type: 'client_credentials', scope: 'photos:read' }

/** Holds the next write of an authorization until it is released. */
function holdNextWrite(store: ObservedStore) {
  const { write } = store
  const gate = new Gate()
  store.write = async (key, ...words) => {
    if (!key.startsWith('authorization:')) return write(key, ...words)
    store.write = write
    await gate.pass()
    return write(key, ...words)
  }
  return {
    held: () => waitUntil('a write is held', async () => gate.waiting > 0),
    release: () => gate.open(),
  }
}

describeOnStores('oauth.authorizations.revokeClient', (stage) => {
  const open = (...[options]: Parameters<SetStage>) => stage({ authorizations: true, ...options })

  test('ends access tokens, refresh tokens and codes of the client, from every owner', async () => {
    const { flow, oauth } = open()
    const [ofAlice, ofBob] = [await flow.tokens(photoPrint), await flow.tokens(photoPrint, {}, 'bob')]
    const code = await flow.approve(photoPrint)
    await oauth.authorizations.revokeClient('photo-print')
    for (const { accessToken, refreshToken } of [ofAlice, ofBob]) {
      expect((await flow.photos(accessToken)).status).toBe(401)
      expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
    }
    expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
  })

  test('ends nothing of another client, and nothing of the same client at another issuer', async () => {
    const { flow, oauth, store, clock } = open()
    const other = open({ store, clock: clock.read, issuer: 'http://localhost:81' })
    const [kept, elsewhere] = [await flow.tokens(photoBook), await other.flow.tokens(photoPrint)]
    await oauth.authorizations.revokeClient('photo-print')
    // What guards remember counts no more.
    clock.advance(1)
    expect((await flow.photos(kept.accessToken)).status).toBe(200)
    expect(outcomeOf(await flow.refresh(photoBook, kept.refreshToken))).toBe('tokens')
    expect((await other.flow.photos(elsewhere.accessToken)).status).toBe(200)
  })

  test('ends the tokens of the client at introspection, and its refresh tokens', async () => {
    const asking = bent(photoPrint, { may_introspect: true })
    const { flow, oauth } = open({ clients: [asking.registration] })
    const { accessToken, refreshToken } = await flow.tokens(asking)
    for (const token of [accessToken, refreshToken])
      expect(outcomeOf(await flow.introspect(asking, token))).toBe('active')
    await oauth.authorizations.revokeClient('photo-print')
    for (const token of [accessToken, refreshToken])
      expect(outcomeOf(await flow.introspect(asking, token))).toBe('inactive')
  })

  test('ends the tokens of the client at token exchange', async () => {
    const { flow, oauth } = open(exchanging())
    const { accessToken } = await flow.tokens(photoBook)
    expect(outcomeOf(await flow.request(service, exchangeOf(accessToken)))).toBe('tokens')
    await oauth.authorizations.revokeClient('photo-book')
    expect(outcomeOf(await flow.request(service, exchangeOf(accessToken)))).toBe('400 invalid_request')
  })

  test('ends what the client has for itself, and it gets new tokens afterwards', async () => {
    const { flow, oauth, clock } = open()
    const before = tokensOf(await flow.request(nightlyReport, forItself))
    await oauth.authorizations.revokeClient('nightly-report')
    expect((await flow.photos(before.accessToken)).status).toBe(401)
    clock.advance(clocksApart + 1)
    const after = tokensOf(await flow.request(nightlyReport, forItself))
    expect((await flow.photos(after.accessToken)).status).toBe(200)
  })

  test.each([0, clocksApart])(
    'ends a token of %d seconds after it, because the clocks of processes differ',
    async (seconds) => {
      const { flow, oauth, clock } = open()
      await oauth.authorizations.revokeClient('nightly-report')
      clock.advance(seconds)
      const { accessToken } = tokensOf(await flow.request(nightlyReport, forItself))
      expect((await flow.photos(accessToken)).status).toBe(401)
    },
  )

  test('ends a request whose page is open, and the same request may come again', async () => {
    const { flow, oauth, clock } = open()
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    await oauth.authorizations.revokeClient('photo-print')
    clock.advance(clocksApart + 1)
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('page 400 invalid_request')
    const again = await flow.ask(authorizationRequest(photoPrint), 'alice')
    expect(outcomeOf(await flow.decide(again, 'approve', 'alice'))).toBe('redirect code')
  })

  test('ends an approval that is being saved while it is called', async () => {
    const { flow, oauth, store, clock } = open({ skipConsent: () => true })
    const { held, release } = holdNextWrite(store)
    const asked = flow.ask(authorizationRequest(photoPrint), 'alice')
    await held()
    clock.advance(10)
    await oauth.authorizations.revokeClient('photo-print')
    release()
    const code = String(redirectionOf(await asked).parameters['code'])
    expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
  })

  test('ends a refresh that is being saved while it is called', async () => {
    const { flow, oauth, store, clock } = open()
    const { refreshToken } = await flow.tokens(photoPrint)
    clock.advance(60)
    const { held, release } = holdNextWrite(store)
    const refreshed = flow.refresh(photoPrint, refreshToken)
    await held()
    await oauth.authorizations.revokeClient('photo-print')
    release()
    const tokens = tokensOf(await refreshed)
    expect((await flow.photos(tokens.accessToken)).status).toBe(401)
    expect(outcomeOf(await flow.refresh(photoPrint, tokens.refreshToken))).toBe('400 invalid_grant')
  })

  test('may be repeated, and an earlier clock takes no mark back', async () => {
    const { flow, oauth, store, clock } = open()
    const { accessToken } = await flow.tokens(photoPrint)
    clock.advance(100)
    await oauth.authorizations.revokeClient('photo-print')
    const behind = open({ store, clock: () => clock.read() - 200_000 })
    await behind.oauth.authorizations.revokeClient('photo-print')
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await behind.flow.photos(accessToken)).status).toBe(401)
  })

  test('lasts as long as what the client had could live', async () => {
    const { flow, oauth, store, clock } = open()
    const { refreshToken } = await flow.tokens(photoPrint)
    await oauth.authorizations.revokeClient('photo-print')
    clock.advance(29 * day)
    // Another process remembers no mark that has ended.
    const other = open({ store, clock: clock.read })
    expect(outcomeOf(await other.flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
  })

  test('lasts as long as an open page, also where tokens live for a shorter time', async () => {
    const options = { lifetimes: { accessToken: 60, refreshToken: 60, authorizationRequest: 600 } }
    const { flow, oauth, store, clock } = open(options)
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    await oauth.authorizations.revokeClient('photo-print')
    clock.advance(300)
    const other = open({ ...options, store, clock: clock.read })
    expect(outcomeOf(await other.flow.decide(page, 'approve', 'alice'))).toBe('page 400 invalid_request')
  })

  test('a store that fails is temporarily_unavailable, and no token passes meanwhile', async () => {
    const { flow, oauth, store, clock } = open()
    const { accessToken, refreshToken } = await flow.tokens(photoPrint)
    expect((await flow.photos(accessToken)).status).toBe(200)
    const recover = failAt(store, 'revoked:')
    await expect(oauth.authorizations.revokeClient('photo-print')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
    })
    clock.advance(1)
    expect((await flow.photos(accessToken)).status).toBe(503)
    expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 temporarily_unavailable')
    recover()
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('tokens')
  })

  test('a record from before the option, which does not say when it began, ends, too', async () => {
    const { flow, store, clock } = stage()
    const { accessToken } = tokensOf(await flow.request(nightlyReport, forItself))
    const later = open({ store, clock: clock.read })
    expect((await later.flow.photos(accessToken)).status).toBe(200)
    await later.oauth.authorizations.revokeClient('nightly-report')
    expect((await later.flow.photos(accessToken)).status).toBe(401)
  })
})

describeOnStores('disableClient with the option authorizations', (stage) => {
  const registering = async () => {
    const clients = registeredClients(memoryStore())
    const staged = stage({ authorizations: true, clients })
    for (const { registration } of [photoPrint, photoFrame]) await clients.add(registration)
    return staged
  }

  test('ends the tokens of the client, and enabling it brings none of them back', async () => {
    const { flow, oauth, clock } = await registering()
    const [gone, kept] = [await flow.tokens(photoPrint), await flow.tokens(photoFrame)]
    await oauth.disableClient('photo-print')
    expect((await flow.photos(gone.accessToken)).status).toBe(401)
    expect((await flow.photos(kept.accessToken)).status).toBe(200)
    clock.advance(clocksApart + 1)
    await oauth.enableClient('photo-print')
    expect((await flow.photos(gone.accessToken)).status).toBe(401)
    expect(outcomeOf(await flow.refresh(photoPrint, gone.refreshToken))).toBe('400 invalid_grant')
    const { accessToken, refreshToken } = await flow.tokens(photoPrint)
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('tokens')
  })

  test('a mark that fails leaves the client disabled, and the call may be repeated', async () => {
    const { flow, oauth, store } = await registering()
    const { accessToken, refreshToken } = await flow.tokens(photoPrint)
    const recover = failAt(store, 'revoked:')
    await expect(oauth.disableClient('photo-print')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
    })
    recover()
    expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('401 invalid_client')
    await oauth.disableClient('photo-print')
    expect((await flow.photos(accessToken)).status).toBe(401)
  })
})
