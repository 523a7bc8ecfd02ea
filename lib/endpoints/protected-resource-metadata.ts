import { checked, type Field, kind, optional, refusal } from '../primitives/schema'
import { isRecord } from '../primitives/values'
import { type ExtensionMetadata, isExtensionMetadata } from '../protocol/extension-metadata'
import { covers, isScope, type Scope, scopeExpectation } from '../protocol/scope'
import { hasUserinfo, isLoopback, isWebPage, webPageExpectation } from '../protocol/uri'

/** RFC 9728 3. */
export const wellKnownOfResources = '/.well-known/oauth-protected-resource'

/**
 * RFC 9728 3.1: the well-known name stands before the path; the query stays. 1.2: https, but loopback may use
 * http.
 */
export function metadataUrlOf(resource: string): URL | undefined {
  if (!URL.canParse(resource)) return undefined
  const url = new URL(resource)
  const isReachable = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
  if (!isReachable || hasUserinfo(url)) return undefined
  // RFC 9728 3.1: only a slash directly behind the host goes.
  const path = url.pathname === '/' ? '' : url.pathname
  return new URL(url.origin + wellKnownOfResources + path + url.search)
}

/** Members that a host adds to the metadata of a resource (RFC 9728 2). */
export interface ProtectedResourceMembers {
  /** Default: the `scopes` of the resource in the option `resources`. */
  readonly scopes_supported?: readonly string[]
  /**
   * With the option `resources`, the `name` there is the only one, and a `resource_name` here is a mistake.
   */
  readonly resource_name?: string
  /** For developers. Default: the `documentation` of the resource in the option `resources`. */
  readonly resource_documentation?: string
  /** What a client may do with the data of the resource. */
  readonly resource_policy_uri?: string
  /** The terms of service. */
  readonly resource_tos_uri?: string
  /** Such as `resource_name#de`. */
  readonly [member: string]: string | boolean | readonly string[] | undefined
}

interface ProtectedResourceOffer {
  readonly uri: string
  readonly issuers: readonly string[]
  readonly scopes: Scope
  readonly name?: string | undefined
  readonly documentation?: string | undefined
  readonly ofTypes?: ExtensionMetadata
}

/** RFC 9728 2. */
export function protectedResourceMetadata(
  { uri, issuers, scopes, name, documentation, ofTypes }: ProtectedResourceOffer,
  members: ExtensionMetadata,
): ExtensionMetadata {
  return {
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    ...(name === undefined ? {} : { resource_name: name }),
    ...(documentation === undefined ? {} : { resource_documentation: documentation }),
    ...members,
    ...ofTypes,
    // RFC 9728 3.3: clients compare it with the URI that they asked about.
    resource: uri,
    authorization_servers: issuers,
    // RFC 6750 2: a guard reads only the header.
    bearer_methods_supported: ['header'],
  }
}

const membersExpectation =
  "must be an object of members (RFC 9728 2): texts, booleans and lists of texts, as in { resource_tos_uri: 'https://example.com/terms' }."

const nameExpectation =
  "belongs in the option resources, as the name of the resource: the consent page shows it too. With mcp(), write resource: { 'https://api.example.com/mcp': 'Notes' }."

const ownMember = refusal('is a member that the server itself sets.')
const aPage = optional(kind(isWebPage, webPageExpectation))

const fields = (scopes: Scope) => ({
  resource: ownMember,
  authorization_servers: ownMember,
  bearer_methods_supported: ownMember,
  resource_documentation: aPage,
  resource_policy_uri: aPage,
  resource_tos_uri: aPage,
  // The consent page knows only that of the option `resources`.
  ...(scopes.length > 0 && { resource_name: refusal(nameExpectation) }),
  scopes_supported: optional(
    checked(kind(isScope, scopeExpectation), (supported, wrong) => {
      if (scopes.length > 0 && !covers(scopes, supported))
        wrong('', `must hold scopes of the resource: ${scopes.join(', ')}.`)
    }),
  ),
})

export const addedMembers =
  (scopes: Scope): Field<ExtensionMetadata> =>
  (given, at, name) => {
    const members =
      isRecord(given) && Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    if (isExtensionMetadata(members)) {
      at.inside(members, name).read(fields(scopes))
      return members
    }
    at.wrong(name, membersExpectation)
    return {}
  }
