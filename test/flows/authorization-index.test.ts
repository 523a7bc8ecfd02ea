import { createAuthorizationServer, password, type PlugIn, type PlugInServer } from '../../lib/index'
import { application } from '../support/flows/application'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { waitUntil } from '../support/wait-until'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { noStorage } from '../../lib/stores/storage'
import { indexOwner } from '../../lib/authorization/authorization-index'
import { issuerDigest } from '../../lib/authorization/issuer'

const day = 24 * 3600

/** A plug-in that needs the list of the authorizations of an owner. */
function lister(indexSeconds = 0): { plugIn: PlugIn; list: PlugInServer['authorizationsOf'] } {
  let opened: PlugInServer | undefined
  return {
    plugIn: {
      name: 'lister',
      open(server) {
        opened = server
        return { indexSeconds }
      },
    },
    list: async (subject) => (await opened?.authorizationsOf(subject)) ?? [],
  }
}

const owner = indexOwner(issuerDigest('http://localhost'), 'alice')

describeOnStores('The index of authorizations', (stage) => {
  function open(...[options]: Parameters<SetStage>) {
    const { plugIn, list } = lister()
    const set = stage({ plugIns: [plugIn], ...options })
    const clientsOf = async (subject = 'alice') =>
      (await list(subject)).map(({ clientId }) => clientId).toSorted()
    return { ...set, list, clientsOf }
  }

  test('lists what an owner has approved, and nothing of other owners', async () => {
    const { flow, list, clientsOf } = open()
    await flow.approve(photoBook)
    await flow.tokens(photoPrint)
    await flow.tokens(photoPrint, {}, 'bob')
    expect(await clientsOf()).toEqual(['photo-book', 'photo-print'])
    expect(await clientsOf('bob')).toEqual(['photo-print'])
    const ids = new Set((await list('alice')).map(({ authorizationId }) => authorizationId))
    expect(ids.size).toBe(2)
  })

  test('lists approvals without a page, and grants of owners without a code', async () => {
    const trusted = bent(photoPrint, { grant_types: ['authorization_code', 'password'] })
    const { flow, clientsOf } = open({
      clients: [photoBook.registration, trusted.registration],
      skipConsent: () => true,
      grantTypes: [password({ verify: async (username) => username })],
    })
    await flow.ask(authorizationRequest(photoBook), 'alice')
    const direct = { grant_type: 'password', username: 'alice', password: 'x', scope: 'photos:read' }
    expect(outcomeOf(await flow.request(trusted, direct))).toBe('tokens')
    expect(await clientsOf()).toEqual(['photo-book', 'photo-print'])
  })

  test('has no entry for a page that is open, nor for a denial, nor for a client that acts for itself', async () => {
    const { flow, store, clientsOf } = open()
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    await flow.decide(page, 'deny', 'alice')
    await flow.ask(authorizationRequest(photoPrint), 'alice')
    expect(await clientsOf()).toEqual([])
    expect(store.indexCalls).toBe(1)
  })

  test('costs one write for each approval, and none for a redemption or a refresh', async () => {
    const { flow, store } = open()
    const { refreshToken } = await flow.tokens(photoPrint)
    await flow.refresh(photoPrint, refreshToken)
    expect(store.indexCalls).toBe(1)
  })

  test('is not written without a plug-in that needs it', async () => {
    const { flow, store } = stage()
    await flow.tokens(photoPrint)
    expect(store.indexCalls).toBe(0)
  })

  test('keeps an authorization that is refreshed for as long as it lives', async () => {
    const { flow, clock, store, clientsOf } = open()
    let { refreshToken } = await flow.tokens(photoPrint)
    for (let month = 0; month < 6; month++) {
      clock.advance(29 * day)
      refreshToken = (await flow.refresh(photoPrint, refreshToken)).body.refresh_token
    }
    expect(refreshToken).toEqual(expect.any(String))
    // Once at the approval, and once for each two lifetimes of a refresh token.
    expect(store.indexCalls).toBeLessThanOrEqual(1 + 6 / 2)
    expect(await clientsOf()).toEqual(['photo-print'])
  })

  test('enters an authorization from before at its next refresh', async () => {
    const { clock, flow, store } = stage()
    const { refreshToken } = await flow.tokens(photoPrint)
    const { plugIn, list } = lister()
    const later = application({ store, clock: clock.read, storeDeadline: 10, plugIns: [plugIn] })
    expect(await list('alice')).toEqual([])
    expect(outcomeOf(await later.flow.refresh(photoPrint, refreshToken))).toBe('tokens')
    expect(await list('alice')).toEqual([{ authorizationId: expect.any(String), clientId: 'photo-print' }])
  })

  test('a mark refuses an approval whose owner was read before it, and the client may ask again', async () => {
    const { flow, store, clock, clientsOf } = open()
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    await store.index.mark(owner, 60)
    const refused = await flow.decide(page, 'approve', 'alice')
    expect(outcomeOf(refused)).toBe('redirect access_denied')
    expect(await clientsOf()).toEqual([])
    // Times of approvals are in whole seconds, so the next second is the first that is surely later.
    await waitUntil('an approval is later than the mark', async () => {
      clock.advance(1)
      const again = await flow.ask(authorizationRequest(photoPrint), 'alice')
      return outcomeOf(await flow.decide(again, 'approve', 'alice')) === 'redirect code'
    })
    expect(await clientsOf()).toEqual(['photo-print'])
  })

  test('a mark ends an authorization that the index did not have, at its next refresh', async () => {
    const { clock, flow, store } = stage()
    const { refreshToken } = await flow.tokens(photoPrint)
    clock.advance(60)
    await store.index.mark(owner, 60)
    const later = application({ store, clock: clock.read, storeDeadline: 10, plugIns: [lister().plugIn] })
    expect(outcomeOf(await later.flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
  })

  test('an index that fails is temporarily_unavailable, and spends nothing', async () => {
    const { flow, store, clientsOf } = open()
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    store.begin('fails', 'index')
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect temporarily_unavailable')
    store.recover()
    const code = new URL(
      String((await flow.decide(page, 'approve', 'alice')).get('Location')),
    ).searchParams.get('code')
    expect(outcomeOf(await flow.redeem(photoPrint, String(code)))).toBe('tokens')
    expect(await clientsOf()).toEqual(['photo-print'])
  })

  test('has the entry also if the record could not be saved after it', async () => {
    const { flow, store, clientsOf } = open()
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    store.begin('fails', 'save')
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect temporarily_unavailable')
    expect(await clientsOf()).toEqual(['photo-print'])
  })
})

test('a plug-in that needs the index does not start with a store that has none', () => {
  const create = () =>
    createAuthorizationServer({
      issuer: 'http://localhost',
      scopes: { read: 'Read' },
      clients: [],
      store: noStorage,
      plugIns: [lister().plugIn],
    })
  expect(create).toThrow(
    /store must have the member index, because the option authorizations or a plug-in needs/,
  )
})
