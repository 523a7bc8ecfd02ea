import type { ClientRegistration, AuthorizationServerOptions } from '../../lib/index'
import { tokenExchange } from '../../lib/paths/grants'
import { bent, nightlyReport, photoBook, photoPrint, type ClientApplication } from '../support/flows/clients'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { keyedRefreshTokens } from '../support/flows/keyed-tokens'
import { gallery, photosApi, withResources, mountResources, printApi } from '../support/flows/resources'
import { describeRegistration, notesApp } from '../support/flows/registering'
import { mountAll } from '../support/flows/application'
import { anyOwner, exchangeOf, tokenExchangeName } from '../support/flows/token-exchange'
import { outcomeOf } from '../support/flows/outcome'

describe('A refresh', () => {
  describeOnStores('A refresh', (stage) => {
    test.each([5, 100])(
      'that is repeated within the grace is refused once its refresh token has expired (access token of %d s)',
      async (accessToken) => {
        const lifetimes = { accessToken, refreshToken: 10, refreshTokenGrace: 60 }
        const { flow, clock } = stage({ lifetimes })
        const { refreshToken } = await flow.tokens(photoBook)
        await flow.refresh(photoBook, refreshToken)
        clock.advance(20)
        expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
      },
    )

    test('with a token two generations old kills everything, grace or not [refresh-2]', async () => {
      const { flow } = stage()
      const first = await flow.tokens(photoBook)
      const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
      const third = tokensOf(await flow.refresh(photoBook, second.refreshToken))
      expect(refusalOf(await flow.refresh(photoBook, first.refreshToken))).toBe('400 invalid_grant')
      expect((await flow.photos(third.accessToken)).status).toBe(401)
      expect(refusalOf(await flow.refresh(photoBook, third.refreshToken))).toBe('400 invalid_grant')
    })

    test('by another client is refused, and changes nothing, within the grace and after it [refresh-5]', async () => {
      const { flow, clock } = stage()
      const first = await flow.tokens(photoBook)
      expect(refusalOf(await flow.refresh(photoPrint, first.refreshToken))).toBe('400 invalid_grant')
      const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
      for (const seconds of [0, 31]) {
        clock.advance(seconds)
        expect(refusalOf(await flow.refresh(photoPrint, first.refreshToken))).toBe('400 invalid_grant')
        expect(refusalOf(await flow.refresh(photoPrint, second.refreshToken))).toBe('400 invalid_grant')
      }
      expect((await flow.photos(second.accessToken)).status).toBe(200)
      tokensOf(await flow.refresh(photoBook, second.refreshToken))
    })

    test('of a confidential client without its secret is refused, and changes nothing [refresh-6]', async () => {
      const { flow } = stage()
      const { refreshToken } = await flow.tokens(photoPrint)
      const { registration } = photoPrint
      expect(refusalOf(await flow.refresh({ registration }, refreshToken))).toBe('401 invalid_client')
      expect(refusalOf(await flow.refresh({ registration, secret: 'guess' }, refreshToken))).toBe(
        '401 invalid_client',
      )
      tokensOf(await flow.refresh(photoPrint, refreshToken))
    })

    test('is for clients that may use the grant; others get no refresh token to begin with [refresh-14]', async () => {
      const client = bent(photoPrint, { grant_types: ['authorization_code'] })
      const { flow } = stage({ clients: [client.registration, photoBook.registration] })
      expect((await flow.tokens(client)).refreshToken).toBe('')
      const { refreshToken } = await flow.tokens(photoBook)
      expect(refusalOf(await flow.refresh(client, refreshToken))).toBe('400 unauthorized_client')
    })

    test('keeps the 32 newest access tokens of an authorization good until they expire; the 33rd ends the oldest [token-21]', async () => {
      const { flow } = stage()
      const pairs = [await flow.tokens(photoBook)]
      const statuses = async () =>
        Promise.all(pairs.map(async ({ accessToken }) => (await flow.photos(accessToken)).status))
      const refreshed = async () =>
        pairs.push(tokensOf(await flow.refresh(photoBook, String(pairs.at(-1)?.refreshToken))))
      while (pairs.length < 32) await refreshed()
      expect(await statuses()).toEqual(pairs.map(() => 200))
      await refreshed()
      expect(await statuses()).toEqual([401, ...pairs.slice(1).map(() => 200)])
    })
  })

  describeOnStores('The scope of a refresh', (stage) => {
    test('that asks for less when it is repeated gets an access token of its own with less, the same each time', async () => {
      const { flow } = stage()
      const { refreshToken } = await flow.tokens(photoBook)
      const repeat = async (scope?: string) =>
        tokensOf(await flow.refresh(photoBook, refreshToken, scope === undefined ? {} : { scope }))
      const first = await repeat()
      const narrow = await repeat('photos:print')
      expect(narrow).toMatchObject({ scope: 'photos:print', refreshToken: first.refreshToken })
      expect((await flow.photos(narrow.accessToken)).status).toBe(403)
      expect(await repeat('photos:print')).toEqual(narrow)
      expect(await repeat('photos:print photos:read')).toEqual(first)
      expect((await flow.photos(first.accessToken)).body).toMatchObject({
        scope: ['photos:read', 'photos:print'],
      })
    })
  })

  const grant_type = 'client_credentials'

  describeOnStores('A client for itself', (stage) => {
    test('has no subject at a guarded route [token-20]', async () => {
      const { flow } = stage()
      const { accessToken } = tokensOf(
        await flow.request(nightlyReport, { grant_type, scope: 'photos:read' }),
      )
      const { body } = await flow.photos(accessToken)
      expect(body).toMatchObject({ clientId: 'nightly-report', scope: ['photos:read'] })
      expect(body).not.toHaveProperty('subject')
    })

    test('without a scope gets the default one, as far as it may have it', async () => {
      const { flow } = stage({ defaultScope: 'photos:read photos:print' })
      expect(tokensOf(await flow.request(nightlyReport, { grant_type })).scope).toBe('photos:read')
    })

    test.each([undefined, '', 'photos:print', 'photos:read  reports:write', 'unheard-of'])(
      'with the scope %p gets invalid_scope [token-10]',
      async (scope) => {
        const { flow, store } = stage()
        expect(refusalOf(await flow.request(nightlyReport, { grant_type, scope }))).toBe('400 invalid_scope')
        expect(store.calls.write).toBe(0)
      },
    )
  })

  describeOnStores('A refresh token without rotation', (stage) => {
    test.each<[boolean, boolean | undefined, boolean]>([
      [true, undefined, true],
      [true, false, false],
      [false, undefined, false],
      [false, true, true],
    ])('with the option %s and the registration %s, rotates: %s', async (option, member, rotates) => {
      const client = bent(photoPrint, member === undefined ? {} : { refresh_token_rotation: member })
      const { flow } = stage({ refreshTokenRotation: option, clients: [client.registration] })
      const { refreshToken } = await flow.tokens(client)
      const next = tokensOf(await flow.refresh(client, refreshToken))
      expect(next.refreshToken !== refreshToken).toBe(rotates)
    })
  })

  describeOnStores('The member refresh_token_rotation of a registration', (stage) => {
    const withMember = (client: ClientApplication, member: unknown): ClientRegistration[] => {
      const entries: readonly (readonly unknown[])[] = [['refresh_token_rotation', member]]
      return [bent(client, Object.fromEntries(entries)).registration]
    }

    test('is true or false, and false for a public client only where an extension binds refresh tokens', () => {
      const clients = withMember(photoBook, false)
      expect(() => stage({ clients })).toThrow(
        'clients[0].refresh_token_rotation must not be false for a public client here',
      )
      expect(() => stage({ clients, plugins: [keyedRefreshTokens] })).not.toThrow()
      expect(() => stage({ clients: withMember(photoBook, true) })).not.toThrow()
      expect(() => stage({ clients: withMember(photoPrint, false) })).not.toThrow()
      for (const member of [1, 'false', [], {}])
        expect(() => stage({ clients: withMember(photoPrint, member) })).toThrow(
          'clients[0].refresh_token_rotation must be true or false.',
        )
    })
  })

  describeRegistration('A client that registers itself', (stage) => {
    test('rotates its refresh tokens as the server says, whatever it names', async () => {
      const { register } = stage()
      const { status, body } = await register({ ...notesApp, refresh_token_rotation: false })
      expect(status).toBe(201)
      expect(body).not.toHaveProperty('refresh_token_rotation')
    })
  })
})

