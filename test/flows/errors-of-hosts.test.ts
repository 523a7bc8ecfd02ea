import { type Endpoint, type Extension, OAuthError, type TokenType } from 'express-authorization-server'
import { bent, nightlyReport } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

describe('an OAuthError of a host', () => {
  test('refuses a request at a guard with its own challenge (RFC 9470 3)', async () => {
    const fresh: Extension = {
      name: 'fresh',
      atResourceRequest() {
        throw new OAuthError('insufficient_user_authentication', 'login_too_old', 'Log in again.', {
          status: 401,
          challenge: { acr_values: 'urn:example:mfa', max_age: '300' },
        })
      },
    }
    const { flow, failures } = setStage({ extensions: [fresh] })
    const { body } = await flow.request(nightlyReport, grant)
    const response = await flow.photos(body.access_token)
    expect([response.status, response.body, response.get('WWW-Authenticate')]).toEqual([
      401,
      { error: 'insufficient_user_authentication', error_description: 'Log in again.' },
      'Bearer realm="oauth", error="insufficient_user_authentication", error_description="Log in again.", acr_values="urn:example:mfa", max_age="300"',
    ])
    expect(failures).toMatchObject([{ reason: 'login_too_old' }])
  })

  test('refuses a request with a token of a type of the host, with its own status and headers', async () => {
    const asks: TokenType = {
      name: 'nonce',
      scheme: 'Nonce',
      read: (accessToken) => ({
        accessToken,
        async rejectReason() {
          throw new OAuthError('use_nonce', 'nonce_missing', 'Send the nonce.', {
            status: 401,
            headers: { 'Nonce-Value': 'n1' },
          })
        },
      }),
    }
    const stamped = bent(nightlyReport, { token_type: 'nonce' })
    const { flow } = setStage({ tokenTypes: [asks], clients: [stamped.registration] })
    const { body } = await flow.request(stamped, grant)
    const response = await flow.open('/photos', undefined, { Authorization: `Nonce ${body.access_token}` })
    expect([response.status, response.get('Nonce-Value'), response.body.error]).toEqual([
      401,
      'n1',
      'use_nonce',
    ])
    // 401 demands a challenge (RFC 9110 15.5.2).
    expect(response.get('WWW-Authenticate')).toContain('Nonce realm="oauth", error="use_nonce"')
  })

  test('answers at an endpoint with its own status, headers and challenge', async () => {
    const answerOf = async (error: OAuthError, headers: Record<string, string> = {}) => {
      const throwing: Endpoint = {
        name: 'me',
        path: '/me',
        method: 'GET',
        clientAuthentication: 'none',
        errorStatus: { access_denied: 404 },
        async handle() {
          throw error
        },
      }
      const response = await setStage({ endpoints: [throwing] }).flow.open('/me', undefined, headers)
      return [response.status, response.get('WWW-Authenticate'), response.get('X-Why')]
    }
    const tooLittle = new OAuthError('insufficient_scope', 'own_reason', 'Too little.', {
      status: 403,
      challenge: { scope: 'profile' },
    })
    expect(await answerOf(tooLittle, { Authorization: 'Bearer x' })).toEqual([
      403,
      'Bearer realm="oauth", scope="profile", error="insufficient_scope"',
      undefined,
    ])
    expect(await answerOf(tooLittle)).toEqual([403, 'Bearer realm="oauth", scope="profile"', undefined])
    const denied = (options: object) => answerOf(new OAuthError('access_denied', 'own', 'No.', options))
    expect(await denied({})).toEqual([404, undefined, undefined])
    expect(await denied({ status: 403, headers: { 'X-Why': 'own' } })).toEqual([403, undefined, 'own'])
    expect(await denied({ status: 401 })).toEqual([401, 'Bearer realm="oauth"', undefined])
  })
})
