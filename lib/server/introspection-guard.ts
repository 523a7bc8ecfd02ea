import { aNumber } from '../primitives/fields'
import { singleUsesOption } from '../limits/single-use-limit'
import { deadlineOf } from '../stores/deadline'
import { type Fields, group, optional } from '../primitives/schema'
import { aLimit, type LimitOption } from '../limits/limit'
import { OptionsReader } from '../primitives/options-reader'
import { isText, isTexts } from '../primitives/values'
import { findIntrospected } from '../resource-server/introspection/find-introspected'
import {
  type IntrospectionKey,
  type IntrospectionSecret,
  readIntrospectionClient,
} from '../resource-server/introspection/introspection-client'
import { IntrospectionEndpoint } from '../resource-server/introspection/introspection-endpoint'
import { steadyClock } from '../primitives/steady-clock'
import { safeUrl } from '../protocol/uri'
import { anIssuer } from '../config/resolve-issuer'
import { guardOfIssuer, type IssuerGuard, readIssuerGuard, readOwnResource } from './issuer-guard'
import type { GuardLimitOptions, ProvingGuardOptions } from './remote-guard'

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
  const reading = new OptionsReader(options, '')
  const { issuer } = reading.field('issuer', anIssuer('the authorization server'))
  const guard = readIssuerGuard(reading, issuer)
  const { clock } = guard.alone
  const authenticate = readIntrospectionClient(reading, issuer, clock)
  const url = reading.field('endpoint', optional(safeUrl))
  const given = audienceOf(reading)
  const own = readOwnResource(reading, given)
  const whole = (key: string, fallback: number, least: number, most: number) =>
    reading.field(key, aNumber(fallback, least, most))
  const terms = {
    issuer,
    tokenTypes: guard.tokenTypes,
    extensions: guard.extensions,
    audience: given.length > 0 || own === undefined ? given : [own.uri],
    clockTolerance: whole('clockTolerance', 5, 0, 300),
    maximumCached: whole('maximumCached', 10_000, 1, 1_000_000),
    maximumAge: whole('maximumAge', 30, 0, 86_400),
    maximumAgeOfRefusals: whole('maximumAgeOfRefusals', 5, 0, 300),
  }
  const patience = reading.field('introspectionDeadline', deadlineOf(5))
  const { inactive, singleUses: singleUseLimit } = reading.field('limits', introspectionLimits)
  reading.refuseUnknown()
  reading.refuseUndefined()
  reading.throwIssues('createIntrospectionGuard() cannot work with these options:')

  const endpoint = new IntrospectionEndpoint({
    issuer,
    endpoint: url,
    authenticate,
    patience: patience * 1000,
    clock: steadyClock(clock),
  })
  return guardOfIssuer({
    issuer,
    own,
    guard,
    singleUseLimit,
    findToken: findIntrospected({ ...terms, endpoint, inactive, clock }),
    answers: async () => void (await endpoint.find()),
  })
}

const introspectionLimits = group({
  inactive: aLimit(60, 60),
  singleUses: singleUsesOption,
} satisfies Fields<NonNullable<IntrospectionGuardOptions['limits']>>)

function audienceOf(reading: OptionsReader): readonly string[] {
  const cure = 'must be the value in aud of the tokens that names this resource server, or a list of them.'
  const given = reading.optional<string | readonly string[]>('audience', [], isAudience, cure)
  return isText(given) ? [given] : given
}

const isAudience = (value: unknown): value is string | readonly string[] =>
  isText(value) || (isTexts(value) && value.length > 0)
