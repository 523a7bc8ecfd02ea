import { clientCredentials } from '../../../lib/token-endpoint/grant-types/built-in'
import type { Client } from '../../../lib/protocol/client'
import { clientWith } from '../../support/authorization/client'
import { parametersOf } from '../../support/rooms/parameters'
import { tokenRequest } from '../../support/rooms/token-request'
import { refusalOf } from '../../support/rooms/refused'

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

describe('the grant type client_credentials', () => {
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
