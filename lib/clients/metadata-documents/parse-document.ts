import { holdsSecret } from '../../jwt/public-keys'
import { type Client, usualGrantTypes, usualResponseTypes } from '../../protocol/client'
import {
  allowedLogoutUris,
  allowedRedirectUris,
  fittingResponseTypes,
  grantedTypes,
  isNativeApp,
  offersPrivateKeyJwt,
  privateKeyJwtName,
} from '../../protocol/client-metadata'
import { ConfigurationError } from '../../primitives/configuration-error'
import { isList, isRecord, isText, isTexts } from '../../primitives/values'
import { isKeepable } from '../../protocol/json'
import { UnusableClient } from '../../protocol/refusals'
import { isWebAddress, type ServerCapabilities } from '../../protocol/parse-client'
import { formatScope, parseScope, type Scope } from '../../protocol/scope'
import { type DocumentFetch, mistakeInStatement } from '../document-fetch/document-fetch'
import type { DocumentVerification } from './document-cache'
import type { DocumentUrl } from './document-url'

export interface DocumentRules {
  readonly capabilities: ServerCapabilities
  readonly scope: Scope
  readonly grantTypes: readonly string[]
  readonly localhostRedirects: boolean
  readonly parse: (registration: unknown) => Client
}

export function verificationBy(
  { capabilities: { members = [] } }: DocumentRules,
  documents: DocumentFetch,
): DocumentVerification {
  const verifying = members.filter((member) => member.verify !== undefined)
  return {
    isNeeded: (client) => verifying.some(({ name }) => client.members[name] !== undefined),
    async run(client, inquiry) {
      const mistake = await mistakeInStatement(client, verifying, documents, inquiry)
      if (mistake !== undefined) throw malformed('has a member that is not valid')
    },
  }
}

/**
 * A document speaks to every server, so this drops what such clients cannot have here. Only members of RFC
 * 7591 2 and of plug-ins have an effect: a document never makes its client more than a client of strangers.
 */
export function parseDocument(json: unknown, url: DocumentUrl, rules: DocumentRules): Client {
  const document = isRecord(json) ? withoutNulls(json) : {}
  // Exact comparison: otherwise a document could name the client of another URL.
  if (document['client_id'] !== url.clientId) throw malformed('names another client_id')
  // draft-ietf-oauth-client-id-metadata-document 4.1: a published secret is none.
  for (const secret of ['client_secret', 'client_secret_expires_at'])
    if (Object.hasOwn(document, secret)) throw malformed('has a client_secret')
  if (hasPrivateKey(document['jwks'])) throw malformed('has a private key')
  for (const required of ['client_name', 'redirect_uris'])
    if (!Object.hasOwn(document, required)) throw malformed('lacks client_name or redirect_uris')
  const client = registered(registrationFrom(document, url, rules), rules)
  const localhostRedirects = rules.localhostRedirects && client.client_type === 'public'
  return Object.freeze({ ...client, metadataDocument: { host: url.host, localhostRedirects } })
}

const withoutNulls = (document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null))

const hasPrivateKey = (jwks: unknown) =>
  isRecord(jwks) && isList(jwks['keys']) && jwks['keys'].some(holdsSecret)

function registered(registration: unknown, { parse }: DocumentRules): Client {
  try {
    return parse(registration)
  } catch (error) {
    if (error instanceof ConfigurationError) throw malformed('has a member that is not valid')
    throw error
  }
}

function registrationFrom(
  document: Readonly<Record<string, unknown>>,
  url: DocumentUrl,
  rules: DocumentRules,
): Readonly<Record<string, unknown>> {
  const authentication = authenticationFrom(document, rules)
  const { client_type } = authentication
  const redirect_uris = redirectUrisFrom(document['redirect_uris'], rules)
  const grant_types = grantTypesFrom(document['grant_types'], client_type, rules)
  return {
    ...membersOfPlugIns(document, rules),
    client_id: url.clientId,
    ...authentication,
    client_name: document['client_name'],
    client_uri: pageFrom(document['client_uri'], url),
    policy_uri: pageFrom(document['policy_uri'], url),
    tos_uri: pageFrom(document['tos_uri'], url),
    redirect_uris,
    post_logout_redirect_uris: logoutUrisFrom(document['post_logout_redirect_uris']),
    loopback_redirect_uris: isTexts(redirect_uris) && isNativeApp(client_type, redirect_uris),
    grant_types,
    response_types: responseTypesFrom(document['response_types'], grant_types, rules),
    scope: scopeFrom(document['scope'], rules),
  }
}

