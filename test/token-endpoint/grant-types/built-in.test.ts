import type { Issued } from '../../../lib/authorization/issue'
import type { Client } from '../../../lib/protocol/client'
import {
  authorizationCode,
  clientCredentials,
  refreshToken,
} from '../../../lib/token-endpoint/grant-types/built-in'
import { activeAuthorization, approvedAuthorization } from '../../support/authorization/authorization'
import { clientWith } from '../../support/authorization/client'
import { answerOf, refusal, written } from '../../support/authorization/step'
import { parametersOf } from '../../support/rooms/parameters'
import { refusalOf } from '../../support/rooms/refused'
import { tokenRequest } from '../../support/rooms/token-request'

describe('authorization code', () => {
  const { approved, code } = approvedAuthorization({
    extensionData: { resource: 'https://a.example', empty: null },
  })
  const redirect_uri = approved.code.redirectUri

  const prove = (values: Parameters<typeof parametersOf>[0], client = clientWith()) =>
    authorizationCode.handle({
      ...tokenRequest,
      client,
      parameters: parametersOf(values),
      defaultScope: [],
    })

  /** What the proof makes of the approved authorization. */
  async function redeemed(...request: Parameters<typeof prove>) {
    const proof = await prove(...request)
    if (!('transition' in proof)) throw new Error('A code proves a move of an authorization that exists.')
    expect(proof.authorizationId).toBe(approved.id)
    return proof.transition(approved)
  }

  describe('the grant type authorization_code', () => {
    it('reads code and redirect_uri', () => {
      expect(authorizationCode).toMatchObject({
        name: 'authorization_code',
        parameters: ['code', 'redirect_uri'],
      })
    })

    it.each<[string, Parameters<typeof parametersOf>[0], string, string]>([
      ['no code', {}, 'invalid_request', 'parameter_missing'],
      ['an empty code', { code: '' }, 'invalid_request', 'parameter_missing'],
      ['garbage for a code', { code: 'garbage' }, 'invalid_grant', 'code_malformed'],
      ['a code that is cut', { code: code.slice(0, -1) }, 'invalid_grant', 'code_malformed'],
      ['a code with a space behind', { code: `${code} ` }, 'invalid_grant', 'code_malformed'],
      ['an access token for a code', { code: code.replace('ac_', 'at_') }, 'invalid_grant', 'code_malformed'],
    ])('refuses %s without a look at the store', async (_what, values, error, reason) => {
      expect(await refusalOf(prove(values))).toEqual({ code: error, reason })
    })

    it('spends the code of its own client, with a refresh token for one that may have it', async () => {
      const step = await redeemed({ code, redirect_uri })
      expect(written(step)).toHaveProperty('state', 'active')
      expect(answerOf<Issued>(step).refreshToken).toMatch(/^rt_/)
    })

    it('brings no refresh token to a client that may not have one', async () => {
      const step = await redeemed({ code, redirect_uri }, clientWith({ grant_types: ['authorization_code'] }))
      expect(answerOf<Issued>(step).refreshToken).toBeUndefined()
    })

    it.each([
      [
        'another client',
        { code, redirect_uri },
        clientWith({ client_id: 'mallory' }),
        'code_of_another_client',
      ],
      ['no redirect_uri', { code }, clientWith(), 'redirect_uri_missing'],
      ['an empty redirect_uri', { code, redirect_uri: '' }, clientWith(), 'redirect_uri_missing'],
      [
        'another redirect_uri',
        { code, redirect_uri: `${redirect_uri}/` },
        clientWith(),
        'redirect_uri_mismatch',
      ],
    ])('refuses %s', async (_what, values, client, reason) => {
      expect(refusal(await redeemed(values, client))).toMatchObject({ code: 'invalid_grant', reason })
    })
  })
})

