import type { Redis } from 'ioredis'
import {
  type AuthorizationServerOptions,
  type ClientRegistration,
  metadataDocuments,
  redisStore,
} from '../../lib/index'
import { application, withoutLimits } from '../support/flows/application'
import { photoPrint } from '../support/flows/clients'
import { DocumentOrigin } from '../support/flows/document-origin'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { getTokens, ofClient, redeem, refresh, configure } from '../support/flows/registered-client'
import { codeOf } from '../support/flows/redirection'
import {
  describeRegistration,
  notesApp,
  type RegisteringStage,
  type SetRegisteringStage,
  notesService,
  registeringOn,
  storedClient,
} from '../support/flows/registering'
import { but } from '../support/stores/but'
import { letPass, uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

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
    application({ limits: { selfRegisteredClients: false }, dynamicRegistration: {} })
  })
})

const unknown = { issues: [{ path: 'client_id', message: 'names no client that is registered here.' }] }

describeRegistration('The host and a client that registered itself', (stage) => {
  const registered = async (metadata: object = notesApp) => {
    const staged = stage()
    const client = await staged.register(metadata)
    return { ...staged, client, id: String(client.body.client_id) }
  }

  test('disableClient shuts the client out at once, and enableClient lets it in again', async () => {
    const staged = await registered()
    const { oauth, flow, client, id } = staged
    const { body } = await getTokens(staged, client)
    await oauth.disableClient(id)
    expect(outcomeOf(await refresh(staged, client, body.refresh_token))).toBe('401 invalid_client')
    expect(outcomeOf(await flow.ask(ofClient(client), 'alice'))).toBe('page 400 invalid_request')
    expect((await staged.register(notesApp)).body).toMatchObject({ error: 'invalid_client_metadata' })
    await oauth.enableClient(id)
    expect((await refresh(staged, client, body.refresh_token)).status).toBe(200)
  })

  test('deleteClient ends a public client, which registers again without what it had', async () => {
    const staged = await registered()
    const { oauth, client, id } = staged
    const { body } = await getTokens(staged, client)
    await oauth.deleteClient(id)
    expect(outcomeOf(await refresh(staged, client, body.refresh_token))).toBe('401 invalid_client')
    await expect(oauth.deleteClient(id)).rejects.toMatchObject(unknown)
    const again = await staged.register(notesApp)
    expect([again.status, again.body.client_id]).toEqual([201, id])
    expect(outcomeOf(await refresh(staged, client, body.refresh_token))).toBe('400 invalid_grant')
  })

  test('deleteClient ends a confidential client, and its access to its registration', async () => {
    const staged = await registered(notesService)
    const { oauth, client, id } = staged
    expect((await configure(staged, 'get', client)).status).toBe(200)
    await oauth.deleteClient(id)
    expect((await configure(staged, 'get', client)).status).toBe(401)
    expect(await storedClient(staged, id)).toBeUndefined()
  })

  test('changeClient and the rotation of a secret refuse it: it changes itself', async () => {
    const { oauth, id } = await registered(notesService)
    for (const act of [() => oauth.changeClient(id, {}), () => oauth.rotateClientSecret(id)])
      await expect(act()).rejects.toMatchObject({ name: 'ConfigurationError' })
  })

  test('a client of another issuer on the same store is unknown, and stays as it is', async () => {
    const staged = await registered()
    const { store, id } = staged
    const { oauth } = application({ issuer: 'http://127.0.0.1', store, dynamicRegistration: {} })
    const before = await storedClient(staged, id)
    for (const act of [
      () => oauth.disableClient(id),
      () => oauth.enableClient(id),
      () => oauth.deleteClient(id),
    ])
      await expect(act()).rejects.toMatchObject(unknown)
    expect(await storedClient(staged, id)).toEqual(before)
  })

  test('an identifier that names no client is refused, whatever it is', async () => {
    const { oauth } = stage()
    for (const id of ['nobody', '', '__proto__', `dynamic_${'a'.repeat(43)}`])
      for (const act of [() => oauth.disableClient(id), () => oauth.deleteClient(id)])
        await expect(act()).rejects.toMatchObject(unknown)
  })
})

