import {
  createAuthorizationServer,
  generateClientSecret,
  hashClientSecret,
  implicit,
  type AuthorizationServer,
  type Store,
} from '../../lib/index'
import { registeredClients } from '../../lib/paths/registration'
import { application, canonicalOptions } from '../support/flows/application'
import { describeOnRegistry } from '../support/flows/registry-stage'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { registered, webMetadata, withSecret } from '../support/flows/registered'
import { tokensOf } from '../support/flows/tokens'
import { but } from '../support/stores/but'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const refused = '401 invalid_client'
const phoneMetadata = {
  client_type: 'public',
  redirect_uris: ['https://book.example/callback'],
  scope: 'photos:read',
} as const

/** The secret of a new rotation. */
const rotated = async (oauth: AuthorizationServer, clientId: string): Promise<string> =>
  (await oauth.rotateClientSecret(clientId)).client_secret

/** Clients of a store that writes, and whose answers do not come until the first write is awaited. */
function answeringLate(store: Store) {
  const writes: Promise<boolean>[] = []
  let isLate = true
  const late = but(store, {
    write: (...words) => {
      const write = store.write(...words)
      writes.push(write)
      return isLate ? new Promise(() => {}) : write
    },
  })
  const written = () => {
    isLate = false
    return writes[0]
  }
  return { registry: registeredClients(late), written }
}

/** What comes of it once a busy machine lets it be in time. */
function inTheEnd<Result>(act: () => Promise<Result>): Promise<Result> {
  return act().catch((error: unknown) => {
    if (Object(error).reason !== 'store_unavailable') throw error
    return inTheEnd(act)
  })
}

describeOnRegistry('A client that registers', (stage) => {
  test('may bring its identifier and the digest of its secret, and goes on with them', async () => {
    const { oauth, flow } = stage()
    const client_secret_hashes = [await hashClientSecret('chosen long ago')]
    const moved = { ...webMetadata, client_id: 'moved', client_secret_hashes }
    expect(await oauth.registerClient(moved)).toEqual({ client_id: 'moved', client_secret: undefined })
    const client = { registration: moved, secret: 'chosen long ago' }
    expect(outcomeOf(await flow.request(client, grant))).toBe('tokens')
  })

  test('leaves no secret in the store, and none in what is found [client-13]', async () => {
    const { oauth, clients } = stage()
    const { registration, secret = '' } = await registered(oauth)
    expect(secret).toHaveLength(43)
    expect(JSON.stringify([await clients.find(registration.client_id), await clients.list()])).not.toContain(
      secret,
    )
  })
})

