import express from 'express'
import request from 'supertest'
import {
  openRequest,
  type Extension,
  type Plugin,
  type ResolvedRequest,
  authorizationIdOf,
  type Counters,
  invalidRequest,
  memoryStore,
  type TokenType,
} from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, formOf, type Flow } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import { setStage } from '../support/flows/stage'

describe('Extensions of requests', () => {
  const asked = authorizationRequest(photoPrint)

  /** An extension as a class: its functions use their own object. */
  class Narrower implements Extension {
    readonly name = 'narrower'
    private readonly scope = 'photos:read'

    async resolve(): Promise<ResolvedRequest> {
      return { parameters: formOf({ ...asked, scope: this.scope }) }
    }

    async authorize() {
      return {
        facts: [{ name: 'scope', label: 'Only', values: [{ value: this.scope, description: this.scope }] }],
        consent: this.scope === 'photos:read' ? ('approve' as const) : ('ask' as const),
      }
    }
  }

  describe('an extension that replaces a request', () => {
    test('may be an instance of a class, and may wait', async () => {
      const { flow } = setStage({ plugins: [new Narrower()] })
      const response = await flow.ask({ ...asked, scope: 'photos:print' }, 'alice')
      const tokens = await flow.redeem(photoPrint, String(redirectionOf(response).parameters['code']))
      expect(tokens.body).toMatchObject({ scope: 'photos:read' })
    })

    test('gets what the previous one left, and errors go where the replaced request says', async () => {
      const second: Extension = {
        name: 'second',
        resolve: async (parameters) => ({
          parameters: formOf({ ...asked, scope: 'unknown', state: `after ${parameters.get('scope')}` }),
        }),
      }
      const { flow } = setStage({ plugins: [new Narrower(), second] })
      const { uri, parameters } = redirectionOf(await flow.ask({ client_id: 'photo-print' }, 'alice'))
      expect(uri).toBe('https://print.example/callback')
      expect(parameters).toMatchObject({ error: 'invalid_scope', state: 'after photos:read' })
    })

    const resolving = (resolved: unknown): Extension => ({
      name: 'resolving',
      resolve: jest.fn().mockResolvedValue(resolved),
    })

    test.each<[string, unknown, number]>([
      ['another client', { parameters: formOf({ ...asked, client_id: 'photo-book' }) }, 400],
      [
        'a redirection URI of somebody else',
        { parameters: formOf({ ...asked, redirect_uri: 'https://x.y/' }) },
        400,
      ],
      [
        'a state that no redirect can carry',
        { parameters: formOf({ ...asked, state: 'x'.repeat(40_000) }) },
        400,
      ],
      ['a handle that names nothing', { parameters: formOf(asked), claims: `rh_${'A'.repeat(65)}` }, 400],
      ['parameters of no kind', { parameters: {} }, 500],
      ['a member that nobody knows', { parameters: formOf(asked), claim: 'x' }, 500],
    ])('leads nowhere with %s', async (_what, resolved, status) => {
      const { flow } = setStage({ plugins: [resolving(resolved)] })
      const response = await flow.ask(asked, 'alice')
      expect([response.status, response.get('Location')]).toEqual([status, undefined])
    })

    test('claims one record for one request', async () => {
      const claims = `rh_${'A'.repeat(65)}`
      const one = resolving({ parameters: formOf(asked), claims })
      const { flow } = setStage({ plugins: [one, { ...one, name: 'other' }] })
      expect((await flow.ask(asked, 'alice')).status).toBe(500)
    })
  })

  describe('a record that an approval without a page uses up', () => {
    test('is approved for one of two owners who bring it at once', async () => {
      let claims: string | undefined
      const keeper: Plugin = {
        name: 'keeper',
        open: (server) => ({
          async resolve(parameters, client, { isPushed, sender }) {
            if (isPushed) return undefined
            const { proposal } = await server.parseAuthorizationRequest(client, parameters, undefined, sender)
            const { requested, handle } = openRequest(proposal, server.context())
            if (claims === undefined) await server.begin(requested)
            return { parameters: parameters.format(), claims: (claims ??= handle) }
          },
        }),
      }
      const { flow } = setStage({ plugins: [keeper], skipConsent: () => true })
      const outcomes = await Promise.all([flow.ask(asked, 'alice'), flow.ask(asked, 'bob')])
      expect(outcomes.map(outcomeOf).toSorted()).toEqual(['page 400 invalid_request', 'redirect code'])
    })
  })

  describe('an extension about owners', () => {
    const saying = (name: string, terms: unknown): Extension => ({
      name,
      authorize: jest.fn().mockResolvedValue(terms),
    })

    test.each<[readonly unknown[], string]>([
      [[{ consent: 'approve' }, undefined], 'redirect code'],
      [[{ consent: 'approve' }, { consent: 'ask' }], 'question'],
      [[{ consent: 'ask' }, { consent: 'approve' }], 'question'],
      [[{ consent: 'approve' }, { logIn: {} }], 'login'],
    ])('of several, the strictest counts: %j', async (terms, outcome) => {
      const extensions = terms.map((each, index) => saying(`x${index}`, each))
      const { flow } = setStage({ plugins: [...extensions], skipConsent: () => true })
      expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe(outcome)
    })

    test('sees the request, its owner, and no demand that nobody made', async () => {
      const authorize = jest.fn()
      const { flow } = setStage({ plugins: [{ name: 'seeing', authorize }] })
      await flow.ask(asked, 'alice')
      expect(authorize).toHaveBeenCalledWith(
        expect.objectContaining({
          scope: ['photos:read', 'photos:print'],
          owner: expect.objectContaining({ subject: 'alice' }),
          loginDemandedAt: undefined,
        }),
      )
    })

    test('approves no app without a page that another app could pass for', async () => {
      const app = bent(photoBook, { redirect_uris: ['com.example.book:/callback'] })
      const { flow } = setStage({
        plugins: [saying('a', { consent: 'approve' })],
        clients: [app.registration],
      })
      expect(outcomeOf(await flow.ask(authorizationRequest(app), 'alice'))).toBe('question')
    })

    test.each([{ consent: 'login' }, { logIn: true }, null])(
      'that says %j is a fault of the server',
      async (terms) => {
        const { flow } = setStage({ plugins: [saying('a', terms)] })
        expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect server_error')
      },
    )

    test('a login function hears whether an owner has to log in again', async () => {
      const again: unknown[] = []
      const { flow } = setStage({
        plugins: [saying('a', { logIn: {} })],
        login: (_request, response, _returnTo, asking) => {
          again.push(asking.again)
          response.send('log in')
        },
      })
      await flow.ask(asked, 'alice')
      await flow.ask(asked)
      expect(again).toEqual([true, false])
    })
  })

  const { redirect_uri = '', ...others } = authorizationRequest(photoPrint)
  const pushedFields = { ...others, redirect_uri }

  /** An endpoint that shows what a pushed request keeps. */
  const pushing: Plugin = {
    name: 'pushing',
    open: (server) => ({
      endpoints: [
        {
          name: 'push',
          path: '/push',
          async handle({ client, parameters, evidence, sender }) {
            const parsed = await server.parseAuthorizationRequest(client, parameters, evidence, sender)
            return { members: { kept: parsed.parameters, scope: parsed.proposal.scope } }
          },
        },
      ],
    }),
  }

  async function push(
    extensions: readonly Extension[],
    fields: Readonly<Record<string, string>> = pushedFields,
  ) {
    const { flow } = setStage({ plugins: [...extensions, pushing] })
    const response = await flow.request(photoPrint, fields, '/push')
    const { kept, scope, error } = response.body
    return { outcome: `${response.status} ${error}`, kept: new URLSearchParams(kept), scope }
  }

  /** The parameters of the request stand in another parameter, as in a request object. */
  const unwrapping: Extension = {
    name: 'unwrapping',
    async resolve(parameters) {
      const inner = parameters.get('inner')
      return inner === undefined ? undefined : { parameters: inner }
    },
  }

  describe('a pushed request', () => {
    test('is replaced by extensions, which learn that it is pushed, and needs no client_id before', async () => {
      const seen: unknown[] = []
      const watching: Extension = {
        name: 'watching',
        async resolve(_parameters, client, { isPushed }) {
          seen.push([client.client_id, isPushed])
          return undefined
        },
      }
      const inner = formOf({ ...pushedFields, scope: 'photos:read' })
      const { kept, scope } = await push([watching, unwrapping], { inner, scope: 'photos:print' })
      expect(scope).toEqual(['photos:read'])
      expect(kept.toString()).toBe(inner)
      expect(seen).toEqual([['photo-print', true]])
    })

    test.each<[string, Record<string, string>]>([
      [
        'the wrapped request is of another client',
        { inner: formOf({ ...pushedFields, client_id: 'photo-book' }) },
      ],
      [
        'the request has a faulty parameter that nothing reads before',
        { ...pushedFields, scope: 'x'.repeat(5000) },
      ],
    ])('is refused if %s', async (_what, fields) => {
      expect((await push([unwrapping], fields)).outcome).toBe('400 invalid_request')
    })

    test('uses up no record', async () => {
      const claiming: Extension = {
        name: 'claiming',
        resolve: async (parameters) => ({ parameters: parameters.format(), claims: 'rh_' }),
      }
      expect((await push([claiming])).outcome).toBe('500 server_error')
    })

    test('keeps no credential of its client, whatever the method', async () => {
      const badge: Extension = { name: 'badge', credentialParameters: ['badge'] }
      const fields = { ...pushedFields, badge: 'b', client_assertion_type: 'urn:x', code_verifier: 'v' }
      const { kept } = await push([badge], fields)
      expect([...kept.keys()].toSorted()).toEqual(Object.keys(pushedFields).toSorted())
    })

    /** What the extension found in the request becomes a parameter, as the thumbprint of a proof. */
    const adding: Extension = {
      name: 'adding',
      authorizationParameters: ['thumbprint'],
      prepare: async ({ endpoint }) => `proof at ${endpoint}`,
      resolve: async (parameters, _client, { evidence }) => ({
        parameters: parameters
          .without(['thumbprint'])
          .with(new Map([['thumbprint', `of ${String(evidence)}`]])),
      }),
    }

    test.each([
      ['before', [adding, unwrapping]],
      ['after', [unwrapping, adding]],
    ])(
      'has what a plug-in adds by its evidence, %s one that replaces the request',
      async (_where, plugins) => {
        const inner = formOf({ ...pushedFields, thumbprint: '' })
        const { kept } = await push(plugins, { inner })
        expect(kept.getAll('thumbprint')).toEqual(['of proof at push'])
        expect(kept.get('state')).toBe(pushedFields['state'])
      },
    )

    test('with a fault stays faulty where a plug-in adds to it', async () => {
      const fields = { ...pushedFields, scope: 'x'.repeat(5000) }
      expect((await push([adding], fields)).outcome).toBe('400 invalid_request')
    })
  })
})

