import { isLater } from '../primitives/eventual'
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

export interface AuthenticationContext extends AuthenticatingSender {
  /** Runs if the presented client is registered, though not yet proven. */
  clientFound(): void
}

/** What one request presents. */
export interface Presented {
  readonly credential: ClientCredential
  /** The client that it names: at once from a list; a host, a store or a fetch takes its time. */
  readonly client: ReturnType<FindClient>
  readonly context: AuthenticationContext
}

/**
 * An unknown client, a disabled one, a wrong secret and a wrong method look the same and cost the same. If
 * the network is over its limit, only a client of the host passes, with a secret or key that is no guess.
 */
export class ClientVerification {
  constructor(
    private readonly findClient: FindClient,
    private readonly throttle: CredentialThrottle,
    private readonly server: AuthenticatingServer,
  ) {}

  find({ clientId }: ClientCredential, context: AuthenticationContext): Presented['client'] {
    try {
      return this.findClient(clientId, context)
    } catch (error) {
      throw noting(error, context)
    }
  }

  /** Generated secrets and public clients of a list. Undefined: the proof waits, see {@link verify}. */
  verifyAtOnce({ credential, client, context }: Presented): ProvenClient | undefined {
    return isLater(client) ? undefined : this.atOnce(client, credential, context)
  }

  /** Once {@link verifyAtOnce} has returned undefined. */
  async verify({ credential, client: looked, context }: Presented): Promise<ProvenClient> {
    const client = await found(looked, context)
    const proven = isLater(looked) ? this.atOnce(client, credential, context) : undefined
    return proven ?? this.later(client, credential, context)
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
    const address = () => context.address()
    const limits = this.throttle.of(credential, asked, address, context.networkRefusal)
    const { method } = credential
    const proven: unknown = await method.verify(asked, credential.credential, limits, this.server, context)
    return provenClient(client, credential, proven)
  }
}

async function found(looked: Presented['client'], context: AuthenticationContext) {
  try {
    return await looked
  } catch (error) {
    throw noting(error, context)
  }
}

// The identifier is a document's URL, and no misplaced secret: events may name it.
function noting(error: unknown, context: AuthenticationContext): unknown {
  if (error instanceof UnusableClient) context.clientFound()
  return error
}

// Otherwise, the cost would show whether a disabled client's secret was right.
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