// What is unusable here must not refuse a document for many servers.
const logoutUrisFrom = (value: unknown) =>
  isTexts(value) ? allowedLogoutUris(value.slice(0, 100)) : undefined

// A client relies on it, so a bad value refuses the document, unless the plug-in leaves it out.
function membersOfPlugIns(
  document: Readonly<Record<string, unknown>>,
  { capabilities: { members = [] } }: DocumentRules,
): Readonly<Record<string, unknown>> {
  const stated = members.filter((member) => {
    const value = Object.hasOwn(document, member.name) ? document[member.name] : undefined
    return value !== undefined && !(isKeepable(value) && member.isGranted?.(value) === false)
  })
  return Object.fromEntries(stated.map(({ name }) => [name, document[name]]))
}

interface Authentication {
  readonly client_type: Client['client_type']
  readonly token_endpoint_auth_method: string
  readonly credentials?: Readonly<Record<string, unknown>>
}

/** RFC 7591 2: the default method needs a secret, which a document's client cannot have. */
function authenticationFrom(
  document: Readonly<Record<string, unknown>>,
  { capabilities }: DocumentRules,
): Authentication {
  const { token_endpoint_auth_method: method = 'none', jwks, jwks_uri } = document
  if (method === 'none') return { client_type: 'public', token_endpoint_auth_method: method }
  if (method !== privateKeyJwtName || !offersPrivateKeyJwt(capabilities))
    throw malformed('has an authentication method that is not offered')
  // RFC 7591 2: exactly one of the two.
  if ((jwks === undefined) === (jwks_uri === undefined)) throw malformed('must have either jwks or jwks_uri')
  return {
    client_type: 'confidential',
    token_endpoint_auth_method: privateKeyJwtName,
    credentials: { [privateKeyJwtName]: jwks ?? { jwks_uri } },
  }
}

// What is no list goes on to the parser of registrations, which refuses it.
function redirectUrisFrom(given: unknown, { capabilities }: DocumentRules): unknown {
  if (!isTexts(given)) return given
  const allowed = allowedRedirectUris(given, capabilities)
  if (allowed.length === 0) throw malformed('has no redirection URI that is allowed')
  return allowed
}

function grantTypesFrom(
  given: unknown,
  clientType: Client['client_type'],
  { grantTypes }: DocumentRules,
): unknown {
  const listed = given ?? usualGrantTypes
  if (!isTexts(listed)) return listed
  const granted = grantedTypes(listed, grantTypes, clientType)
  if (granted === undefined) throw malformed('has no grant type that is offered')
  return granted
}

function responseTypesFrom(given: unknown, grantTypes: unknown, { capabilities }: DocumentRules): unknown {
  const granted = isTexts(grantTypes) ? grantTypes : []
  const listed = given ?? usualResponseTypes(granted)
  return isTexts(listed) ? fittingResponseTypes(listed, granted, capabilities) : listed
}

// A scope of words for other servers alone counts as none.
function scopeFrom(given: unknown, { scope }: DocumentRules): unknown {
  if (given === undefined || given === '') return formatScope(scope)
  const asked = isText(given) ? parseScope(given) : undefined
  if (asked === undefined) return given
  const known = scope.filter((token) => asked.includes(token))
  return formatScope(known.length > 0 ? known : scope)
}

// A link to another host would lend the client that host's name.
const pageFrom = (given: unknown, { host }: DocumentUrl): string | undefined =>
  isWebAddress(given) && new URL(given).host === host ? given : undefined

// A document may be mended, so the token endpoint must not make the client throw its tokens away. The
// resource owner sees that the request cannot go on.
function malformed(fault: string): UnusableClient {
  return new UnusableClient('client_document_malformed/authentication', 'client_document_malformed', {
    description: `The metadata document of the client ${fault}.`,
  })
}
