import type { Redis } from 'ioredis'
import {
  type AuthorizationServerOptions,
  type ClientRegistration,
  memoryDynamicClients,
  metadataDocuments,
  redisStore,
} from '../../lib/index'
import { application } from '../support/flows/application'
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
} from '../support/flows/registering'
import { codeChallenge, codeVerifier } from '../support/flows/proof-key'
import { startServer } from '../support/start-server'
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
    application({
      limits: { selfRegisteredClients: false },
      dynamicRegistration: { store: memoryDynamicClients() },
    })
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

  test('deleteClient ends a public client, which registers again under another identifier', async () => {
    const staged = await registered()
    const { oauth, client, id } = staged
    const { body } = await getTokens(staged, client)
    await oauth.deleteClient(id)
    expect(outcomeOf(await refresh(staged, client, body.refresh_token))).toBe('401 invalid_client')
    const again = await staged.register(notesApp)
    expect(again.status).toBe(201)
    expect(again.body.client_id).not.toBe(id)
    await expect(oauth.deleteClient(id)).rejects.toMatchObject(unknown)
  })

  test('deleteClient ends a confidential client, and its access to its registration', async () => {
    const staged = await registered(notesService)
    const { oauth, client, id } = staged
    expect((await configure(staged, 'get', client)).status).toBe(200)
    await oauth.deleteClient(id)
    expect((await configure(staged, 'get', client)).status).toBe(401)
    expect(await staged.clients.find(id)).toBeUndefined()
  })

  test('changeClient and the rotation of a secret refuse it: it changes itself', async () => {
    const { oauth, id } = await registered(notesService)
    for (const act of [() => oauth.changeClient(id, {}), () => oauth.rotateClientSecret(id)])
      await expect(act()).rejects.toMatchObject({ name: 'ConfigurationError' })
  })

  test('a client of another issuer on the same store is unknown, and stays as it is', async () => {
    const { clients, id } = await registered()
    const { oauth } = application({ issuer: 'http://127.0.0.1', dynamicRegistration: { store: clients } })
    const before = await clients.find(id)
    for (const act of [
      () => oauth.disableClient(id),
      () => oauth.enableClient(id),
      () => oauth.deleteClient(id),
    ])
      await expect(act()).rejects.toMatchObject(unknown)
    expect(await clients.find(id)).toEqual(before)
  })

  test('an identifier that names no client is refused, whatever it is', async () => {
    const { oauth } = stage()
    for (const id of ['nobody', '', '__proto__', `dynamic_${'a'.repeat(43)}`])
      for (const act of [() => oauth.disableClient(id), () => oauth.deleteClient(id)])
        await expect(act()).rejects.toMatchObject(unknown)
  })
})

