import { type Client, type FindClient, hasCredentialFor, hasCredentials } from '../protocol/client'
import { isRecord } from '../protocol/configuration'
import { invalidClient, invalidRequest, type Throttled, UnusableClient } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import { none } from './built-in-methods'
import type { CredentialThrottle } from './credential-throttle'
import {
  type AuthenticatingServer,
  type ClientAuthenticationMethod,
  type CredentialSources,
  type PresentedClient,
  type PresentedCredential,
  schemeOf,
  type Throttle,
} from './method'

// RFC 6749 2.3.1: credentials must not travel in the request URI, because logs and histories contain it.
// Plug-ins of a host name the parameters of their own.
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
 * Finds the client that a request presents by exactly one method. The server decides this once, before a strategy
 * runs. A strategy sees only its own method, so a chain of strategies could not notice that a request uses two
 * methods.
 *
 * @param credentialParameters parameters of plug-ins that hold a credential.
 * @param takesPublicClients whether a client may name itself without a credential.
 * @throws OAuthError `invalid_request` for several methods (RFC 6749 2.3), `invalid_client` for none.
 */
export function presentedClient(
  sources: CredentialSources,
  methods: readonly ClientAuthenticationMethod[],
  credentialParameters: readonly string[] = [],
  takesPublicClients = true,
): PresentedClient {
  const isInQuery = (name: string) => sources.query.mentions(name)
  if (!sources.query.isEmpty && [...neverInQuery, ...credentialParameters].some(isInQuery))
    throw invalidRequest('credential_in_query', 'Credentials must not be sent in the request URI.')
  if (sources.authorization.length > 1)
    throw invalidRequest(
      'several_authorization_headers',
      'The request has more than one Authorization header.',
    )
  const used = onlyOne(methods, sources)
  const only = used ?? (takesPublicClients ? use(none, sources) : undefined)
  // A client that sends an Authorization header means to authenticate by it. The server refuses a header that no
  // method understands.
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
  const presented: unknown = method.read(sources)
  if (presented === undefined) return undefined
  // A host may have written the method. A wrong result of `read` must not pass for a client later.
  if (!isPresentedCredential(presented))
    throw new TypeError(
      `read() of the method ${method.name} must return { clientId, credential }, both texts.`,
    )
  return { clientId: presented.clientId, credential: presented.credential, method }
}

const isPresentedCredential = (value: unknown): value is PresentedCredential =>
  isRecord(value) && typeof value['clientId'] === 'string' && typeof value['credential'] === 'string'

function ignoresHeader({ method }: PresentedClient, { authorization }: CredentialSources): boolean {
  const [header] = authorization
  return header !== undefined && schemeOf(header) !== method.scheme?.toLowerCase()
}

/** A client that has authenticated. */
export interface ProvenClient {
  readonly client: Client
  /** Whether the client used a secret that is no longer its current one, for example during a rotation. */
  readonly byOldSecret: boolean
}

/**
 * Authenticates the presented client, or refuses it without showing the reason: an unknown client, a disabled client,
 * a wrong secret and a wrong method look the same and cost the same.
 *
 * @param client the registered client with this identifier; undefined if there is none.
 * @param limitsFor makes the limits on guesses at a client; undefined stands for an unknown client.
 * @param server the server, for the method.
 * @throws OAuthError `invalid_client`; `temporarily_unavailable` over a limit on failures, for an unknown client,
 * too.
 */
export async function authenticateClient(
  { method, credential }: PresentedClient,
  client: Client | undefined,
  limitsFor: (client: Client | undefined) => Throttle,
  server: AuthenticatingServer,
): Promise<ProvenClient> {
  // For each method, a disabled client is unknown. Otherwise, the cost would show whether the secret was right.
  const asked = client?.disabled === true ? undefined : client
  const proven: unknown = await method.verify(asked, credential, limitsFor(asked), server)
  if (client === undefined) throw refused('client_unknown')
  if (client.disabled) throw refused('client_disabled')
  // A host may have written the method. Only the two documented values prove a client, and no other truthy value.
  const byOldSecret = proven === 'by an old secret'
  if (proven !== true && !byOldSecret) throw refused('client_not_authenticated')
  const registered = client.token_endpoint_auth_method
  if (registered !== undefined && registered !== method.name) throw refused('client_method_not_registered')
  if (!hasCredentialFor(method.name, client)) throw refused('client_method_not_registered')
  return { client, byOldSecret }
}

const refused = (reason: Reason<'invalid_client'>) => invalidClient(reason, 'Client authentication failed.')

/** What client authentication uses of a request besides the presented client. */
export interface AuthenticationCircumstances {
  /** The address of the request, as Express reports it; undefined if the connection has closed. */
  readonly address: () => string | undefined
  /** The refusal for a network that has used up its failures; undefined before that. */
  readonly networkRefusal: Throttled | undefined
  /** Runs if the presented client is registered. The client has not authenticated yet. */
  readonly clientFound: () => void
}

/** Authenticates the clients of one server. */
export class ClientVerification {
  constructor(
    private readonly methods: readonly ClientAuthenticationMethod[],
    private readonly findClient: FindClient,
    private readonly throttle: CredentialThrottle,
    private readonly credentialParameters: readonly string[],
    private readonly server: AuthenticatingServer,
    private readonly takesPublicClients: boolean,
  ) {}

  /**
   * The client that a request presents, by the one method that it uses.
   *
   * @throws OAuthError if the request presents no client, or uses several methods.
   */
  present(sources: CredentialSources): PresentedClient {
    return presentedClient(sources, this.methods, this.credentialParameters, this.takesPublicClients)
  }

  /**
   * Authenticates the presented client. If its network is over the limit, only a secret or a key that is no guess
   * still passes.
   *
   * @throws OAuthError `invalid_client`; `temporarily_unavailable` over a limit on failures.
   */
  async verify(
    presented: PresentedClient,
    { address, networkRefusal, clientFound }: AuthenticationCircumstances,
  ): Promise<ProvenClient> {
    let client: Client | undefined
    try {
      client = await this.findClient(presented.clientId, networkRefusal)
    } catch (error) {
      // The identifier is the URL of a document, and no misplaced secret: events may name it.
      if (error instanceof UnusableClient) clientFound()
      throw error
    }
    if (client !== undefined) clientFound()
    const limitsFor = (asked: Client | undefined) =>
      this.throttle.of(presented, asked, address, networkRefusal)
    const proven = await authenticateClient(presented, client, limitsFor, this.server)
    if (networkRefusal !== undefined && !hasCredentials(proven.client)) throw networkRefusal
    return proven
  }
}
