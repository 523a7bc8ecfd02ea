import { attempt, type Eventual, following } from '../primitives/concurrency'
import { type Client, type FindClient, hasCredentialFor, passesNetworkLimit } from '../protocol/client'
import { refused, UnusableClient } from '../protocol/refusals'
import type { CredentialThrottle } from './credential-throttle'
import type { AuthenticatingSender, AuthenticatingServer } from './method'
import type { ClientCredential } from './read-credential'

export interface ProvenClient {
  readonly client: Client
  // During a rotation.
  readonly byOldSecret: boolean
}

export interface AuthenticationContext extends AuthenticatingSender {
  // Registered, not yet proven.
  clientFound(): void
}

// An unknown or disabled client, a wrong secret and a wrong method look and cost the same. From a network
// over its limit, only clients of the host pass, with a secret or key that is no guess.
export class ClientVerification {
  constructor(
    private readonly findClient: FindClient,
    private readonly throttle: CredentialThrottle,
    private readonly server: AuthenticatingServer,
  ) {}

  prove(presented: ClientCredential, context: AuthenticationContext): Eventual<ProvenClient> {
    const found = attempt(
      () => this.findClient(presented.clientId, context),
      (error) => {
        // The identifier is a document's URL, no misplaced secret: events may name it.
        if (error instanceof UnusableClient) context.clientFound()
        throw error
      },
    )
    return following(found, (client) => {
      const { publicName } = presented
      const credential = publicName?.method.verifyAtOnce?.(client, '') === true ? publicName : presented
      return this.atOnce(client, credential, context) ?? this.later(client, credential, context)
    })
  }

  private atOnce(
    client: Client | undefined,
    credential: ClientCredential,
    context: AuthenticationContext,
  ): ProvenClient | undefined {
    const { method } = credential
    const { networkRefusal } = context
    if (client !== undefined) context.clientFound()
    // Before the proof, which may need a fetch.
    const isRefused = networkRefusal !== undefined && client !== undefined && !passesNetworkLimit(client)
    if (isRefused) throw networkRefusal
    const verification = method.verifyAtOnce?.(unlessDisabled(client), credential.credential)
    return verification === undefined ? undefined : provenClient(client, credential, verification)
  }

  private async later(
    client: Client | undefined,
    credential: ClientCredential,
    context: AuthenticationContext,
  ): Promise<ProvenClient> {
    const asked = unlessDisabled(client)
    const limits = this.throttle.of(credential, asked, context)
    const { method } = credential
    const proven: unknown = await method.verify(asked, credential.credential, limits, this.server, context)
    return provenClient(client, credential, proven)
  }
}

// The cost must not show whether a disabled client's secret was right.
const unlessDisabled = (client: Client | undefined) => (client?.disabled === true ? undefined : client)

function provenClient(
  client: Client | undefined,
  { method }: ClientCredential,
  verification: unknown,
): ProvenClient {
  if (client === undefined) throw refused('client_unknown/authentication')
  if (client.disabled) throw refused('client_disabled/authentication')
  // A host may have written the method: no other truthy value proves a client.
  const byOldSecret = verification === 'by an old secret'
  if (verification !== true && !byOldSecret) throw refused('client_not_authenticated')
  const registered = client.token_endpoint_auth_method
  if (registered !== undefined && registered !== method.name) throw refused('client_method_not_registered')
  if (!hasCredentialFor(method.name, client)) throw refused('client_method_not_registered')
  return { client, byOldSecret }
}