describe('Plug-ins', () => {
  /** A box for authorization requests: a client leaves one, and may look at it and take it back. */
  const requestBox: Plugin = {
    name: 'request-box',
    open(server) {
      let left = 0
      const idOf = (handle: string) => authorizationIdOf(handle) ?? 'unknown'
      const unknown = () => invalidRequest('authorization_request_unknown', 'The box has no such request.')
      return {
        endpoints: [
          {
            name: 'leave',
            path: '/leave',
            async handle({ client, parameters, sender }) {
              const { proposal, facts } = await server.parseAuthorizationRequest(
                client,
                parameters,
                undefined,
                sender,
              )
              const { requested, handle } = openRequest(proposal, server.context())
              await server.begin(requested)
              left += 1
              return { members: { handle, facts, left, leave_url: server.urlOf('/leave') }, status: 201 }
            },
          },
          {
            name: 'look',
            path: '/look',
            async handle({ parameters }) {
              const found = await server.find(idOf(parameters.require('handle')))
              if (found === undefined) throw unknown()
              const client = await server.findClient(found.clientId)
              return { members: { state: found.state, scope: found.scope, client: client?.client_name } }
            },
          },
          {
            name: 'take_back',
            path: '/take-back',
            async handle({ client, parameters }) {
              const id = idOf(parameters.require('handle'))
              if (!(await server.counters.useOnce(`take back ${id}`, 60, client.client_id))) throw unknown()
              const scope = await server.commit(id, (current) =>
                current?.clientId === client.client_id
                  ? { action: 'delete', outcome: current.scope }
                  : { action: 'none', refusal: unknown() },
              )
              return { members: { scope } }
            },
          },
        ],
      }
    },
  }

  const asked = authorizationRequest(photoPrint)

  describe('A plug-in', () => {
    test('keeps an authorization request in a record of its own, finds it, and removes it once', async () => {
      const { flow } = setStage({ plugins: [requestBox] })
      const { status, body } = await flow.request(photoPrint, asked, '/leave')
      expect([status, body]).toEqual([
        201,
        { handle: expect.any(String), facts: [], left: 1, leave_url: 'http://localhost/leave' },
      ])
      const { handle } = body
      const looked = await flow.request(photoPrint, { handle }, '/look')
      const scope = ['photos:read', 'photos:print']
      expect(looked.body).toEqual({ state: 'requested', scope, client: 'Photo Print' })
      expect((await flow.request(photoPrint, { handle }, '/take-back')).body).toEqual({ scope })
      for (const path of ['/look', '/take-back'])
        expect(outcomeOf(await flow.request(photoPrint, { handle }, path))).toBe('400 invalid_request')
    })

    test("a transition that refuses leaves another client's record", async () => {
      const { flow } = setStage({ plugins: [requestBox] })
      const { handle } = (await flow.request(photoPrint, asked, '/leave')).body
      expect(outcomeOf(await flow.request(photoBook, { handle }, '/take-back'))).toBe('400 invalid_request')
      expect((await flow.request(photoPrint, { handle }, '/look')).status).toBe(200)
    })

    test('refuses a request that names another client than the one it came from', async () => {
      const strangers: Plugin = {
        name: 'strangers',
        open: (server) => ({
          endpoints: [
            {
              name: 'leave',
              path: '/leave',
              clientAuthentication: 'none',
              async handle({ parameters, sender }) {
                const client = await server.findClient('photo-book')
                if (client === undefined) throw new Error('The client is gone.')
                return {
                  members: await server.parseAuthorizationRequest(client, parameters, undefined, sender),
                }
              },
            },
          ],
        }),
      }
      const { flow } = setStage({ plugins: [strangers] })
      const ofTheOther = { ...asked, redirect_uri: authorizationRequest(photoBook).redirect_uri }
      expect(outcomeOf(await flow.submit('/leave', ofTheOther))).toBe('400 invalid_request')
      expect((await flow.submit('/leave', { ...ofTheOther, client_id: 'photo-book' })).status).toBe(200)
    })

    test('one object serves two servers, each with its own state and its own records', async () => {
      const store = memoryStore()
      const [one, other] = ['http://localhost', 'http://localhost/other'].map((issuer) =>
        setStage(
          { issuer, store, plugins: [requestBox] },
          { mount: (app, oauth) => void app.use(new URL(issuer).pathname, oauth.router()) },
        ),
      )
      const leave = async (flow: Flow | undefined, path: string) =>
        (await flow?.request(photoPrint, asked, path))?.body
      const first = await leave(one?.flow, '/leave')
      expect(first).toMatchObject({ left: 1 })
      expect(await leave(one?.flow, '/leave')).toMatchObject({ left: 2 })
      expect(await leave(other?.flow, '/other/leave')).toMatchObject({
        left: 1,
        leave_url: 'http://localhost/other/leave',
      })
      const strange = await other?.flow.request(photoPrint, { handle: first.handle }, '/other/look')
      expect(strange && outcomeOf(strange)).toBe('400 invalid_request')
    })

    test('adds a token type to the server and to a guard of another process, with the counters of the guard', async () => {
      const store = memoryStore()
      const usedOnce = (counters: Counters): TokenType => ({
        name: 'once',
        scheme: 'Once',
        read: (accessToken) => ({
          accessToken,
          rejectReason: async () =>
            (await counters.useOnce(`use ${accessToken.slice(3, 25)}`, 60)) ? undefined : 'used_before',
        }),
      })
      const once: Plugin = {
        name: 'once',
        open: ({ counters }) => ({ tokenTypes: [usedOnce(counters)] }),
        openInGuard: ({ counters, issuer, now }) => ({
          tokenTypes: [usedOnce(counters)],
          describe: () => ({ seen: issuer, at: now() }),
        }),
      }
      const { flow } = setStage({ store, plugins: [once], tokenType: 'once' })
      const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
      expect(body.token_type).toBe('once')
      const guard = createBearerGuard({
        issuer: 'http://localhost',
        store,
        plugins: [once],
        clock: () => 7000,
      })
      const app = express().get('/', guard(), (req, response) => void response.json(req.oauth))
      const use = async () => request(app).get('/').set('Authorization', `Once ${body.access_token}`)
      expect((await use()).body).toMatchObject({ seen: 'http://localhost', at: 7 })
      expect((await use()).status).toBe(401)
    })
  })
})
