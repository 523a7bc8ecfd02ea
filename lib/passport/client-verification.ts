import type { IncomingMessage } from 'node:http'
import type { Request } from 'express'
import {
  authenticateClient,
  presentedClient,
  type ProvenClient,
} from '../client-authentication/authenticate-client'
import type { CredentialThrottle } from '../client-authentication/credential-throttle'
import type {
  ClientAuthenticationMethod,
  CredentialSources,
  PresentedClient,
} from '../client-authentication/method'
import { type Client, type FindClient, hasCredentials } from '../protocol/client'
import type { Throttled } from '../protocol/oauth-error'
import { privateState } from '../protocol/private-state'

/** What the strategies of one server share: its methods, its clients, and how a request is read. */
export class ClientVerification {
  // A request is examined once, however many strategies look at it.
  private readonly examined = privateState<Request, Promise<PresentedClient>>()

  constructor(
    private readonly methods: readonly ClientAuthenticationMethod[],
    private readonly findClient: FindClient,
    private readonly limits: CredentialThrottle,
    private readonly sourcesOf: (request: Request) => Promise<CredentialSources>,
    private readonly refusalOf: (request: Request) => Throttled | undefined = () => undefined,
  ) {}

  /** The client that the request presents, looked at once for all strategies. @throws OAuthError when it is not one. */
  present(request: Request): Promise<PresentedClient> {
    const known = this.examined.get(request)
    if (known !== undefined) return known
    const presented = this.examine(request)
    this.examined.set(request, presented)
    return presented
  }

  /** The client that the request presents, by the one method it uses. @throws OAuthError when it is not one. */
  async examine(request: Request): Promise<PresentedClient> {
    return this.identify(request, await this.sourcesOf(request))
  }

  /** The same for whoever has read the request. */
  identify(request: Request, sources: CredentialSources): PresentedClient {
    const presented = presentedClient(sources, this.methods)
    noteClaim(request, presented.clientId)
    return presented
  }

  /**
   * The client, proven. Past the limit of its network that takes a secret or key which is no guess.
   *
   * @throws OAuthError `invalid_client` when it is not; `temporarily_unavailable` over a limit on failures.
   */
  async verify(presented: PresentedClient, request: Request): Promise<ProvenClient> {
    const refusal = this.refusalOf(request)
    const client = await this.findClient(presented.clientId)
    if (client !== undefined) noteRegistered(request)
    const proven = await authenticateClient(presented, client, (asked) =>
      this.limits.of(presented, asked, () => request.ip, refusal),
    )
    if (refusal !== undefined && !hasCredentials(proven.client)) throw refusal
    return proven
  }
}

/** The client that a request says it comes from. */
export interface ClaimedClient {
  readonly claimedClientId: string | undefined
  /** Whether there is such a client; nothing else of the claim is proven. */
  readonly isRegistered: boolean
}

interface ClientOfRequest {
  claimedClientId: string | undefined
  isRegistered: boolean
  proven: ProvenClient | undefined
}

// In a private field of the request: nothing that the host or another middleware writes can pass for a proven client.
const clients = privateState<IncomingMessage, ClientOfRequest>()

function clientOf(request: IncomingMessage): ClientOfRequest {
  const known = clients.get(request)
  if (known !== undefined) return known
  const nobody = { claimedClientId: undefined, isRegistered: false, proven: undefined }
  clients.set(request, nobody)
  return nobody
}

/** Notes the client that a request says it comes from; for events alone. */
export function noteClaim(request: IncomingMessage, clientId: string): void {
  clientOf(request).claimedClientId = clientId
}

/** Notes that there is such a client. */
export function noteRegistered(request: IncomingMessage): void {
  clientOf(request).isRegistered = true
}

/** The client that a request says it comes from. */
export function claimOf(request: IncomingMessage): ClaimedClient {
  const { claimedClientId, isRegistered = false } = clients.get(request) ?? {}
  return { claimedClientId, isRegistered }
}

/** Notes that a strategy of this suite has proven the client of the request. */
export function rememberClient(request: IncomingMessage, client: ProvenClient): void {
  clientOf(request).proven = client
}

/** The client that was proven for this request; undefined when none was. */
export function authenticatedClient(request: IncomingMessage): Client | undefined {
  return provenClient(request)?.client
}

/** The same with how it was proven. */
export function provenClient(request: IncomingMessage): ProvenClient | undefined {
  return clients.get(request)?.proven
}
