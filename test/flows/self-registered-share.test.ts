import {
  type AuthorizationServerOptions,
  type ClientRegistration,
  memoryDynamicClients,
  metadataDocuments,
} from '../../lib/index'
import { application } from '../support/flows/application'
import { photoPrint } from '../support/flows/clients'
import { DocumentOrigin } from '../support/flows/document-origin'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { getTokens, ofClient, redeem, refresh } from '../support/flows/registered-client'
import { codeOf } from '../support/flows/redirection'
import {
  describeRegistration,
  notesApp,
  type RegisteringStage,
  type SetRegisteringStage,
} from '../support/flows/registering'

const full = 'page 429 temporarily_unavailable'

describeRegistration('The share of an owner in self-registered clients', (set) => {
  const stage = (
    most: number | false,
    registration: Parameters<SetRegisteringStage>[0] = {},
    options: Partial<AuthorizationServerOptions> = {},
  ) => set(registration, { authorizations: true, limits: { selfRegisteredClients: most }, ...options })

  const named = (staged: RegisteringStage, name: string | number) =>
    staged.register({ ...notesApp, client_name: `App ${name}` })

  /** The owner approves a new client of this name. */
  const approveNew = async (staged: RegisteringStage, name: string | number, owner = 'alice') => {
    const client = await named(staged, name)
    const page = await staged.flow.ask(ofClient(client), owner)
    return staged.flow.decide(page, 'approve', owner)
  }

  test('the approval of one more ends on a page that says what to do, and leaves nothing behind', async () => {
    const staged = stage(2)
    for (const name of ['one', 'two']) expect(outcomeOf(await approveNew(staged, name))).toBe('redirect code')
    const response = await approveNew(staged, 'three')
    expect(outcomeOf(response)).toBe(full)
    expect(response.get('Retry-After')).toBe('3600')
    expect(response.text).toContain('Remove one that you do not use any more.')
    expect(staged.failures.map(({ reason }) => reason)).toEqual(['self_registered_share_full'])
    const { authorizations } = await staged.oauth.authorizations.list('alice')
    expect(authorizations).toHaveLength(2)
  })

  test('its page leads to the place where the owner can remove an app, if there is one', async () => {
    const staged = stage(1, {}, { authorizations: { manageAt: '/account/apps' } })
    await approveNew(staged, 'one')
    const response = await approveNew(staged, 'two')
    expect(response.text).toContain('<a href="/account/apps">Connected applications</a>')
    const other = await staged.flow.ask({ ...authorizationRequest(photoPrint), client_id: 'nobody' }, 'alice')
    expect(other.text).not.toContain('/account/apps')
  })

  test('as many for each owner, and registered clients do not count', async () => {
    const staged = stage(1)
    await staged.flow.tokens(photoPrint)
    expect(outcomeOf(await approveNew(staged, 'one'))).toBe('redirect code')
    await staged.flow.tokens(photoPrint)
    expect(outcomeOf(await approveNew(staged, 'two', 'bob'))).toBe('redirect code')
    expect(outcomeOf(await approveNew(staged, 'three', 'bob'))).toBe(full)
  })

  test('a client that the owner uses already goes on: new approvals, redemptions, refreshes', async () => {
    const staged = stage(2)
    const client = await named(staged, 'first')
    const tokens = await getTokens(staged, client)
    const other = await named(staged, 'second')
    const page = await staged.flow.ask(ofClient(other), 'alice')
    const code = codeOf(await staged.flow.decide(page, 'approve', 'alice'))
    expect(outcomeOf(await approveNew(staged, 'third'))).toBe(full)
    expect((await redeem(staged, other, code)).status).toBe(200)
    expect((await refresh(staged, client, tokens.body.refresh_token)).status).toBe(200)
    for (const each of [client, other]) expect((await getTokens(staged, each)).status).toBe(200)
  })

  test('the owner who removes a client has room for another, on the same page', async () => {
    const staged = stage(1)
    const first = await named(staged, 'first')
    await getTokens(staged, first)
    const second = await named(staged, 'second')
    const page = await staged.flow.ask(ofClient(second), 'alice')
    expect(outcomeOf(await staged.flow.decide(page, 'approve', 'alice'))).toBe(full)
    await staged.oauth.authorizations.revoke('alice', first.body.client_id)
    expect(outcomeOf(await staged.flow.decide(page, 'approve', 'alice'))).toBe('redirect code')
    // The first one is a new client now.
    const again = await staged.flow.ask(ofClient(first), 'alice')
    expect(outcomeOf(await staged.flow.decide(again, 'approve', 'alice'))).toBe(full)
  })

  test('counts an approval without a page, and refuses it on a page', async () => {
    const staged = stage(1, {}, { skipConsent: () => true })
    const [first, second] = [await named(staged, 'first'), await named(staged, 'second')]
    expect(outcomeOf(await staged.flow.ask(ofClient(first), 'alice'))).toBe('redirect code')
    expect(outcomeOf(await staged.flow.ask(ofClient(second), 'alice'))).toBe(full)
    expect(outcomeOf(await staged.flow.ask(ofClient(first), 'alice'))).toBe('redirect code')
  })

  test('a denial passes', async () => {
    const staged = stage(1)
    await approveNew(staged, 'first')
    const page = await staged.flow.ask(ofClient(await named(staged, 'second')), 'alice')
    expect((await staged.flow.decide(page, 'deny', 'alice')).get('Location')).toContain('access_denied')
  })

  test('one account that approves and removes without end leaves room for the clients of others', async () => {
    const maximumClients = 30
    const staged = stage(2, { maximumClients })
    const outcomes: string[] = []
    for (let name = 0; name < 25; name++) {
      const response = await approveNew(staged, name)
      outcomes.push(outcomeOf(response))
      const { authorizations } = await staged.oauth.authorizations.list('alice')
      for (const { clientId } of authorizations) await staged.oauth.authorizations.revoke('alice', clientId)
    }
    expect(outcomes).toEqual(outcomes.map((_, name) => (name < 20 ? 'redirect code' : full)))
    expect(outcomeOf(await approveNew(staged, 'later', 'bob'))).toBe('redirect code')
  })

  test('parallel approvals of one owner exceed the share by what waits at once, and no later one does', async () => {
    const staged = stage(1)
    const clients = await Promise.all([1, 2, 3, 4].map((name) => named(staged, name)))
    const pages = await Promise.all(clients.map((client) => staged.flow.ask(ofClient(client), 'alice')))
    const outcomes = await Promise.all(
      pages.map(async (page) => outcomeOf(await staged.flow.decide(page, 'approve', 'alice'))),
    )
    expect(outcomes).toContain('redirect code')
    expect(outcomes.every((outcome) => outcome === 'redirect code' || outcome === full)).toBe(true)
    expect(outcomeOf(await approveNew(staged, 'later'))).toBe(full)
  })

  test('is off with false', async () => {
    const staged = stage(false)
    for (let name = 0; name < 3; name++)
      expect(outcomeOf(await approveNew(staged, name))).toBe('redirect code')
  })

  test('an app that the host has taken over passes', async () => {
    const clients: ClientRegistration[] = []
    const staged = stage(1, {}, { clients })
    await approveNew(staged, 'first')
    const client = await named(staged, 'second')
    const { client_id, redirect_uris } = client.body
    clients.push({ client_id, client_type: 'public', redirect_uris, scope: 'photos:read' })
    const page = await staged.flow.ask(ofClient(client), 'alice')
    expect(outcomeOf(await staged.flow.decide(page, 'approve', 'alice'))).toBe('redirect code')
  })
})

describe('The share of an owner', () => {
  it('counts clients that are known by their documents', async () => {
    const origins = [await DocumentOrigin.start(), await DocumentOrigin.start()]
    try {
      const [first] = origins
      const { flow, failures } = application({
        clients: metadataDocuments({ ...first?.reach }),
        authorizations: true,
        limits: { selfRegisteredClients: 1 },
      })
      const outcomes: string[] = []
      for (const { client } of [...origins, ...origins]) {
        const page = await flow.ask(authorizationRequest(client), 'alice')
        outcomes.push(outcomeOf(await flow.decide(page, 'approve', 'alice')))
      }
      expect(outcomes).toEqual(['redirect code', full, 'redirect code', full])
      expect(failures).toHaveLength(2)
    } finally {
      await Promise.all(origins.map((origin) => origin.stop()))
    }
  })

  it('needs the option authorizations, without which nothing is counted', async () => {
    expect(() => application({ limits: { selfRegisteredClients: 5 } })).toThrow(
      /limits\.selfRegisteredClients needs the option authorizations/,
    )
    application({
      limits: { selfRegisteredClients: false },
      dynamicRegistration: { store: memoryDynamicClients() },
    })
  })
})