describe('The ceiling of registrations', () => {
  /** Registers an app. Resolves to its `client_id`, or to the status of a refusal. */
  async function registered({ register }: RegisteringStage, name: string): Promise<string> {
    const { status, body } = await register({ ...notesApp, client_name: name })
    return status === 201 ? body.client_id : String(status)
  }

  let client: Redis
  let prefix = ''
  withRedis((started) => {
    client = started.client
  })
  const stage = registeringOn((clock) => {
    prefix = uniquePrefix()
    return redisStore({ client, prefix, clock })
  })
  const pass = async ({ clock }: RegisteringStage, seconds: number) => {
    clock.advance(seconds)
    await letPass(client, `${prefix}count:`, seconds)
  }
  const hour = 3600

  test('refuses beyond maximumClients, and lets in again after unusedLifetime [registration-1]', async () => {
    const staged = stage({ maximumClients: 2 })
    for (const name of ['One', 'Two']) expect(await registered(staged, name)).toMatch(/^dynamic_/)
    expect(await registered(staged, 'Three')).toBe('503')
    await pass(staged, hour - 60)
    expect(await registered(staged, 'Three')).toBe('503')
    await pass(staged, 60)
    for (const name of ['Three', 'Four']) expect(await registered(staged, name)).toMatch(/^dynamic_/)
    expect(await registered(staged, 'Five')).toBe('503')
  })

  test('of 40 at once on two processes as many register as it says', async () => {
    const one = stage({ maximumClients: 10 })
    const other = stage({ maximumClients: 10 }, { store: one.store, clock: one.clock.read })
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, at) => registered(at % 2 === 0 ? one : other, `App ${at}`)),
    )
    expect(outcomes.filter((outcome) => outcome !== '503')).toHaveLength(10)
  })

  test('64 equal registrations at once count as one', async () => {
    const staged = stage({ maximumClients: 65 })
    const counted = `${prefix}count:registrations`
    const other = stage({ maximumClients: 65 }, { store: but(staged.store, {}), clock: staged.clock.read })
    const ids = await Promise.all(
      Array.from({ length: 64 }, (_, at) => registered(at % 2 === 0 ? staged : other, 'One')),
    )
    expect(new Set(ids).size).toBe(1)
    expect(await client.get(counted)).toBe('1')
  })

  test('an app that registers at each start counts once, and registers beyond it, too', async () => {
    const staged = stage({ maximumClients: 2 })
    for (let start = 0; start < 5; start++) expect(await registered(staged, 'One')).toMatch(/^dynamic_/)
    expect(await registered(staged, 'Two')).toMatch(/^dynamic_/)
    expect(await registered(staged, 'Three')).toBe('503')
    staged.clock.advance(hour - 60)
    expect(await registered(staged, 'One')).toMatch(/^dynamic_/)
  })

  test('a client that is not used holds its record neither by requests nor by uncounted registrations [registration-2]', async () => {
    const staged = stage({ maximumClients: 1 }, withoutLimits)
    const app = { ...notesApp, client_name: 'One' }
    const asked = ofClient(await staged.register(app))
    for (let minute = 0; minute < 70; minute++) {
      staged.clock.advance(60)
      expect((await staged.flow.ask(asked, 'alice')).status).toBe(200)
      expect((await staged.register(app)).status).toBe(201)
    }
    staged.clock.advance(60)
    expect((await staged.flow.ask(asked, 'alice')).status).toBe(400)
  })

  test('a client that is used goes on, and does not count', async () => {
    const staged = stage({ maximumClients: 1 })
    const used = await staged.register(notesApp)
    await getTokens(staged, used)
    await pass(staged, 2 * hour)
    expect(await registered(staged, 'Two')).toMatch(/^dynamic_/)
    expect((await staged.register(notesApp)).status).toBe(201)
    expect((await getTokens(staged, used)).status).toBe(200)
    expect(await registered(staged, 'Three')).toBe('503')
  })

  test('a flood of one network leaves the next network a place', async () => {
    const limits = { networks: { registration: { attempts: 3 } } }
    const staged = stage({ maximumClients: 10 }, { limits })
    staged.app.set('trust proxy', 'loopback')
    const from = (address: string, at: number) =>
      staged.register({ ...notesApp, client_name: `App ${at}` }, { 'X-Forwarded-For': address })
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => (await from('192.0.2.1', at)).status),
    )
    expect(statuses.filter((status) => status !== 429)).toEqual([201, 201, 201])
    expect((await from('198.51.100.1', 20)).status).toBe(201)
  })
})
