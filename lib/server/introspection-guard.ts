import { aNumber } from '../primitives/fields'
import { singleUsesOption } from '../limits/single-use-limit'
import { deadlineOf } from '../store/deadline'
import { type Fields, group, optional, placeOf, usual } from '../primitives/schema'
import { aLimit, type LimitOption } from '../limits/limit'
import { anAudience } from '../jwt/verify-jwt'
import { findIntrospected } from '../resource-server/introspection/find-introspected'
import {
  type IntrospectionKey,
  introspectionClient,
  type IntrospectionSecret,
} from '../resource-server/introspection/introspection-client'
import { IntrospectionEndpoint } from '../resource-server/introspection/introspection-endpoint'
import { steadyClock } from '../primitives/clock'
import { safeUrl } from '../protocol/uri'
import {
  guardOfIssuer,
  type IssuerGuard,
  issuerGuardFields,
  ownResource,
  readIssuerGuard,
} from './issuer-guard'
import {
  type GuardLimitOptions,
  issuerOfServer,
  type ProvingGuardOptions,
  requireKnown,
} from './remote-guard'

/** Options of {@link createIntrospectionGuard}. */
export interface IntrospectionGuardOptions extends ProvingGuardOptions {
  /** Letter by letter: https, or http on a loopback host. */
  readonly issuer: string
  /**
   * The credentials for the introspection endpoint: a secret, or a key for `private_key_jwt`. The server must
   * allow this client to introspect.
   */
  readonly client: IntrospectionSecret | IntrospectionKey
  /**
   * The URL of the endpoint. Default: from the metadata of the issuer (RFC 8414, OpenID Connect Discovery),
   * read again after 10 minutes and after a failure.
   */
  readonly endpoint?: string
  /**
   * The URI of this resource server (RFC 9728): https, or http on a loopback host. Tokens must name it in
   * `aud`, and challenges name the URL of its metadata. Default: `audience`, if it is one such URI.
   */
  readonly resource?: string
  /**
   * `aud` of a token must contain one of these. Default: `resource`. Without both, tokens that name an
   * audience are refused.
   */
  readonly audience?: string | readonly string[]
  /** Whole seconds by which clocks may differ. Default 5, at most 300. */
  readonly clockTolerance?: number
  /** The most good tokens in the cache, and the most others. Default 10 000, 1 to 1 000 000. */
  readonly maximumCached?: number
  /**
   * Whole seconds until the guard asks again about a token, 0 to 86 400, within its lifetime. A revocation
   * counts after this time. Default 30.
   */
  readonly maximumAge?: number
  /** Whole seconds for which a token is not good without a new question, 0 to 300. Default 5. */
  readonly maximumAgeOfRefusals?: number
  /** Seconds for one call. Default 5, at most 60. */
  readonly introspectionDeadline?: number
  /**
   * `inactive` bounds the calls about tokens that are not good, for each network. Default 60 in a minute.
   * Beyond it, new tokens of this network get 429; those that were good before pass. Behind a proxy, set
   * Express's `trust proxy`: else every request counts for the proxy.
   */
  readonly limits?: GuardLimitOptions & { readonly inactive?: LimitOption }
}

export type IntrospectionGuard = IssuerGuard

/**
 * Creates bearer guards without the store: they ask the introspection endpoint of the authorization server
 * (RFC 7662), and cache its answers for a short time. If it does not answer, or refuses the client of the
 * guard, requests get `temporarily_unavailable` (503), never 401.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function createIntrospectionGuard(options: IntrospectionGuardOptions): IntrospectionGuard {
  const at = placeOf(options)
  const { client, endpoint: url, resource, introspectionDeadline, ...read } = at.read(fields)
  const { issuer, clock } = read
  const guard = readIssuerGuard(at, read)
  requireKnown(at, 'createIntrospectionGuard()', fields)

  const own = ownResource(resource, read.audience)
  const audience = read.audience.length > 0 || own === undefined ? read.audience : [own.uri]
  const endpoint = new IntrospectionEndpoint({
    issuer,
    endpoint: url,
    authenticate: client(read),
    patience: introspectionDeadline * 1000,
    clock: steadyClock(clock),
  })
  return guardOfIssuer({
    own,
    alone: read,
    guard,
    findToken: findIntrospected({ ...read, ...guard, audience, endpoint, inactive: read.limits.inactive }),
    answers: async () => void (await endpoint.find()),
  })
}

const fields = {
  ...issuerGuardFields,
  issuer: issuerOfServer,
  client: introspectionClient,
  endpoint: optional(safeUrl),
  audience: usual(
    [],
    anAudience('must be the value in aud of the tokens that names this resource server, or a list of them.'),
  ),
  clockTolerance: aNumber(5, 0, 300),
  maximumCached: aNumber(10_000, 1, 1_000_000),
  maximumAge: aNumber(30, 0, 86_400),
  maximumAgeOfRefusals: aNumber(5, 0, 300),
  introspectionDeadline: deadlineOf(5),
  limits: group({ inactive: aLimit(60, 60), singleUses: singleUsesOption } satisfies Fields<
    NonNullable<IntrospectionGuardOptions['limits']>
  >),
} satisfies Partial<Fields<IntrospectionGuardOptions>>