describe('The ceiling of registrations', () => {
  // A hundredth of them is the limit of one network, so 100 is the least.
  const most = 100
  const redirect_uri = 'https://notes.example/callback'

  /** The addresses of one subscriber with a /48, each in a /64 of its own, and in all /56 by turns. */
  const ofSubscriber = (at: number) => `2001:db8:1:${(((at & 255) << 8) | (at >> 8)).toString(16)}::1`
  const ofStranger = (at: number) => `198.51.100.${at}`

  /** Registers so many apps from these addresses, as fast as one machine does. Resolves to how often each status came. */
  async function flood({ app }: RegisteringStage, addressAt: (at: number) => string, count: number) {
    app.set('trust proxy', 'loopback')
    const { port, stop } = await startServer(app)
    const statuses = new Map<number, number>()
    let next = 0
    const sender = async () => {
      while (next < count) {
        const at = next++
        const { status } = await fetch(`http://127.0.0.1:${port}/register`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': addressAt(at) },
          body: JSON.stringify({ ...notesApp, client_name: `App ${at}` }),
        })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    try {
      await Promise.all(Array.from({ length: 16 }, sender))
      return Object.fromEntries(statuses)
    } finally {
      await stop()
    }
  }

  /** Registers an app from an address. Resolves to its `client_id`, or to the status of a refusal. */
  async function registered(
    { app, register }: RegisteringStage,
    name: string,
    address: string,
  ): Promise<string> {
    app.set('trust proxy', 'loopback')
    const { status, body } = await register(
      { ...notesApp, client_name: name },
      { 'X-Forwarded-For': address },
    )
    return status === 201 ? body.client_id : String(status)
  }

  const asked = (client_id: string) => ({
    response_type: 'code',
    client_id,
    redirect_uri,
    scope: 'photos:read',
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  })

  type Pass = (staged: RegisteringStage, seconds: number) => Promise<void>

  function onRedis(): { readonly stage: SetRegisteringStage; readonly pass: Pass } {
    let client: Redis
    let prefix = ''
    withRedis((started) => {
      client = started.client
    })
    const stage = registeringOn((clock) => {
      prefix = uniquePrefix()
      const store = redisStore({ client, prefix, clock })
      return { store, clients: store.dynamicClients }
    })
    const pass: Pass = async ({ clock }, seconds) => {
      clock.advance(seconds)
      await letPass(client, `${prefix}{dynamic-clients}`, seconds)
    }
    return { stage, pass }
  }

  describe('A flood of registrations', () => {
    const { stage, pass } = onRedis()

    test(`${most} registrations from one /48 leave the next network a place [registration-1]`, async () => {
      const attempts = most / 100
      const staged = stage({ maximumClients: most }, { limits: { networks: { registration: { attempts } } } })
      const statuses = await flood(staged, ofSubscriber, most)
      expect(statuses).toEqual({ 201: attempts * 16, 429: most - attempts * 16 })
      expect(await registered(staged, 'Next', ofStranger(1))).toMatch(/^dynamic_/)
    })

    test(`${most} clients of one /48 give way to the next ones, and those in use stay [registration-2]`, async () => {
      const staged = stage({ maximumClients: most }, { limits: { networks: false } })
      const { flow, clients } = staged
      const register = (name: string, address: string) => registered(staged, name, address)
      // Clients of people behind the same /48 as the flood, and one of another network.
      const [used, pending, atLogin] = [
        await register('Used', ofSubscriber(1)),
        await register('Open', ofSubscriber(1)),
        await register('At the login', ofSubscriber(1)),
      ]
      const unused = await register('Unused', ofStranger(1))
      const page = await flow.ask(asked(used), 'alice')
      const code = codeOf(await flow.decide(page, 'approve', 'alice'))
      const form = {
        grant_type: 'authorization_code',
        client_id: used,
        code,
        redirect_uri,
        code_verifier: codeVerifier,
      }
      expect((await flow.submit('/token', form)).status).toBe(200)
      expect(await flood(staged, ofSubscriber, most - 4)).toEqual({ 201: most - 4 })

      await pass(staged, 590)
      expect((await flow.ask(asked(atLogin))).status).toBe(303)
      const waiting = await flow.ask(asked(pending), 'alice')
      expect(waiting.status).toBe(200)
      await pass(staged, 10)

      for (let at = 0; at < 10; at++)
        expect(await register(`Stranger ${at}`, ofStranger(at))).toMatch(/^dynamic_/)
      for (const clientId of [used, pending, atLogin, unused])
        expect(await clients.find(clientId)).toBeDefined()
      expect((await flow.ask(asked(atLogin), 'bob')).status).toBe(200)
      codeOf(await flow.decide(waiting, 'approve', 'alice'))
    })

    test('a full store of young clients refuses', async () => {
      const staged = stage({ maximumClients: 2 })
      for (const name of ['One', 'Two']) await registered(staged, name, ofSubscriber(1))
      expect(await registered(staged, 'Three', ofStranger(1))).toBe('503')
      await pass(staged, 599)
      expect(await registered(staged, 'Three', ofStranger(1))).toBe('503')
      await pass(staged, 1)
      expect(await registered(staged, 'Three', ofStranger(1))).toMatch(/^dynamic_/)
    })

    test('a client holds its place by one login alone, because strangers send such requests', async () => {
      const staged = stage({ maximumClients: 1 })
      const client = await registered(staged, 'One', ofSubscriber(1))
      for (let minute = 0; minute < 10; minute++) {
        await staged.flow.ask(asked(client))
        await pass(staged, 61)
      }
      expect(await registered(staged, 'Two', ofStranger(1))).toMatch(/^dynamic_/)
    })
  })
})
