import request from 'supertest'
import { type AuthorizationServerOptions, type Store, memoryStore } from '../../lib/index'
import { type ClientChange, registeredClients, metadataDocuments } from '../../lib/paths/registration'
import { Clock } from '../support/flows/clock'
import { DocumentOrigin } from '../support/flows/document-origin'
import { describeOnRegistry } from '../support/flows/registry-stage'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { registered, webMetadata, withSecret } from '../support/flows/registered'
import { notesApp } from '../support/flows/registering'
import { application } from '../support/flows/application'
import { getTokens } from '../support/flows/registered-client'
import { but } from '../support/stores/but'

describe('The life of clients', () => {
  const phoneMetadata = {
    client_type: 'public',
    client_name: 'Photo Phone',
    redirect_uris: ['https://old.example/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'photos:read photos:print',
  } as const
  const next = 'https://new.example/callback'
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  describeOnRegistry('changeClient', (stage) => {
    const changing = async (metadata: Parameters<typeof registered>[1] = phoneMetadata, options = {}) => {
      const staged = stage(options)
      const client = await registered(staged.oauth, metadata)
      const { client_id } = client.registration
      const change = (members: ClientChange) => staged.oauth.changeClient(client_id, members)
      return { ...staged, client, client_id, change, found: () => staged.clients.find(client_id) }
    }

    test('replaces the members that it names, and leaves the others', async () => {
      const { change, found, client_id } = await changing()
      const before = await found()
      await change({ client_name: 'Photo Book', redirect_uris: [next] })
      expect(await found()).toEqual({ ...before, client_name: 'Photo Book', redirect_uris: [next] })
      await change({ client_name: undefined, description: null })
      const { client_name: _gone, ...rest } = before ?? {}
      expect(await found()).toEqual({ ...rest, client_id, redirect_uris: [next] })
    })

    test('lists every mistake of the registration as it would be, and writes nothing', async () => {
      const { change, found } = await changing()
      const before = await found()
      const wrong = { scope: 'photos:delete', redirect_uris: ['/x'], logo_uri: 'http://a.example/l.png' }
      await expect(change(wrong)).rejects.toMatchObject({
        name: 'ConfigurationError',
        issues: expect.arrayContaining(
          ['scope', 'redirect_uris[0]', 'logo_uri'].map((path) => expect.objectContaining({ path })),
        ),
      })
      await expect(change({ redirect_uris: [] })).rejects.toMatchObject({
        issues: [{ path: 'redirect_uris' }],
      })
      expect(await found()).toEqual(before)
    })

    test.each([
      ['client_id', 'other'],
      ['client_type', 'confidential'],
      ['client_secret_hashes', [`sha256:${'A'.repeat(43)}`]],
      ['disabled', true],
      ['redirect_uri', 'https://misspelt.example/'],
      ['__proto__', { scope: 'photos:read' }],
    ])('refuses the member %s: %j', async (name, value) => {
      const { oauth, client_id, found } = await changing()
      const before = await found()
      const change: ClientChange = JSON.parse(JSON.stringify({ client_name: 'x', [name]: value }))
      const own: ClientChange = name === '__proto__' ? Object.fromEntries([[name, value]]) : change
      await expect(oauth.changeClient(client_id, own)).rejects.toMatchObject({ issues: [{ path: name }] })
      expect(await found()).toEqual(before)
    })

    test('removes a member that no plug-in of this server has any more, and finds a misspelt name', async () => {
      const { clients, change, client_id, found } = await changing()
      await clients.update(client_id, (current) => Object.assign({ ...current }, { old_member: [1] }))
      await expect(change({ client_name: 'x' })).rejects.toMatchObject({ issues: [{ path: 'old_member' }] })
      await change(Object.fromEntries([['old_member', null]]))
      expect(await found()).not.toHaveProperty('old_member')
      for (const nothing of [null, undefined])
        await expect(change(Object.fromEntries([['client_nmae', nothing]]))).rejects.toMatchObject({
          issues: [{ path: 'client_nmae' }],
        })
    })

    test('takes a whole form, in which the fixed members are as they were', async () => {
      const { change, found, client_id } = await changing(webMetadata)
      const form = { ...(await found()), client_name: 'Photo Book' }
      await change(form)
      expect(await found()).toEqual({ ...form, client_id })
    })

    test('an open request at a redirection URI that is gone ends on a page, whatever the owner decides', async () => {
      const { flow, client, change } = await changing()
      const pages = [await flow.ask(authorizationRequest(client), 'alice')]
      pages.push(await flow.ask(authorizationRequest(client), 'alice'))
      await change({ redirect_uris: [next] })
      for (const [at, decision] of ['approve', 'deny'].entries()) {
        const page = pages[at]
        if (page === undefined) throw new Error('There is no page.')
        const response = await flow.decide(page, decision, 'alice')
        expect(outcomeOf(response)).toBe('page 400 invalid_request')
        expect(response.text).not.toContain('old.example')
      }
      expect(outcomeOf(await flow.ask(authorizationRequest(client), 'alice'))).toBe(
        'page 400 invalid_request',
      )
      const moved = { ...client, registration: { ...client.registration, redirect_uris: [next] } }
      await flow.tokens(moved)
    })

    test('without the grant type refresh_token, refresh tokens are of no use, and work again with it', async () => {
      const { flow, client, change } = await changing()
      const { accessToken, refreshToken } = await flow.tokens(client)
      await change({ grant_types: null })
      expect(outcomeOf(await flow.refresh(client, refreshToken))).toBe('400 unauthorized_client')
      expect((await flow.photos(accessToken)).status).toBe(200)
      await change({ grant_types: ['authorization_code', 'refresh_token'] })
      expect(outcomeOf(await flow.refresh(client, refreshToken))).toBe('tokens')
    })

    test('without the code grant, neither a page nor a code leads to tokens', async () => {
      const { flow, client, change } = await changing(webMetadata)
      const page = await flow.ask(authorizationRequest(client), 'alice')
      const code = await flow.approve(client)
      await change({ grant_types: ['client_credentials'], response_types: null })
      expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect unauthorized_client')
      expect(outcomeOf(await flow.redeem(client, code))).toBe('400 unauthorized_client')
      expect(outcomeOf(await flow.request(client, grant))).toBe('tokens')
    })

    test('a scope that is gone is not in later tokens', async () => {
      const { flow, client, change } = await changing()
      const { refreshToken } = await flow.tokens(client)
      const page = await flow.ask(authorizationRequest(client), 'alice')
      await change({ scope: 'photos:read' })
      expect((await flow.refresh(client, refreshToken)).body).toMatchObject({ scope: 'photos:read' })
      expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect invalid_scope')
    })

    test('parallel changes, rotations and a disabling lose nothing of each other', async () => {
      const { oauth, flow, client, change, client_id, found } = await changing(webMetadata)
      const [rotated] = await Promise.all([
        oauth.rotateClientSecret(client_id),
        change({ client_name: 'Photo Book' }),
        change({ description: 'Prints albums' }),
        change({ redirect_uris: [next] }),
        oauth.disableClient(client_id),
      ])
      expect(await found()).toMatchObject({
        client_name: 'Photo Book',
        description: 'Prints albums',
        redirect_uris: [next],
        disabled: true,
      })
      await oauth.enableClient(client_id)
      for (const each of [client, withSecret(client, rotated.client_secret)])
        expect(outcomeOf(await flow.request(each, grant))).toBe('tokens')
    })
  })

  describeOnRegistry('deleteClient', (stage) => {
    const deleted = { disabled: true, deleted: true, scope: '' }

    test('shuts the client out at every endpoint, as an unknown one', async () => {
      const { oauth, flow, failures } = stage()
      const client = await registered(oauth, { ...webMetadata, may_introspect: true })
      const { accessToken, refreshToken } = await flow.tokens(client)
      const code = await flow.approve(client)
      const page = await flow.ask(authorizationRequest(client), 'alice')
      await oauth.deleteClient(client.registration.client_id)
      const outcomes = [
        await flow.request(client, grant),
        await flow.refresh(client, refreshToken),
        await flow.redeem(client, code),
        await flow.revoke(client, accessToken),
        await flow.introspect(client, accessToken),
      ]
      expect(outcomes.map(outcomeOf)).toEqual(outcomes.map(() => '401 invalid_client'))
      for (const refused of [
        await flow.ask(authorizationRequest(client), 'alice'),
        await flow.decide(page, 'approve', 'alice'),
      ])
        expect(outcomeOf(refused)).toBe('page 400 invalid_request')
      expect(failures.map(({ reason }) => reason)).toEqual(failures.map(() => 'client_unknown'))
      // Guards do not look at the client.
      expect((await flow.photos(accessToken)).status).toBe(200)
    })

    test('leaves the identifier alone, without a name, a URI and a digest', async () => {
      const { oauth, clients } = stage()
      const { registration } = await registered(oauth)
      const { client_id } = registration
      await oauth.deleteClient(client_id)
      const rest = { client_id, client_type: 'confidential', ...deleted }
      expect(await clients.find(client_id)).toEqual(rest)
      expect(await clients.list()).toEqual([rest])
    })

    test('the identifier never names another client, and nothing brings the client back', async () => {
      const { oauth, clients } = stage()
      const { client_id } = (await registered(oauth)).registration
      await oauth.deleteClient(client_id)
      const before = await clients.find(client_id)
      await expect(oauth.registerClient({ ...phoneMetadata, client_id })).rejects.toMatchObject({
        issues: [{ path: 'client_id', message: expect.stringContaining('is taken') }],
      })
      for (const act of [
        () => oauth.enableClient(client_id),
        () => oauth.disableClient(client_id),
        () => oauth.changeClient(client_id, { client_name: 'Back' }),
        () => oauth.rotateClientSecret(client_id),
        () => oauth.dropOldClientSecrets(client_id),
      ])
        await expect(act()).rejects.toMatchObject({
          issues: [{ path: 'client_id', message: expect.stringContaining('names no client') }],
        })
      expect(await clients.find(client_id)).toEqual(before)
    })

    test('may be repeated, and refuses a client that was never there', async () => {
      const { oauth, clients } = stage()
      const { client_id } = (await registered(oauth)).registration
      await Promise.all([oauth.deleteClient(client_id), oauth.deleteClient(client_id)])
      await oauth.deleteClient(client_id)
      expect(await clients.find(client_id)).toMatchObject(deleted)
      for (const id of ['nobody', '', '__proto__'])
        await expect(oauth.deleteClient(id)).rejects.toMatchObject({ issues: [{ path: 'client_id' }] })
    })

    test('wins over changes and rotations at the same time', async () => {
      const { oauth, clients } = stage()
      const { client_id } = (await registered(oauth)).registration
      await Promise.allSettled([
        oauth.changeClient(client_id, { client_name: 'Late' }),
        oauth.rotateClientSecret(client_id),
        oauth.deleteClient(client_id),
        oauth.rotateClientSecret(client_id),
        oauth.changeClient(client_id, { description: 'Late' }),
      ])
      expect(await clients.find(client_id)).toEqual({ client_id, client_type: 'confidential', ...deleted })
    })

    test('neither a document nor a client that registers itself takes its identifier', async () => {
      const clients = registeredClients(memoryStore())
      const origin = await DocumentOrigin.start()
      try {
        const clock = new Clock()
        const { oauth, flow, app } = stage({
          clock: clock.read,
          clients: metadataDocuments({ ...origin.reach, registered: clients }),
          dynamicRegistration: {},
        })
        const { client_id } = (await request(app).post('/register').send(notesApp)).body
        const redirect_uris = notesApp.redirect_uris
        for (const id of [client_id, origin.clientId]) {
          await oauth.registerClient({
            client_id: id,
            client_type: 'public',
            redirect_uris,
            scope: 'photos:read',
          })
          await oauth.deleteClient(id)
          const asking = { response_type: 'code', client_id: id, scope: 'photos:read' }
          expect(outcomeOf(await flow.ask(asking, 'alice'))).toBe('page 400 invalid_request')
        }
        expect((await request(app).post('/register').send(notesApp)).body).toMatchObject({
          error: 'invalid_client_metadata',
        })
        expect(origin.asked).toBe(0)
      } finally {
        await origin.stop()
      }
    })

    test('no host registers a client that is deleted from the start', async () => {
      const { oauth } = stage()
      await expect(oauth.registerClient({ ...phoneMetadata, deleted: true })).rejects.toMatchObject({
        issues: [{ path: 'deleted' }],
      })
    })
  })
})

describe('The last use of clients', () => {
  const day = 24 * 3600
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
  const dayOf = (clock: Clock) => {
    const now = Math.floor(clock.read() / 1000)
    return now - (now % day)
  }

  describeOnRegistry('The last use of a client', (stage) => {
    const open = (options: Partial<AuthorizationServerOptions> = {}) => {
      const clock = new Clock()
      const staged = stage({ clock: clock.read, ...options })
      return { ...staged, clock, uses: async () => staged.clients.lastUses() }
    }

    test('is the day of its last code or token, by any grant', async () => {
      const { oauth, flow, clock, uses } = open()
      const [forOwners, forItself] = [await registered(oauth), await registered(oauth)]
      const { refreshToken } = await flow.tokens(forOwners)
      const first = dayOf(clock)
      await flow.request(forItself, grant)
      clock.advance(3 * day)
      await flow.refresh(forOwners, refreshToken)
      expect(await uses()).toEqual(
        new Map([
          [forOwners.registration.client_id, first + 3 * day],
          [forItself.registration.client_id, first],
        ]),
      )
    })

    test('is the day of its last introspection, for a resource server', async () => {
      const { oauth, flow, clock, uses } = open()
      const server = await registered(oauth, { ...webMetadata, may_introspect: true })
      expect(outcomeOf(await flow.introspect(server, 'at_unknown'))).toBe('inactive')
      expect(await uses()).toEqual(new Map([[server.registration.client_id, dayOf(clock)]]))
    })

    test('is none for a request that anybody can send, and for one that fails', async () => {
      const { oauth, flow, uses } = open()
      const client = await registered(oauth)
      const page = await flow.ask(authorizationRequest(client), 'alice')
      await flow.decide(page, 'deny', 'alice')
      await flow.request({ ...client, secret: 'wrong' }, grant)
      await flow.redeem(client, 'ac_unknown')
      await flow.introspect(client, 'at_unknown')
      expect(await uses()).toEqual(new Map())
    })

    test('is no reason to refuse a client', async () => {
      const { store } = open()
      const { clients } = noted(store, () => true)
      const { oauth, flow } = application({ clients })
      const client = await registered(oauth)
      expect(outcomeOf(await flow.request(client, grant))).toBe('tokens')
    })
  })

  /** Registered clients, and the notes of uses that the store takes. */
  function noted(store: Store = memoryStore(), isFailing = () => false) {
    const notes: (readonly [string, number])[] = []
    const noting = but(store, {
      write: async (key, value, terms) => {
        const { registration, usedOn } = JSON.parse(value)
        if (usedOn === undefined) return store.write(key, value, terms)
        if (isFailing()) throw new Error('refused')
        notes.push([registration.client_id, usedOn])
        return store.write(key, value, terms)
      },
    })
    return { notes, clients: registeredClients(noting) }
  }

  describe('Notes of uses', () => {
    it('are one for each client, day and process', async () => {
      const { notes, clients } = noted()
      const clock = new Clock()
      const { oauth, flow } = application({ clients, clock: clock.read })
      const client = await registered(oauth)
      await Promise.all(Array.from({ length: 10 }, () => flow.request(client, grant)))
      clock.advance(day)
      for (let round = 0; round < 3; round++) await flow.request(client, grant)
      // A clock that was ahead, and is set right.
      clock.advance(-day)
      await flow.request(client, grant)
      clock.advance(day)
      const { client_id } = client.registration
      expect(notes).toEqual([
        [client_id, dayOf(clock) - day],
        [client_id, dayOf(clock)],
      ])
    })

    it('come again after a note that failed', async () => {
      let isFailing = true
      const { notes, clients } = noted(memoryStore(), () => isFailing)
      const { oauth, flow } = application({ clients })
      const client = await registered(oauth)
      await flow.request(client, grant)
      isFailing = false
      await flow.request(client, grant)
      expect(notes).toHaveLength(1)
    })

    it('are there for registered clients beside documents, too', async () => {
      const { notes, clients } = noted()
      const { oauth, flow } = application({ clients: metadataDocuments({ registered: clients }) })
      const client = await registered(oauth)
      await flow.request(client, grant)
      expect(notes).toHaveLength(1)
    })

    it('never name a client that is known by its document', async () => {
      const { notes, clients } = noted()
      const origin = await DocumentOrigin.start()
      try {
        const { flow } = application({ clients: metadataDocuments({ ...origin.reach, registered: clients }) })
        expect(await flow.approve(origin.client)).toEqual(expect.any(String))
        expect(notes).toEqual([])
      } finally {
        await origin.stop()
      }
    })

    it('never name a client that registered itself', async () => {
      const { notes, clients } = noted()
      const staged = application({ clients, dynamicRegistration: {} })
      const client = await request(staged.app).post('/register').send(notesApp)
      expect((await getTokens(staged, client)).status).toBe(200)
      expect(notes).toEqual([])
    })
  })
})