describe('A withdrawn scope', () => {
  const introspecting = bent(nightlyReport, { may_introspect: true })
  const both = 'photos:read photos:print'

  /** A server whose registrations of one client can change. */
  function changing(
    stage: SetStage,
    client: ClientApplication,
    options: Partial<AuthorizationServerOptions> = {},
  ) {
    let current: ClientRegistration = client.registration
    const others = [introspecting.registration]
    const find = async (clientId: string) =>
      clientId === client.registration.client_id
        ? current
        : others.find(({ client_id }) => client_id === clientId)
    const mount = options.resources === undefined ? mountAll : mountResources
    const set = stage({ ...options, clients: { find } }, { mount })
    const allow = (scope: string) => (current = { ...client.registration, scope })
    return { ...set, allow, reasonOf: () => set.failures.at(-1)?.reason }
  }

  describeOnStores('A scope that the client has lost', (stage) => {
    test('is missing from a code and the next refresh, and counts again when it is given back [refresh-17]', async () => {
      const { flow, allow, oauth } = changing(stage, photoBook)
      const scopes: unknown[] = []
      oauth.events.on('refreshed', ({ scope }) => scopes.push(scope))
      const first = await flow.tokens(photoBook)
      const code = await flow.approve(photoBook)
      allow('photos:read')
      expect(tokensOf(await flow.redeem(photoBook, code)).scope).toBe('photos:read')
      // The access tokens that the client has keep it until they end.
      expect((await flow.photos(first.accessToken)).body).toMatchObject({ scope: both.split(' ') })
      const narrowed = tokensOf(await flow.refresh(photoBook, first.refreshToken))
      expect(narrowed.scope).toBe('photos:read')
      expect((await flow.photos(narrowed.accessToken)).body).toMatchObject({ scope: ['photos:read'] })
      expect((await flow.introspect(introspecting, narrowed.accessToken)).body).toMatchObject({
        scope: 'photos:read',
      })
      allow(both)
      const whole = tokensOf(await flow.refresh(photoBook, narrowed.refreshToken))
      expect(whole.scope).toBe(both)
      expect(scopes).toEqual([['photos:read'], both.split(' ')])
    })

    test('leaves what the request names, if the grant has it', async () => {
      const { flow, allow, reasonOf } = changing(stage, photoBook)
      const { refreshToken } = await flow.tokens(photoBook)
      allow('photos:read')
      const asked = (scope: string) => flow.refresh(photoBook, refreshToken, { scope })
      expect(refusalOf(await asked(`${both} reports:write`))).toBe('400 invalid_scope')
      expect(reasonOf()).toBe('scope_exceeded')
      expect(refusalOf(await asked('photos:print'))).toBe('400 invalid_scope')
      expect(reasonOf()).toBe('scope_withdrawn')
      expect(tokensOf(await asked(both)).scope).toBe('photos:read')
    })

    test('refuses a code and a refresh token of which nothing is left, and spends neither', async () => {
      const { flow, allow, reasonOf } = changing(stage, photoBook)
      const { refreshToken, accessToken } = await flow.tokens(photoBook)
      const code = await flow.approve(photoBook)
      allow('reports:write')
      // More often than a code survives wrong proofs.
      for (let attempts = 0; attempts < 6; attempts++) {
        expect(refusalOf(await flow.redeem(photoBook, code))).toBe('400 invalid_scope')
        expect(reasonOf()).toBe('scope_withdrawn')
      }
      expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_scope')
      expect((await flow.photos(accessToken)).status).toBe(200)
      allow(both)
      expect(tokensOf(await flow.redeem(photoBook, code)).scope).toBe(both)
      expect(tokensOf(await flow.refresh(photoBook, refreshToken)).scope).toBe(both)
    })

    test('is missing from a repeated refresh, which keeps the refresh token of the first', async () => {
      const { flow, allow } = changing(stage, photoBook)
      const { refreshToken } = await flow.tokens(photoBook)
      const again = async () => tokensOf(await flow.refresh(photoBook, refreshToken))
      const first = await again()
      allow('photos:read')
      const narrowed = await again()
      expect(narrowed).toMatchObject({ scope: 'photos:read', refreshToken: first.refreshToken })
      expect(await again()).toEqual(narrowed)
      allow('reports:write')
      expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_scope')
      allow(both)
      expect(await again()).toEqual(first)
      tokensOf(await flow.refresh(photoBook, first.refreshToken))
    })

    test('is no scope that the client gets for a subject token of before', async () => {
      const client = bent(photoPrint, {
        grant_types: ['authorization_code', 'refresh_token', tokenExchangeName],
      })
      const grantTypes = [tokenExchange({ policy: anyOwner })]
      const { flow, allow, reasonOf } = changing(stage, client, { plugins: [...grantTypes] })
      const { accessToken } = await flow.tokens(client)
      allow('photos:read')
      expect(tokensOf(await flow.request(client, exchangeOf(accessToken))).scope).toBe('photos:read')
      const named = exchangeOf(accessToken, { scope: both })
      expect(refusalOf(await flow.request(client, named))).toBe('400 invalid_scope')
      expect(reasonOf()).toBe('scope_not_allowed')
    })

    test('narrows before the resources do: what is left must be a scope of the named one', async () => {
      const { flow, allow, reasonOf } = changing(stage, gallery, withResources())
      const { refreshToken } = await flow.tokens(gallery, { scope: both, resource: [photosApi, printApi] })
      allow('photos:print')
      const refused = await flow.refresh(gallery, refreshToken, { resource: photosApi })
      expect(refusalOf(refused)).toBe('400 invalid_scope')
      expect(reasonOf()).toBe('scope_of_another_resource')
      const tokens = tokensOf(await flow.refresh(gallery, refreshToken, { resource: printApi }))
      expect(tokens.scope).toBe('photos:print')
      expect((await flow.introspect(introspecting, tokens.accessToken)).body).toMatchObject({
        aud: [printApi],
      })
      allow(both)
      expect(tokensOf(await flow.refresh(gallery, tokens.refreshToken)).scope).toBe(both)
    })
  })

  describeRegistration('A scope that the host takes from clients that register themselves', (stage) => {
    test('is missing from the tokens of their codes and refresh tokens, until it is given back', async () => {
      const before = stage()
      const { body } = await before.register({ ...notesApp, scope: both })
      const client: ClientApplication = { registration: { ...body, client_type: 'public', scope: both } }
      const { refreshToken } = await before.flow.tokens(client)
      const code = await before.flow.approve(client)
      const { store } = before
      const after = stage({ scope: 'photos:read' }, { store })
      const redeemed = tokensOf(await after.flow.redeem(client, code))
      const refreshed = tokensOf(await after.flow.refresh(client, refreshToken))
      for (const { scope } of [redeemed, refreshed]) expect(scope).toBe('photos:read')
      const other = stage({ scope: 'reports:write' }, { store })
      expect(outcomeOf(await other.flow.refresh(client, refreshed.refreshToken))).toBe('401 invalid_client')
      expect(tokensOf(await before.flow.refresh(client, refreshed.refreshToken)).scope).toBe(both)
    })
  })
})
