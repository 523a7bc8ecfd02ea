import { holdsSecret } from '../../jwt/public-keys'
import type { ConfigurationIssue } from '../../primitives/configuration-error'
import { Place } from '../../primitives/schema'
import { isList, isRecord, isText, isTexts } from '../../primitives/values'
import type { Client } from '../../protocol/client'
import { isWebAddress, parseClient, type ServerCapabilities } from '../../protocol/parse-client'
import { UnusableClient } from '../../protocol/refusals'
import { formatScope, parseScope, type Scope } from '../../protocol/scope'
import { allowedLogoutUris, memberAt, readStated } from '../stated-metadata'

export interface DocumentRules {
  readonly capabilities: ServerCapabilities
  readonly scope: Scope
  readonly grantTypes: readonly string[]
  readonly localhostRedirects: boolean
}

export const needsVerification = (
  client: Client,
  { capabilities: { members = [] } }: DocumentRules,
): boolean =>
  members.some((member) => member.verify !== undefined && client.members[member.name] !== undefined)

// A document speaks to every server: what such clients cannot have here goes. Its client is no more than a
// stranger's.
export function parseDocument(json: unknown, clientId: string, rules: DocumentRules): Client {
  const document = isRecord(json) ? withoutNulls(json) : {}
  // Exactly: a document must not name the client of another URL.
  if (document['client_id'] !== clientId) throw malformedDocument('names another client_id')
  // draft-ietf-oauth-client-id-metadata-document 4.1: a published secret is none.
  for (const secret of ['client_secret', 'client_secret_expires_at'])
    if (Object.hasOwn(document, secret)) throw malformedDocument('has a client_secret')
  if (hasPrivateKey(document['jwks'])) throw malformedDocument('has a private key')
  for (const required of ['client_name', 'redirect_uris'])
    if (!Object.hasOwn(document, required)) throw malformedDocument('lacks client_name or redirect_uris')
  const issues: ConfigurationIssue[] = []
  const { host } = new URL(clientId)
  const registration = registrationFrom(document, host, rules, issues)
  const client = parseClient(registration, '', issues, rules.capabilities)
  const [issue] = issues
  if (issue !== undefined) throw malformedDocument(`has no valid ${memberAt(issue.path)}`)
  const localhostRedirects = rules.localhostRedirects && client.client_type === 'public'
  return Object.freeze({ ...client, metadataDocument: { host, localhostRedirects } })
}

const withoutNulls = (document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null))

const hasPrivateKey = (jwks: unknown) =>
  isRecord(jwks) && isList(jwks['keys']) && jwks['keys'].some(holdsSecret)

function registrationFrom(
  document: Readonly<Record<string, unknown>>,
  host: string,
  { capabilities, grantTypes, scope }: DocumentRules,
  issues: ConfigurationIssue[],
): Readonly<Record<string, unknown>> {
  // RFC 7591 2: the default method needs a secret.
  const terms = { grantTypes, methods: ['none'], usualMethod: 'none' }
  const stated = readStated(new Place(document, '', capabilities, issues), terms)
  const logoutUris = document['post_logout_redirect_uris']
  return {
    ...stated,
    client_id: document['client_id'],
    client_name: document['client_name'],
    client_uri: pageFrom(document['client_uri'], host),
    policy_uri: pageFrom(document['policy_uri'], host),
    tos_uri: pageFrom(document['tos_uri'], host),
    // What is unusable here must not refuse a document for many servers.
    post_logout_redirect_uris: isTexts(logoutUris) ? allowedLogoutUris(logoutUris.slice(0, 100)) : undefined,
    scope: scopeFrom(document['scope'], scope),
  }
}

// Tokens for other servers alone count as none.
function scopeFrom(given: unknown, scope: Scope): unknown {
  if (given === undefined || given === '') return formatScope(scope)
  const asked = isText(given) ? parseScope(given) : undefined
  if (asked === undefined) return given
  const known = scope.filter((token) => asked.includes(token))
  return formatScope(known.length > 0 ? known : scope)
}

// A link to another host would lend the client its name.
const pageFrom = (given: unknown, host: string): string | undefined =>
  isWebAddress(given) && new URL(given).host === host ? given : undefined

// A document may be mended: the client must not throw its tokens away.
export function malformedDocument(fault: string): UnusableClient {
  return new UnusableClient('client_document_malformed/authentication', 'client_document_malformed', {
    description: `The metadata document of the client ${fault}.`,
  })
}
