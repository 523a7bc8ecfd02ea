import { isList, isRecord, isText } from '../primitives/values'
import { isSameScheme, parseAuthorization } from '../protocol/http-authentication'
import type { OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { refused } from '../protocol/refusals'
import { none } from './built-in-methods'
import type {
  ClientAuthenticationMethod,
  CredentialSources,
  PresentedCredential,
  ServedMethod,
} from './method'

// Nothing is proven.
export class ClientCredential implements PresentedCredential {
  constructor(
    readonly clientId: string,
    readonly credential: string,
    readonly method: ServedMethod,
    // For a client without credentials.
    readonly publicName?: ClientCredential,
  ) {}
}

export interface CredentialTerms {
  // Besides `none`.
  readonly methods: readonly ClientAuthenticationMethod[]
  readonly credentialParameters: readonly string[]
  readonly takesPublicClients: boolean
  readonly clientWith: CredentialSources['clientWith']
}

// The host may change the list in place. Its order must choose none of several clients.
export const clientWithin =
  (clients: unknown): CredentialSources['clientWith'] =>
  (method, fits) => {
    const isOf = ({ credentials }: Readonly<Record<string, unknown>>) =>
      isRecord(credentials) && Object.hasOwn(credentials, method) && fits(credentials[method])
    const [only, another] = isList(clients) ? clients.filter((each) => isRecord(each) && isOf(each)) : []
    return another === undefined && isRecord(only) && isText(only['client_id'])
      ? only['client_id']
      : undefined
  }

// RFC 6749 2.3.1: request URIs end up in logs and histories.
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

export const credentialNames = ({ credentialParameters }: CredentialTerms): readonly string[] => [
  ...neverInQuery,
  'client_assertion_type',
  ...credentialParameters,
]

// Before any strategy, which sees only its own method.
export function readCredential(
  sources: CredentialSources,
  { methods, credentialParameters, takesPublicClients }: CredentialTerms,
): ClientCredential | undefined {
  if (!sources.query.isEmpty && mentionsAny(sources.query, [...neverInQuery, ...credentialParameters]))
    throw refused('credential_in_query')
  if (sources.authorization.length > 1) throw refused('several_authorization_headers')
  const used = onlyOne(methods, sources)
  const mayBePublic = takesPublicClients && (used === undefined || used.method.byConnection === true)
  const name = mayBePublic ? readName(sources) : undefined
  const only =
    used && name ? new ClientCredential(used.clientId, used.credential, used.method, name) : (used ?? name)
  if (only === undefined) {
    if (sources.authorization.length > 0) throw noClientAuthentication(true)
    return undefined
  }
  const named = sources.body.get('client_id')
  if (named !== undefined && named !== only.clientId) throw refused('client_id_mismatch/authentication')
  return only
}

const mentionsAny = (query: Parameters, names: readonly string[]) =>
  names.some((name) => query.mentions(name))

export const noClientAuthentication = (attempted: boolean): OAuthError =>
  refused(attempted ? 'no_client_authentication/attempted' : 'no_client_authentication')

function onlyOne(
  methods: readonly ClientAuthenticationMethod[],
  sources: CredentialSources,
): ClientCredential | undefined {
  let only: ClientCredential | undefined
  let connected: ClientCredential | undefined
  let several = false
  for (const method of methods) {
    const used = readBy(method, sources)
    if (method.byConnection === true) {
      connected ??= used
      continue
    }
    several ||= only !== undefined && used !== undefined
    only ??= used
  }
  if (several || (only !== undefined && ignoresHeader(only, sources))) throw refused('several_methods')
  return only ?? (connected && !ignoresHeader(connected, sources) ? connected : undefined)
}

function readName(sources: CredentialSources): ClientCredential | undefined {
  const named = readBy(none, sources)
  return named === undefined || ignoresHeader(named, sources) ? undefined : named
}

function readBy(
  method: ClientAuthenticationMethod,
  sources: CredentialSources,
): ClientCredential | undefined {
  const presented: unknown = method.read(sources)
  if (presented === undefined) return undefined
  // A host may have written the method: a wrong result must not pass for a client.
  if (!isPresentedCredential(presented))
    throw new TypeError(
      `read() of the method ${method.name} must return { clientId, credential }, both texts.`,
    )
  return new ClientCredential(presented.clientId, presented.credential, method)
}

const isPresentedCredential = (value: unknown): value is PresentedCredential =>
  isRecord(value) && typeof value['clientId'] === 'string' && typeof value['credential'] === 'string'

function ignoresHeader(
  { method: { scheme } }: ClientCredential,
  { authorization }: CredentialSources,
): boolean {
  const header = authorization[0]
  if (header === undefined) return false
  return scheme === undefined || !isSameScheme(parseAuthorization(header).scheme, scheme)
}
