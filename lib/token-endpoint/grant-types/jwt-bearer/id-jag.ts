import { type JwtTerms, unprovenType } from '../../../jwt/verify-jwt'
import type { Client } from '../../../protocol/client'
import { isText, isTexts } from '../../../primitives/values'
import { refused } from '../../../protocol/refusals'
import { grantableScope, intersects, parseScope, type Scope } from '../../../protocol/scope'
import { resourceIndicatorsName } from '../../../extensions/resource-indicators/resource-indicators'
import type { FoundResource, GrantType, TokenRequest } from '../../../authorization/grant-type'
import { type Assertion, type AssertionTerms, grantByAssertion } from '../assertion'
import { verifyAssertion } from './jwt-assertion'

// Tells clients that the server takes identity assertions.
const metadata = {
  authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
}

// RFC 8725 3.11: no ID token or plain JWT assertion of the same provider.
const type = 'oauth-id-jag+jwt'

/** Unproven: only says by which rules the assertion is verified. */
export const isIdentityAssertion = (assertion: string): boolean => unprovenType(assertion) === type

type IdentityAssertionTerms = AssertionTerms & Pick<JwtTerms, 'issuers' | 'algorithms' | 'clockTolerance'>

export function identityAssertionGrant(name: string, terms: IdentityAssertionTerms): GrantType {
  return {
    name,
    parameters: ['assertion', 'scope'],
    refreshTokens: false,
    publicClients: false,
    metadata,
    async handle(request) {
      const { client, parameters, context, issuer } = request
      // The draft, "Client Authentication": not for public clients, in whose name anyone could present an
      // assertion.
      if (client.client_type !== 'confidential') throw refused('client_not_confidential/id_jag')
      const presented = parameters.require('assertion')
      const asked = askedScope(request)
      // The draft, "Processing Rules": the audience is this issuer. An assertion for several servers would be
      // good at each.
      const expected = { ...terms, audience: [issuer], soleAudience: true, types: [type] }
      const assertion = await verifyAssertion(presented, context.now, expected)
      requireClaims(assertion, client, issuer)
      const resources = boundResources(assertion, request)
      const scope = grantedScope(assertion, asked, resources, request)
      const bound = resources && { [resourceIndicatorsName]: resources.map(({ uri }) => uri) }
      const grant = { scope, extensionData: bound ?? {} }
      return { grant: { ...(await grantByAssertion(assertion, request, terms)), ...grant } }
    },
  }
}

function requireClaims({ issuer, claims }: Assertion, client: Client, ownIssuer: string): void {
  // The draft, "Cross-Domain Use": a client could widen its access by assertions of this server.
  if (issuer === ownIssuer) throw refused('assertion_issuer_unknown')
  const { client_id: clientId, iat, cnf, authorization_details: details } = claims
  if (!isText(clientId) || typeof iat !== 'number') throw refused('assertion_incomplete')
  if (clientId !== client.client_id) throw refused('assertion_of_another_client')
  // RFC 7800 3.1: only for the holder of the key, of which this grant gets no proof.
  if (cnf !== undefined) throw refused('assertion_bound_to_key')
  // The draft, "Processing Rules": all details (RFC 9396 2) must be processed. They may restrict the access, so
  // a token without them could give more than the provider allows.
  if (details !== undefined) throw refused('assertion_details_unsupported')
}

function askedScope({ parameters, client }: TokenRequest): Scope | undefined {
  const asked = parameters.get('scope')
  return asked === undefined ? undefined : grantableScope(asked, client, [])
}

/**
 * Common to provider, client and registration. An assertion without `scope` stands for the default scope (RFC
 * 6749 3.3).
 *
 * Enterprise-managed authorization of MCP, 7.2.1, demands that a request asks for everything asserted. The
 * server deviates: it narrows the token for a request for less, or for nothing.
 */
function grantedScope(
  { claims: { scope: claim } }: Assertion,
  asked: Scope | undefined,
  resources: readonly FoundResource[] | undefined,
  { client, defaultScope }: TokenRequest,
): Scope {
  const asserted = claim === undefined ? defaultScope : isText(claim) ? parseScope(claim) : undefined
  if (asserted === undefined) throw refused('assertion_incomplete')
  const scope = (asked ?? client.scope).filter((token) => asserted.includes(token))
  const isOfResource = resources === undefined || resources.some(({ scopes }) => intersects(scopes, asserted))
  if (scope.length === 0 || !isOfResource) throw refused('scope_not_asserted')
  return scope
}

// No client has more, and a longer list costs time.
const resourcesAtMost = 8

/**
 * The tokens are for these alone. A server with resources needs the claim: an assertion for one resource must
 * not open another. Undefined for a server without resources.
 */
function boundResources(
  { claims: { resource } }: Assertion,
  { findResource }: TokenRequest,
): readonly FoundResource[] | undefined {
  if (findResource === undefined && resource === undefined) return undefined
  const named = isText(resource) ? [resource] : resource
  if (!isTexts(named) || named.length === 0 || named.length > resourcesAtMost)
    throw refused('assertion_incomplete')
  const found = named.flatMap((uri) => findResource?.(uri) ?? [])
  if (found.length < named.length)
    // Enterprise-managed authorization of MCP, 7.6.2: `invalid_target` is about the request.
    throw refused('assertion_resource_unknown')
  return [...new Set(found)]
}
