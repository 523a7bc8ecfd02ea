import { requestJwtAuthorizationGrant } from '@modelcontextprotocol/client'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { ClientIdentity } from './client-plan'

type Employed = Extract<ClientIdentity, { readonly kind: 'id-jag' }>

/** Exchanges the ID token of an employee for an ID-JAG at the identity provider of the company (RFC 8693). */
export async function identityAssertion(
  { identityProvider, idToken, clientId }: Employed,
  audience: string,
  resource: string,
  scope: string | undefined,
): Promise<string> {
  const tokenEndpoint = `${identityProvider}/token`
  const request = { tokenEndpoint, audience, resource, idToken, clientId }
  const grant = await requestJwtAuthorizationGrant({ ...request, ...(scope !== undefined && { scope }) })
  return grant.jwtAuthGrant
}

/** The SDK 1.x has no provider for ID-JAGs, and leaves the grant to its host: this is the one that a host writes. */
export class AssertionProvider implements OAuthClientProvider {
  readonly redirectUrl = undefined
  readonly clientMetadata = {
    redirect_uris: [],
    grant_types: ['urn:ietf:params:oauth:grant-type:jwt-bearer'],
  }
  private kept: OAuthTokens | undefined
  private resource = ''

  constructor(
    private readonly identity: Employed,
    private readonly issuer: string,
  ) {}

  clientInformation() {
    const { clientId, clientSecret = '' } = this.identity
    return { client_id: clientId, client_secret: clientSecret, issuer: this.issuer }
  }

  async validateResourceURL(server: string | URL, resource?: string): Promise<URL> {
    this.resource = resource ?? String(server)
    return new URL(this.resource)
  }

  async prepareTokenRequest(scope?: string): Promise<URLSearchParams> {
    const assertion = await identityAssertion(this.identity, this.issuer, this.resource, scope)
    return new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  }

  tokens(): OAuthTokens | undefined {
    return this.kept
  }

  saveTokens(tokens: OAuthTokens): void {
    this.kept = tokens
  }

  redirectToAuthorization(): void {
    throw new Error('No owner is asked.')
  }

  saveCodeVerifier(): void {}

  codeVerifier(): string {
    throw new Error('No code is redeemed.')
  }
}
