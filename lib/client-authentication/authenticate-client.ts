import { type Client, type FindClient, hasCredentialFor, hasCredentials } from '../protocol/client'
import { isRecord } from '../protocol/configuration'
import { invalidClient, invalidRequest, type Throttled } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import { none } from './built-in-methods'
import type { CredentialThrottle } from './credential-throttle'
import {
  type ClientAuthenticationMethod,
  type CredentialSources,
  type PresentedClient,
  type PresentedCredential,
  schemeOf,
  type Throttle,
} from './method'

// RFC 6749 2.3.1: credentials never travel in the request URI, where logs and histories keep them.
const neverInQuery = [
  'client_secret',
  'client_assertion',
  'code',
  'code_verifier',
  'refresh_token',
  'username',
  'password',
  'subject_token',
  'actor_token',
  'assertion',
]

/**
 * The client that a request presents, by exactly one method. A chain of strategies cannot tell "not mine" from
 * "a second one", so this is decided once, before any of them runs.
 *
 * @throws OAuthError `invalid_request` for several methods (RFC 6749 2.3), `invalid_client` for none.
 */
export function presentedClient(
  sources: CredentialSources,
  methods: readonly ClientAuthenticationMethod[],
): PresentedClient {
  if (!sources.query.isEmpty && neverInQuery.some((name) => sources.query.mentions(name)))
    throw invalidRequest('credential_in_query', 'Credentials must not be sent in the request URI.')
  if (sources.authorization.length > 1)
    throw invalidRequest(
      'several_authorization_headers',
      'The request has more than one Authorization header.',
    )
  const used = onlyOne(methods, sources)
  const only = used ?? use(none, sources)
  // An Authorization header that no method understands was meant to authenticate: it is not passed over.
  if (only === undefined || ignoresHeader(only, sources))
    throw invalidClient('no_client_authentication', 'The client did not authenticate by a supported method.')
  const named = sources.body.get('client_id')
  if (named !== undefined && named !== only.clientId)
    throw invalidRequest('client_id_mismatch', 'The parameter client_id names another client.')
  return only
}

function onlyOne(
  methods: readonly ClientAuthenticationMethod[],
  sources: CredentialSources,
): PresentedClient | undefined {
  let only: PresentedClient | undefined
  let several = false
  for (const method of methods) {
    const used = use(method, sources)
    several ||= only !== undefined && used !== undefined
    only ??= used
  }
  if (several || (only !== undefined && ignoresHeader(only, sources)))
    throw invalidRequest('several_methods', 'The client used more than one authentication method.')
  return only
}

function use(method: ClientAuthenticationMethod, sources: CredentialSources): PresentedClient | undefined {
  const claim: unknown = method.read(sources)
  if (claim === undefined) return undefined
  // The method may be the host's own: a claim that is none must not pass for a client further on.
  if (!isClaim(claim))
    throw new TypeError(
      `read() of the method ${method.name} must return { clientId, credential }, both texts.`,
    )
  return { clientId: claim.clientId, credential: claim.credential, method }
}

const isClaim = (value: unknown): value is PresentedCredential =>
  isRecord(value) && typeof value['clientId'] === 'string' && typeof value['credential'] === 'string'

function ignoresHeader({ method }: PresentedClient, { authorization }: CredentialSources): boolean {
  const [header] = authorization
  return header !== undefined && schemeOf(header) !== method.scheme?.toLowerCase()
}

/** A client that has proven itself. */
export interface ProvenClient {
  readonly client: Client
  /** Whether by a secret that is not its current one any more, as during a rotation. */
  readonly byOldSecret: boolean
}

/**
 * Proves the presented client, or refuses it without telling why: unknown client, disabled client, wrong secret and
 * wrong method look the same and cost the same.
 *
 * @param client the registered client of that identifier; undefined when there is none.
 * @param limitsFor the limits on guesses at a client, or at an unknown one.
 * @throws OAuthError `invalid_client`; over a limit on failures `temporarily_unavailable`, for unknown clients, too.
 */
export async function authenticateClient(
  { method, credential }: PresentedClient,
  client: Client | undefined,
  limitsFor: (client: Client | undefined) => Throttle,
): Promise<ProvenClient> {
  // A disabled client is nobody, to a method from outside, too: what its secret was worth cannot be told from the cost.
  const asked = client?.disabled === true ? undefined : client
  const proven: unknown = await method.verify(asked, credential, limitsFor(asked))
  if (client === undefined) throw refused('client_unknown')
  if (client.disabled) throw refused('client_disabled')
  // The method may be the host's own: what is merely truthy proves nobody.
  const byOldSecret = proven === 'by an old secret'
  if (proven !== true && !byOldSecret) throw refused('client_not_authenticated')
  const registered = client.token_endpoint_auth_method
  if (registered !== undefined && registered !== method.name) throw refused('client_method_not_registered')
  if (!hasCredentialFor(method.name, client)) throw refused('client_method_not_registered')
  return { client, byOldSecret }
}

const refused = (reason: Reason<'invalid_client'>) => invalidClient(reason, 'Client authentication failed.')

/** What client authentication needs to know of a request beside the client that it presents. */
export interface AuthenticationCircumstances {
  /** As Express tells it; undefined when the connection is gone. */
  readonly address: () => string | undefined
  /** What is said when the network of the request has used up its failures; undefined before that. */
  readonly networkRefusal: Throttled | undefined
  /** Is called when the presented client is registered; nothing else of it is proven then. */
  readonly clientFound: () => void
}

/** Verifies the clients of one server. */
export class ClientVerification {
  constructor(
    private readonly methods: readonly ClientAuthenticationMethod[],
    private readonly findClient: FindClient,
    private readonly throttle: CredentialThrottle,
  ) {}

  /** The client that a request presents, by the one method it uses. @throws OAuthError when it is not one. */
  present(sources: CredentialSources): PresentedClient {
    return presentedClient(sources, this.methods)
  }

  /**
   * The client, proven. Past the limit of its network that takes a secret or key which is no guess.
   *
   * @throws OAuthError `invalid_client` when it is not; `temporarily_unavailable` over a limit on failures.
   */
  async verify(
    presented: PresentedClient,
    { address, networkRefusal, clientFound }: AuthenticationCircumstances,
  ): Promise<ProvenClient> {
    const client = await this.findClient(presented.clientId)
    if (client !== undefined) clientFound()
    const proven = await authenticateClient(presented, client, (asked) =>
      this.throttle.of(presented, asked, address, networkRefusal),
    )
    if (networkRefusal !== undefined && !hasCredentials(proven.client)) throw networkRefusal
    return proven
  }
}