describeOnRegistry('A rotation', (stage) => {
  test('gives a second secret beside the first, and reports only the use of the first', async () => {
    const { oauth, flow, oldSecrets, failures } = stage()
    const old = await registered(oauth)
    const { client_id: clientId } = old.registration
    expect(outcomeOf(await flow.request(old, grant))).toBe('tokens')
    const current = withSecret(old, await rotated(oauth, clientId))
    expect(outcomeOf(await flow.request(current, grant))).toBe('tokens')
    expect(oldSecrets).toEqual([])
    const answer = await flow.request(old, grant)
    expect(outcomeOf(answer)).toBe('tokens')
    expect(oldSecrets).toMatchObject([{ clientId, requestId: answer.get('X-Request-Id') }])
    expect(oldSecrets[0]?.requestId).toMatch(/^[0-9a-f]{16}$/)
    expect(outcomeOf(await flow.request(withSecret(old, 'wrong'), grant))).toBe(refused)
    expect([oldSecrets.length, failures.length]).toEqual([1, 1])
  })

  test.each(['refresh', 'revoke', 'introspect'] as const)(
    'is reported at every endpoint: %s with the old secret',
    async (act) => {
      const { oauth, flow, oldSecrets } = stage()
      const client = await registered(oauth, { ...webMetadata, may_introspect: true })
      const { refreshToken } = await flow.tokens(client)
      await rotated(oauth, client.registration.client_id)
      expect((await flow[act](client, refreshToken)).status).toBe(200)
      expect(oldSecrets).toHaveLength(1)
    },
  )

  test('by a secret that a person chose is reported, too, remembered or not', async () => {
    const { oauth, flow, oldSecrets } = stage()
    const registration = {
      ...webMetadata,
      client_id: 'old',
      client_secret_hashes: [await hashClientSecret('chosen')],
    }
    await oauth.registerClient(registration)
    const client = { registration, secret: 'chosen' }
    expect(outcomeOf(await flow.request(client, grant))).toBe('tokens')
    await rotated(oauth, 'old')
    for (let turn = 0; turn < 2; turn += 1)
      expect(outcomeOf(await flow.request(client, grant))).toBe('tokens')
    expect(oldSecrets).toHaveLength(2)
  })

  test('that follows another drops the oldest secret at once, and keeps two', async () => {
    const { oauth, flow } = stage()
    const first = await registered(oauth)
    const { client_id } = first.registration
    const second = withSecret(first, await rotated(oauth, client_id))
    const third = withSecret(first, await rotated(oauth, client_id))
    const outcomes = []
    for (const client of [first, second, third]) outcomes.push(outcomeOf(await flow.request(client, grant)))
    expect(outcomes).toEqual([refused, 'tokens', 'tokens'])
  })

  test('that misses the deadline is repeated: it is the same one, and the secret in use works on', async () => {
    const { oauth, flow, store } = stage()
    const first = await registered(oauth)
    const { client_id } = first.registration
    const { registry, written } = answeringLate(store)
    const hurried = createAuthorizationServer({ ...canonicalOptions, clients: registry, storeDeadline: 0.05 })
    await expect(hurried.rotateClientSecret(client_id)).rejects.toHaveProperty('reason', 'store_unavailable')
    await written()
    const second = withSecret(first, await inTheEnd(() => rotated(hurried, client_id)))
    for (const client of [first, second]) expect(outcomeOf(await flow.request(client, grant))).toBe('tokens')
    await inTheEnd(() => hurried.dropOldClientSecrets(client_id))
    expect(outcomeOf(await flow.request(second, grant))).toBe('tokens')
  })

  test('with a secret that its host made can be repeated by any process, and takes no other text for one', async () => {
    const { oauth, flow, clients } = stage()
    const first = await registered(oauth)
    const { client_id } = first.registration
    const { client_secret } = generateClientSecret()
    const elsewhere = createAuthorizationServer({ ...canonicalOptions, clients, storeDeadline: 10 })
    for (const server of [oauth, elsewhere, oauth])
      expect(await server.rotateClientSecret(client_id, client_secret)).toEqual({ client_id, client_secret })
    for (const client of [first, withSecret(first, client_secret)])
      expect(outcomeOf(await flow.request(client, grant))).toBe('tokens')
    for (const chosen of ['', 'chosen', `${client_secret}=`])
      await expect(oauth.rotateClientSecret(client_id, chosen)).rejects.toThrow(
        'client_secret must be a client_secret of generateClientSecret()',
      )
  })
})

