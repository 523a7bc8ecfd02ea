import { createServer } from 'node:http'
import express from 'express'
import { listening } from '../../support/listening'
import { claimsAt, hub, jwt } from '../../support/assertions/jwt'

/** The identity provider of a company: exchanges ID tokens of its people for ID-JAGs (RFC 8693). */
export class IdentityProvider {
  private constructor(
    readonly url: string,
    readonly close: () => Promise<void>,
  ) {}

  /** @param clientId the client that its people may use. */
  static async start(clientId: string): Promise<IdentityProvider> {
    const app = express().post('/token', express.urlencoded(), (request, response) => {
      const { audience: aud, resource, scope, requested_token_type, subject_token } = request.body
      if (requested_token_type !== idJag || subject_token !== idToken) {
        response.status(400).json({ error: 'invalid_request' })
        return
      }
      const claims = { ...claimsAt(Math.floor(Date.now() / 1000)), aud, resource, scope, client_id: clientId }
      const access_token = jwt(hub, claims, { typ: 'oauth-id-jag+jwt' })
      response.json({ access_token, issued_token_type: idJag, token_type: 'N_A', scope, expires_in: 60 })
    })
    const { port, close } = await listening(createServer(app))
    return new IdentityProvider(`http://127.0.0.1:${port}`, close)
  }
}

const idJag = 'urn:ietf:params:oauth:token-type:id-jag'

/** What an employee has from the login at the provider; nothing here reads it. */
export const idToken = 'the-id-token-of-alice'
