import { randomUUID } from 'node:crypto'
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { ClientIdentity } from './client-plan'

type Interactive = Extract<ClientIdentity, { readonly redirectUri: string }>

/** What an MCP client keeps of one authorization server, in memory. Both generations of the SDK ask it. */
export class MemoryProvider {
  /** Where the owner has to go, until it is taken. */
  authorizationUrl: string | undefined
  readonly clientMetadataUrl?: string
  private readonly ownState = randomUUID()
  private information: StoredOAuthClientInformation | undefined
  private kept: StoredOAuthTokens | undefined
  private verifier = ''
  private discovery: OAuthDiscoveryState | undefined

  constructor(
    private readonly identity: Interactive,
    issuer: string,
  ) {
    if (identity.kind === 'document') this.clientMetadataUrl = identity.url
    if (identity.kind === 'known')
      this.information = {
        client_id: identity.clientId,
        ...(identity.clientSecret !== undefined && { client_secret: identity.clientSecret }),
        issuer,
      }
  }

  get redirectUrl(): string {
    return this.identity.redirectUri
  }

  get clientMetadata() {
    const { identity } = this
    const grantTypes = (identity.kind === 'dynamic' && identity.grantTypes) || [
      'authorization_code',
      'refresh_token',
    ]
    return {
      client_name: 'Notes for the desk',
      redirect_uris: [identity.redirectUri],
      grant_types: [...grantTypes],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }
  }

  state(): string {
    return this.ownState
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.information
  }

  saveClientInformation(information: StoredOAuthClientInformation): void {
    this.information = information
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.kept
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.kept = tokens
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url.href
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier
  }

  codeVerifier(): string {
    return this.verifier
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovery
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.discovery = state
  }

  /** What the client does before it sends the code anywhere. */
  checkState(answer: URL): void {
    if (answer.searchParams.get('state') !== this.ownState) throw new Error('The state is not ours.')
  }
}
