import type { AuthorizationServerOptions } from '../../lib/index'
import { issuerDigest } from '../../lib/authorization/issuer'
import { decodeOwner, ownerName } from '../../lib/authorization/owners'
import { application, withoutLimits } from '../support/flows/application'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { pushingStage } from '../support/flows/pushing'
import { redirectionOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
import { waitUntil } from '../support/wait-until'

const asked = authorizationRequest(photoPrint)
const turns = Array.from({ length: 64 }, (_, turn) => turn)
const keyOfAlice = (issuer = 'http://localhost') => `owner:${ownerName(issuerDigest(issuer), 'alice')}`

describeOnStores('Parallel writes of the record of one owner', (stage) => {
  /** Four servers of one issuer. */
  const open = (options: Partial<AuthorizationServerOptions> = {}) => {
    // A busy machine answers late, and the deadline is not the matter here.
    const shared = { authorizations: true, storeDeadline: 10, ...withoutLimits, ...options }
    const set = stage(shared)
    const { store, clock } = set
    const others = [1, 2, 3].map(() => application({ ...shared, store, clock: clock.read }))
    const flows = [set.flow, ...others.map(({ flow }) => flow)]
    return { ...set, flowOf: (turn: number) => flows[turn % flows.length] ?? set.flow }
  }

  test('64 approvals at once all enter', async () => {
    const { flowOf, oauth } = open({ skipConsent: () => true })
    const outcomes = await Promise.all(
      turns.map(async (turn) => outcomeOf(await flowOf(turn).ask(asked, 'alice'))),
    )
    expect(new Set(outcomes)).toEqual(new Set(['redirect code']))
    expect((await oauth.authorizations.list('alice')).authorizations).toHaveLength(64)
  })

  test('revokeAll in the middle of 64 approvals leaves none alive that began before it', async () => {
    const { flow, flowOf, oauth, store } = open()
    const pages = await Promise.all(turns.map((turn) => flowOf(turn).ask(asked, 'alice')))
    const before = store.ownerCalls
    const deciding = Promise.all(pages.map((page, turn) => flowOf(turn).decide(page, 'approve', 'alice')))
    await waitUntil('some have entered', async () => store.ownerCalls > before + 30)
    const { entries } = decodeOwner((await store.read(keyOfAlice()))?.value ?? '')
    expect([entries.length > 0, entries.length < 64]).toEqual([true, true])
    await oauth.authorizations.revokeAll('alice')
    const redeemed = (await deciding).map(async (response) => {
      const { code } = redirectionOf(response).parameters
      return code === undefined ? outcomeOf(response) : outcomeOf(await flow.redeem(photoPrint, code))
    })
    expect(await Promise.all(redeemed)).not.toContain('tokens')
    expect((await oauth.authorizations.list('alice')).authorizations).toEqual([])
    expect(await flow.tokens(photoPrint)).toBeDefined()
  })

  test('entries and consents survive each other', async () => {
    const clients = turns.slice(0, 16).map((turn) => bent(photoPrint, { client_id: `client-${turn}` }))
    const registered = clients.map(({ registration }) => registration)
    const { flowOf, oauth } = open({ rememberConsent: true, clients: registered })
    await Promise.all(clients.map((client, turn) => flowOf(turn).approve(client)))
    const { authorizations, consents } = await oauth.authorizations.list('alice')
    const ids = registered.map(({ client_id }) => client_id).toSorted()
    expect(authorizations.map(({ clientId }) => clientId).toSorted()).toEqual(ids)
    expect(consents.map(({ clientId }) => clientId)).toEqual(ids)
  })

  test('nothing touches the record of the same owner at another issuer', async () => {
    const { flow, oauth, store, clock } = open({ rememberConsent: true })
    const issuer = 'http://localhost:81'
    const other = stage({ store, clock: clock.read, issuer, authorizations: true, rememberConsent: true })
    await other.flow.tokens(photoPrint)
    const before = await store.read(keyOfAlice(issuer))
    expect(before).toBeDefined()
    await flow.tokens(photoPrint)
    await oauth.authorizations.revoke('alice', 'photo-print')
    await flow.tokens(photoPrint)
    await oauth.authorizations.revokeAll('alice')
    expect(await store.read(keyOfAlice(issuer))).toEqual(before)
    expect((await other.oauth.authorizations.list('alice')).authorizations).toHaveLength(1)
  })
})

describeOnStores('After revokeAll', (stage) => {
  test('a new approval without a page waits, because the clocks of processes differ, and then gets in', async () => {
    const set = pushingStage(stage, { authorizations: true, skipConsent: () => true })
    const { flow, oauth, clock, pushed } = set
    await oauth.authorizations.revokeAll('alice')
    clock.advance(5)
    expect(outcomeOf(await flow.ask(await pushed(), 'alice'))).toBe('redirect access_denied')
    clock.advance(1)
    expect(outcomeOf(await flow.ask(await pushed(), 'alice'))).toBe('redirect code')
  })

  test('a page from before it is refused until it ends, also where tokens live for a shorter time', async () => {
    const lifetimes = { accessToken: 60, refreshToken: 60, authorizationRequest: 7200 }
    const { flow, oauth, clock } = stage({ authorizations: true, rememberConsent: true, lifetimes })
    const page = await flow.ask(asked, 'alice')
    await oauth.authorizations.revokeAll('alice')
    clock.advance(7000)
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect access_denied')
  })

  test('a page that opened after it may be decided when what it ended has ended', async () => {
    const lifetimes = { accessToken: 60, refreshToken: 60 }
    const { flow, oauth, clock } = stage({ authorizations: true, lifetimes })
    await oauth.authorizations.revokeAll('alice')
    clock.advance(3600)
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    clock.advance(400)
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect code')
  })
})