describe('the grant type refresh_token', () => {
  const { active, issued } = activeAuthorization()
  const presented = issued.refreshToken ?? ''

  const prove = (values: Parameters<typeof parametersOf>[0], client: Client = clientWith()) =>
    refreshToken.handle({
      ...tokenRequest,
      client,
      parameters: parametersOf(values),
      defaultScope: ['profile'],
    })

  async function refreshed(...request: Parameters<typeof prove>) {
    const proof = await prove(...request)
    if (!('transition' in proof))
      throw new Error('A refresh token proves a move of an authorization that exists.')
    expect(proof.authorizationId).toBe(active.id)
    return proof.transition(active)
  }

  it('reads refresh_token and scope', () => {
    expect(refreshToken).toMatchObject({ name: 'refresh_token', parameters: ['refresh_token', 'scope'] })
  })

  it.each<[string, Parameters<typeof parametersOf>[0], string, string]>([
    ['no token', {}, 'invalid_request', 'parameter_missing'],
    ['an empty token', { refresh_token: '' }, 'invalid_request', 'parameter_missing'],
    ['garbage', { refresh_token: 'garbage' }, 'invalid_grant', 'refresh_token_malformed'],
    [
      'a token that is cut',
      { refresh_token: presented.slice(1) },
      'invalid_grant',
      'refresh_token_malformed',
    ],
    ['an access token', { refresh_token: issued.accessToken }, 'invalid_grant', 'refresh_token_malformed'],
  ])('refuses %s without a look at the store', async (_what, values, code, reason) => {
    expect(await refusalOf(prove(values))).toEqual({ code, reason })
  })

  it('takes an omitted or empty scope for the granted one, not for the default (TOK-9)', async () => {
    for (const scope of [undefined, '']) {
      const step = await refreshed({ refresh_token: presented, scope })
      expect(answerOf<Issued>(step).scope).toEqual(active.scope)
    }
  })

  it('narrows the access token and leaves the grant as it is (TKN-4)', async () => {
    const step = await refreshed({ refresh_token: presented, scope: 'photos.read' })
    expect(answerOf<Issued>(step).scope).toEqual(['photos.read'])
    expect(written(step)).toHaveProperty('scope', active.scope)
  })

  it.each([
    ['another client', {}, clientWith({ client_id: 'mallory' }), 'invalid_grant'],
    [
      'more scope than granted, though the client may have it',
      { scope: 'profile' },
      clientWith({ scope: 'profile' }),
      'invalid_scope',
    ],
    ['a malformed scope', { scope: 'a  b' }, clientWith(), 'invalid_scope'],
  ])('refuses %s', async (_what, bend, client, code) => {
    expect(refusal(await refreshed({ refresh_token: presented, ...bend }, client))).toMatchObject({
      code,
      action: 'none',
    })
  })
})

describe('the grant type client_credentials', () => {
  const prove = (
    scope: string | undefined,
    client: Client = clientWith(),
    defaultScope: readonly string[] = [],
  ) =>
    clientCredentials.handle({
      ...tokenRequest,
      client,
      parameters: parametersOf({ scope }),
      defaultScope,
    })

  it('reads the scope', () => {
    expect(clientCredentials).toMatchObject({ name: 'client_credentials', parameters: ['scope'] })
  })

  it('proves a client for itself: no resource owner, never a refresh token (TOK-8)', async () => {
    const mayRefresh = clientWith({ grant_types: ['client_credentials', 'refresh_token'] })
    await expect(prove('photos.read', mayRefresh)).resolves.toEqual({
      grant: {
        subject: undefined,
        scope: ['photos.read'],
        refreshToken: false,
        extensionData: {},
      },
    })
  })

  it.each(['photos.read', undefined])(
    'refuses a public client, whatever it asks for: %s (TOK-8)',
    async (scope) => {
      // A registration cannot be like this; the grant type does not rely on it.
      const client = { ...clientWith(), client_type: 'public' as const }
      expect(await refusalOf(prove(scope, client, ['photos.read']))).toEqual({
        code: 'unauthorized_client',
        reason: 'client_not_confidential',
      })
    },
  )

  it('takes the default for a request without scope', async () => {
    await expect(prove(undefined, clientWith(), ['photos.read'])).resolves.toMatchObject({
      grant: { scope: ['photos.read'] },
    })
  })

  it.each([
    [undefined, 'scope_missing'],
    ['photos.read  photos.write', 'scope_malformed'],
    ['photos.read profile', 'scope_not_allowed'],
    ['PHOTOS.READ', 'scope_not_allowed'],
  ])('refuses the scope %j', async (scope, reason) => {
    expect(await refusalOf(prove(scope))).toEqual({ code: 'invalid_scope', reason })
  })
})