describeOnRegistry('A disabled client', (stage) => {
  test('is refused at once at every endpoint, on every process, and let in again [client-15]', async () => {
    const { oauth, flow, failures, store, clients } = stage()
    const client = await registered(oauth, { ...webMetadata, may_introspect: true })
    const { client_id } = client.registration
    const other = application({ store, clients }).flow
    const { refreshToken, accessToken } = await flow.tokens(client)
    await oauth.disableClient(client_id)
    const answers = [
      await flow.request(client, grant),
      await flow.refresh(client, refreshToken),
      await flow.revoke(client, accessToken),
      await flow.introspect(client, accessToken),
      await other.request(client, grant),
    ]
    expect(answers.map(outcomeOf)).toEqual(Array.from(answers, () => refused))
    expect(new Set(failures.map(({ reason }) => reason))).toEqual(new Set(['client_disabled']))

    await oauth.enableClient(client_id)
    expect(outcomeOf(await flow.refresh(client, refreshToken))).toBe('tokens')
    expect(outcomeOf(await other.request(client, grant))).toBe('tokens')
  })

  test('sees the same answer as with a wrong secret, to the letter [client-16]', async () => {
    const { oauth, flow } = stage()
    const client = await registered(oauth)
    const seen = async () => {
      const { status, text, headers } = await flow.request(client, grant)
      const { date: _date, 'x-request-id': _id, ...rest } = headers
      return { status, text, rest }
    }
    await oauth.disableClient(client.registration.client_id)
    const disabled = await seen()
    await oauth.enableClient(client.registration.client_id)
    const wrong = withSecret(client, 'wrong')
    const { status, text, headers } = await flow.request(wrong, grant)
    const { date: _date, 'x-request-id': _id, ...rest } = headers
    expect(disabled).toEqual({ status, text, rest })
  })

  test('with an old secret is not reported as a client in rotation', async () => {
    const { oauth, flow, oldSecrets } = stage()
    const client = await registered(oauth)
    await rotated(oauth, client.registration.client_id)
    await oauth.disableClient(client.registration.client_id)
    expect(outcomeOf(await flow.request(client, grant))).toBe(refused)
    expect(oldSecrets).toEqual([])
  })

  test('is unknown at the authorization endpoint, on a page without a redirect', async () => {
    const { oauth, flow, failures } = stage()
    const client = await registered(oauth)
    await oauth.disableClient(client.registration.client_id)
    const page = await flow.ask(authorizationRequest(client), 'alice')
    expect(outcomeOf(page)).toBe('page 400 invalid_request')
    expect(page.text).toContain('The client is not known here.')
    expect(failures).toMatchObject([{ endpoint: 'authorization', reason: 'client_disabled' }])
  })

  test.each(['approve', 'deny'])(
    'that was disabled while the owner looked at the page gets no answer: %s [consent-29]',
    async (decision) => {
      const { oauth, flow } = stage()
      const client = await registered(oauth)
      const page = await flow.ask(authorizationRequest(client), 'alice')
      await oauth.disableClient(client.registration.client_id)
      const answer = await flow.decide(page, decision, 'alice')
      expect(outcomeOf(answer)).toBe('page 400 invalid_request')
      expect(answer.get('Location')).toBeUndefined()
      await oauth.enableClient(client.registration.client_id)
      expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect code')
    },
  )

  test('gets no token by an implicit grant that the owner decides after it was disabled [implicit-5]', async () => {
    const { oauth, flow } = stage({ plugins: [implicit()] })
    const metadata = { ...phoneMetadata, grant_types: ['implicit'], response_types: ['token'] }
    const show = await registered(oauth, metadata)
    const page = await flow.ask({ ...authorizationRequest(show), response_type: 'token' }, 'alice')
    expect(outcomeOf(page)).toBe('question')
    await oauth.disableClient(show.registration.client_id)
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('page 400 invalid_request')
  })

  test('keeps its access tokens until they are revoked, as its registration says', async () => {
    const { oauth, flow } = stage()
    const client = await registered(oauth)
    const { accessToken } = tokensOf(await flow.request(client, grant))
    await oauth.disableClient(client.registration.client_id)
    const photos = await flow.photos(accessToken)
    expect(photos.status).toBe(200)
    await oauth.revoke(photos.body.authorizationId)
    expect((await flow.photos(accessToken)).status).toBe(401)
  })
})

test('A list of clients, or a store that cannot be written to, says what cures it', async () => {
  for (const clients of [[], { find: async () => undefined }]) {
    const oauth = createAuthorizationServer({ ...canonicalOptions, clients })
    for (const act of [
      () => oauth.registerClient(webMetadata),
      () => oauth.rotateClientSecret('x'),
      () => oauth.dropOldClientSecrets('x'),
      () => oauth.disableClient('x'),
      () => oauth.enableClient('x'),
    ])
      await expect(act()).rejects.toMatchObject({
        name: 'ConfigurationError',
        issues: [{ path: 'clients', message: expect.stringContaining('registeredClients(store)') }],
      })
  }
})
