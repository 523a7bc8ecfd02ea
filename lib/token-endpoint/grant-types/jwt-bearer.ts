import type { FoundResource, GrantResult, GrantType, TokenRequest } from '../../authorization/grant-type'
import type { Plugin } from '../../doors/plug-in'
import { resourceIndicatorsName } from '../../extensions/resource-indicators/resource-indicators'
import { type PlainIssuer, plainIssuers, type TrustedIssuer, trustedIssuers } from '../../jwt/trusted-issuers'
import { anAudience, type JwtTerms, unprovenType, verifiedAlgorithms, verifyJwt } from '../../jwt/verify-jwt'
import { someSeconds } from '../../primitives/fields'
import { type Fields, optional, type Place, type Read, readOptions } from '../../primitives/schema'
import { isText, isTexts } from '../../primitives/values'
import type { Client } from '../../protocol/client'
import { refused } from '../../protocol/refusals'
import { grantableScope, intersects, parseScope, type Scope } from '../../protocol/scope'
import {
  type Assertion,
  assertionFields,
  assertionGrant,
  type AssertionOptions,
  type AssertionTerms,
  grantByAssertion,
} from './assertion'

/** At least one issuer or identity provider. */
export interface JwtBearerOptions extends AssertionOptions {
  /** The issuers of plain JWT assertions. Default none. */
  readonly issuers?: readonly PlainIssuer[]
  /**
   * The issuers of identity assertions (ID-JAG, draft-ietf-oauth-identity-assertion-authz-grant): the
   * identity provider of an enterprise says which of its people use which client. Default none.
   */
  readonly identityProviders?: readonly TrustedIssuer[]
  /**
   * The names of this server in plain assertions: `aud` must contain one exactly. Add the URL of
   * the token endpoint if issuers use that. Default: the `issuer` of the server (RFC 7523 3).
   */
  readonly audience?: string | readonly string[]
  /**
   * Signature algorithms (RFC 7518 3.1, RFC 8037 3.1). Default: all asymmetric ones, the only ones supported.
   */
  readonly algorithms?: readonly string[]
  /**
   * Whole seconds that an access token for an assertion of a `repeatable` issuer lives at most, 1 to 86 400.
   * It never outlives the assertion. Default 300.
   */
  readonly repeatableTokenLifetime?: number
}

const name = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

// RFC 8725 3.11: no access token, logout token or identity assertion of the same issuer.
const types = ['jwt']

