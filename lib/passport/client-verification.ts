import type { Request } from 'express'
import { authenticateClient, type ProvenClient } from '../client-authentication/authenticate-client'
import type { CredentialThrottle } from '../client-authentication/guess-limits'
import type {
  ClientAuthenticationMethod,
  CredentialSources,
  PresentedClient,
} from '../client-authentication/method'
import { presentedClient } from '../client-authentication/presented-client'
import { privateState } from '../protocol/beside'
import { hasCredentials, type FindClient } from '../protocol/client'
import type { Throttled } from '../protocol/oauth-error'
import { noteClaim, noteRegistered } from './authenticated-client'

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
