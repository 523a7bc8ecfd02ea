import type { Redis } from 'ioredis'
import type { AuthorizationServerOptions } from '../../lib/index'
import { metadataDocuments } from '../../lib/paths/registration'
import { redisStore } from '../../lib/paths/redis'
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

  /** The clients that the owner uses. */
  const inUse = async ({ oauth }: RegisteringStage, owner = 'alice') => {
    const { authorizations } = await oauth.authorizations.list(owner)
    return new Set(authorizations.map(({ clientId }) => clientId))
  }

  test('the approval of one more ends the one used longest ago, and shows no page', async () => {
    const staged = stage(2)
    const [first, second, third] = [
      await named(staged, 'first'),
      await named(staged, 'second'),
      await named(staged, 'third'),
    ]
    const tokens = await getTokens(staged, first)
    staged.clock.advance(60)
    const others = await getTokens(staged, second)
    staged.clock.advance(60)
    const { body } = await refresh(staged, first, tokens.body.refresh_token)
    staged.clock.advance(60)
    expect((await getTokens(staged, third)).status).toBe(200)
    expect(await inUse(staged)).toEqual(new Set([first.body.client_id, third.body.client_id]))
    expect(outcomeOf(await refresh(staged, second, others.body.refresh_token))).toBe('400 invalid_grant')
    expect((await refresh(staged, first, body.refresh_token)).status).toBe(200)
    expect(staged.failures.map(({ reason }) => reason)).toEqual(['refresh_token_unknown'])
  })

  test('is 50 clients by default', async () => {
    const staged = set({}, { authorizations: true })
    for (let at = 0; at < 50; at++) {
      await approveNew(staged, at)
      staged.clock.advance(1)
    }
    const first = await inUse(staged)
    expect(first.size).toBe(50)
    await approveNew(staged, 50)
    const then = await inUse(staged)
    expect([then.size, [...first].filter((id) => !then.has(id)).length]).toEqual([50, 1])
  })

  test('as many for each owner, and registered clients neither count nor end', async () => {
    const staged = stage(1)
    const ofHost = await staged.flow.tokens(photoPrint)
    await approveNew(staged, 'one')
    await approveNew(staged, 'two', 'bob')
    await approveNew(staged, 'three', 'bob')
    expect([(await inUse(staged)).size, (await inUse(staged, 'bob')).size]).toEqual([2, 1])
    expect((await staged.flow.refresh(photoPrint, ofHost.refreshToken)).status).toBe(200)
  })

  test('a client that the owner uses already goes on: new approvals, redemptions, refreshes', async () => {
    const staged = stage(2)
    const client = await named(staged, 'first')
    const tokens = await getTokens(staged, client)
    const other = await named(staged, 'second')
    const page = await staged.flow.ask(ofClient(other), 'alice')
    const code = codeOf(await staged.flow.decide(page, 'approve', 'alice'))
    expect((await redeem(staged, other, code)).status).toBe(200)
    expect((await refresh(staged, client, tokens.body.refresh_token)).status).toBe(200)
    for (const each of [client, other]) expect((await getTokens(staged, each)).status).toBe(200)
    expect((await inUse(staged)).size).toBe(2)
  })

  test('counts an approval without a page', async () => {
    const staged = stage(1, {}, { skipConsent: () => true })
    for (const name of ['first', 'second', 'first'])
      expect(outcomeOf(await staged.flow.ask(ofClient(await named(staged, name)), 'alice'))).toBe(
        'redirect code',
      )
    expect((await inUse(staged)).size).toBe(1)
  })

  test('a denial ends nothing', async () => {
    const staged = stage(1)
    await approveNew(staged, 'first')
    const page = await staged.flow.ask(ofClient(await named(staged, 'second')), 'alice')
    expect((await staged.flow.decide(page, 'deny', 'alice')).get('Location')).toContain('access_denied')
    expect((await inUse(staged)).size).toBe(1)
  })

  test('parallel approvals of one owner do not exceed the share', async () => {
    const staged = stage(2)
    const clients = await Promise.all([1, 2, 3, 4].map((name) => named(staged, name)))
    const pages = await Promise.all(clients.map((client) => staged.flow.ask(ofClient(client), 'alice')))
    await Promise.all(pages.map((page) => staged.flow.decide(page, 'approve', 'alice')))
    expect((await inUse(staged)).size).toBeLessThanOrEqual(2)
  })

  test('is off with false', async () => {
    const staged = stage(false)
    for (let name = 0; name < 3; name++) await approveNew(staged, name)
    expect((await inUse(staged)).size).toBe(3)
  })
})

describeRegistration('A registration that its only owner uses no more', (set) => {
  const lastsAnHour = async (
    end: (staged: RegisteringStage, id: string) => Promise<unknown>,
    owners: string[],
  ) => {
    const staged = set({}, { authorizations: true, limits: { selfRegisteredClients: 1 } })
    const client = await staged.register(notesApp)
    for (const owner of owners) {
      const page = await staged.flow.ask(ofClient(client), owner)
      await staged.flow.decide(page, 'approve', owner)
    }
    await end(staged, client.body.client_id)
    const { until } = Object(await storedClient(staged, client.body.client_id))
    return until <= staged.clock.read() / 1000 + 3600
  }
  const approvesAnother = async ({ register, flow }: RegisteringStage) => {
    const other = await register({ ...notesApp, client_name: 'Another' })
    await flow.decide(await flow.ask(ofClient(other), 'alice'), 'approve', 'alice')
  }
  const revokes = ({ oauth }: RegisteringStage, id: string) => oauth.authorizations.revoke('alice', id)

  test('falls back to an hour, by another client or by the owner', async () => {
    expect(await lastsAnHour(approvesAnother, ['alice'])).toBe(true)
    expect(await lastsAnHour(revokes, ['alice'])).toBe(true)
    expect(await lastsAnHour(async () => {}, ['alice'])).toBe(false)
  })

  test('stays if another owner has used it', async () => {
    expect(await lastsAnHour(revokes, ['alice', 'bob'])).toBe(false)
    expect(await lastsAnHour(revokes, ['bob', 'alice'])).toBe(false)
  })

  test('lasts again once its owner comes back', async () => {
    const comesBack = async (staged: RegisteringStage, id: string) => {
      await revokes(staged, id)
      const client = await staged.register(notesApp)
      const page = await staged.flow.ask(ofClient(client), 'alice')
      await staged.flow.decide(page, 'approve', 'alice')
    }
    expect(await lastsAnHour(comesBack, ['alice'])).toBe(false)
  })
})

describe('The share of an owner', () => {
  it('counts clients that are known by their documents', async () => {
    const origins = [await DocumentOrigin.start(), await DocumentOrigin.start()]
    try {
      const [first] = origins
      const { flow, oauth } = application({
        clients: metadataDocuments({ ...first?.reach }),
        authorizations: true,
        limits: { selfRegisteredClients: 1 },
      })
      const outcomes: string[] = []
      for (const { client } of [...origins, ...origins]) {
        const page = await flow.ask(authorizationRequest(client), 'alice')
        outcomes.push(outcomeOf(await flow.decide(page, 'approve', 'alice')))
      }
      expect(outcomes).toEqual(Array.from({ length: 4 }, () => 'redirect code'))
      expect((await oauth.authorizations.list('alice')).authorizations).toHaveLength(1)
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
