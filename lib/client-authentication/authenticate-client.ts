import { type Client, type FindClient, hasCredentialFor, passesNetworkLimit } from '../protocol/client'
import { refused, UnusableClient } from '../protocol/refusals'
import type { CredentialThrottle } from './credential-throttle'
import type { AuthenticatingSender, AuthenticatingServer } from './method'
import type { ClientCredential } from './read-credential'

export interface ProvenClient {
  readonly client: Client
  /** For example during a rotation. */
  readonly byOldSecret: boolean
}

interface AuthenticationContext extends AuthenticatingSender {
  /** Runs if the presented client is registered, though not yet proven. */
  readonly clientFound: () => void
}

export class ClientVerification {
  constructor(
    private readonly findClient: FindClient,
    private readonly throttle: CredentialThrottle,
    private readonly server: AuthenticatingServer,
  ) {}

  /**
   * An unknown client, a disabled one, a wrong secret and a wrong method look the same and cost the same. If
   * the network is over its limit, only a client of the host passes, with a secret or key that is no guess.
   *
   * @throws OAuthError `invalid_client`; `temporarily_unavailable` over a limit on failures.
   */
  async verify(credential: ClientCredential, context: AuthenticationContext): Promise<ProvenClient> {
    const { method } = credential
    const { address, networkRefusal } = context
    const client = await this.find(credential.clientId, context)
    // Before the proof, which may need a fetch.
    const isRefused = networkRefusal !== undefined && client !== undefined && !passesNetworkLimit(client)
    if (isRefused) throw networkRefusal
    // Otherwise, the cost would show whether a disabled client's secret was right.
    const asked = client?.disabled === true ? undefined : client
    const limits = this.throttle.of(credential, asked, address, networkRefusal)
    const proven: unknown = await method.verify(asked, credential.credential, limits, this.server, context)
    if (client === undefined) throw refused('client_unknown/authentication')
    if (client.disabled) throw refused('client_disabled/authentication')
    // A host may have written the method: no other truthy value proves a client.
    const byOldSecret = proven === 'by an old secret'
    if (proven !== true && !byOldSecret) throw refused('client_not_authenticated')
    const registered = client.token_endpoint_auth_method
    if (registered !== undefined && registered !== method.name) throw refused('client_method_not_registered')
    if (!hasCredentialFor(method.name, client)) throw refused('client_method_not_registered')
    return { client, byOldSecret }
  }

  private async find(clientId: string, context: AuthenticationContext): Promise<Client | undefined> {
    try {
      const client = await this.findClient(clientId, context)
      if (client !== undefined) context.clientFound()
      return client
    } catch (error) {
      // The identifier is a document's URL, and no misplaced secret: events may name it.
      if (error instanceof UnusableClient) context.clientFound()
      throw error
    }
  }
}