/**
 * The grant type for JWT assertions, `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523 2.1). Each
 * assertion gives one access token for the resource owner whom a trusted issuer names, and no refresh token.
 * It needs the claims `iss`, `sub`, `aud`, `exp` and `jti`, and has at most 16 KiB. The header `typ` tells an
 * identity assertion (`oauth-id-jag+jwt`) from a plain one (`JWT`, or none). An issuer in one list is none of
 * the other.
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function jwtBearer(options: JwtBearerOptions): Plugin {
  const read = readOptions('jwtBearer()', fields, options, { check: checkIssuers })
  return { name: 'jwt-bearer', grantTypes: [grantTypeFor(read)] }
}

const fields = {
  // The client must not discard an assertion that may be valid.
  issuers: plainIssuers('assertion_keys_unavailable'),
  identityProviders: trustedIssuers('assertion_keys_unavailable'),
  audience: optional(anAudience('must be the issuer of this server.')),
  ...assertionFields,
  algorithms: verifiedAlgorithms,
  repeatableTokenLifetime: someSeconds(300, 1, 86_400),
} satisfies Fields<JwtBearerOptions>

type JwtBearerTerms = Read<typeof fields>

function checkIssuers({ issuers, identityProviders, audience }: JwtBearerTerms, at: Place): void {
  if (issuers.keys.size + identityProviders.size === 0)
    at.wrong('issuers', 'or identityProviders must list a trusted issuer.')
  if (audience !== undefined && issuers.keys.size === 0)
    at.wrong('audience', 'is for issuers: the audience of an identity assertion is the issuer of the server.')
}

function grantTypeFor({ issuers, identityProviders, audience, ...terms }: JwtBearerTerms): GrantType {
  const plain = assertionGrant({
    name,
    ...terms,
    verify(assertion, now, issuer) {
      const expected = { ...terms, issuers: issuers.keys, audience: audience ?? [issuer], types }
      return verifyAssertion(assertion, now, expected, issuers.repeatable)
    },
  })
  if (identityProviders.size === 0) return plain
  const takesPlain = issuers.keys.size > 0
  return {
    ...plain,
    publicClients: takesPlain,
    metadata,
    async handle(request) {
      const presented = request.parameters.require('assertion')
      return takesPlain && unprovenType(presented) !== identityType
        ? plain.handle(request)
        : identityGrant(presented, request, { ...terms, issuers: identityProviders })
    },
  }
}

async function verifyAssertion(
  assertion: string,
  now: number,
  terms: Omit<JwtTerms, 'refusal'>,
  repeatable?: ReadonlySet<string>,
): Promise<Assertion> {
  const proven = await verifyJwt(assertion, now, {
    ...terms,
    isAssertion: true,
    refusal: (fault) => refused(`assertion_${fault}`),
  })
  const { issuer, subject, expiresAt } = proven
  const { iss: _iss, sub: _sub, exp: _exp, ...claims } = proven.claims
  if (repeatable?.has(issuer) === true) return { issuer, subject, id: undefined, expiresAt, claims }
  const { jti: id, ...others } = claims
  if (!isText(id)) throw refused('assertion_incomplete')
  return { issuer, subject, id, expiresAt, claims: others }
}

const metadata = {
  authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
}

// RFC 8725 3.11: no ID token or plain assertion of the same provider.
const identityType = 'oauth-id-jag+jwt'

async function identityGrant(
  presented: string,
  request: TokenRequest,
  terms: AssertionTerms & Pick<JwtTerms, 'issuers' | 'algorithms'>,
): Promise<GrantResult> {
  const { client, parameters, context, issuer } = request
  // The draft, "Client Authentication": anyone could present an assertion in the name of a public client.
  if (client.client_type !== 'confidential') throw refused('client_not_confidential/id_jag')
  const text = parameters.get('scope')
  const asked = text === undefined ? undefined : grantableScope(text, client, [])
  // The draft, "Processing Rules": an assertion for several servers would be good at each.
  const expected = { ...terms, audience: [issuer], soleAudience: true, types: [identityType] }
  const assertion = await verifyAssertion(presented, context.now, expected)
  requireClaims(assertion, client, issuer)
  const resources = boundResources(assertion, request)
  const scope = grantedScope(assertion, asked, resources, request)
  const extensionData = resources ? { [resourceIndicatorsName]: resources.map(({ uri }) => uri) } : {}
  return { grant: { ...(await grantByAssertion(assertion, request, terms)), scope, extensionData } }
}

function requireClaims({ issuer, claims }: Assertion, client: Client, ownIssuer: string): void {
  // The draft, "Cross-Domain Use": a client could widen its access.
  if (issuer === ownIssuer) throw refused('assertion_issuer_unknown')
  const { client_id: clientId, iat, cnf, authorization_details: details } = claims
  if (!isText(clientId) || typeof iat !== 'number') throw refused('assertion_incomplete')
  if (clientId !== client.client_id) throw refused('assertion_of_another_client')
  // RFC 7800 3.1: this grant gets no proof of the key.
  if (cnf !== undefined) throw refused('assertion_bound_to_key')
  // The draft, "Processing Rules": details (RFC 9396 2) may restrict the access.
  if (details !== undefined) throw refused('assertion_details_unsupported')
}

/**
 * RFC 6749 3.3: an assertion without `scope` stands for the default scope. Enterprise-managed authorization
 * of MCP, 7.2.1, demands a request for everything asserted. The server deviates, and narrows the token.
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

// A longer list costs time.
const resourcesAtMost = 8

/** A server with resources needs the claim: an assertion for one resource must not open another. */
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
    // Enterprise-managed authorization of MCP, 7.6.2: no `invalid_target`.
    throw refused('assertion_resource_unknown')
  return [...new Set(found)]
}
