import type { AuthorizationServerEvents } from '../audit/events'
import { bearerGuard, type BearerGuard } from '../http/bearer-guard'
import { loadJose, requireJose } from '../jwt/jose'
import { type KeySource, readKeys } from '../jwt/key-source'
import { readAlgorithms, readAudience } from '../jwt/verify-jwt'
import { isText, OptionsReader } from '../protocol/configuration'
import { findJwt, type JwtAccessTerms, type JwtDialect, rfc9068 } from '../resource-server/find-jwt'
import { bearer } from '../token-types/bearer'
import { readStandaloneGuard, standaloneGuard, type StandaloneGuardOptions } from './bearer-guard'
import { lifecycle } from './lifecycle'

/** Options of {@link createJwtBearerGuard}. */
export interface JwtBearerGuardOptions extends StandaloneGuardOptions {
  /** `iss` of the tokens, letter by letter. */
  readonly issuer: string
  /** What `aud` of a token must name, letter by letter: one of these, be there others beside it. */
  readonly audience: string | readonly string[]
  /** The public keys of the issuer, as a JWK set (RFC 7517 5); this or `jwksUri`. */
  readonly keys?: { readonly keys: readonly object[] }
  /**
   * Where the issuer publishes its JWK set: https, or http on a loopback host. It is fetched at first use and again after
   * 10 minutes, or when a token names a key that is not in it; never twice within 10 seconds. Redirects are not followed;
   * 256 KiB and 5 seconds at most.
   */
  readonly jwksUri?: string
  /** Signature algorithms (RFC 7518 3.1, RFC 8037 3.1). Default: all asymmetric ones; others cannot be had. */
  readonly algorithms?: readonly string[]
  /**
   * `typ` of the tokens. Default `at+jwt` (RFC 9068 2.1). `JWT` takes those of an older issuer too, which have the type
   * `JWT` or none, name the client in `client_id` or `azp`, and may list their scope.
   */
  readonly type?: 'at+jwt' | 'JWT'
  /** The claim that names the client, where the issuer has another than `client_id`. */
  readonly clientIdClaim?: string
  /** The claim that holds the scope. Default `scope`. */
  readonly scopeClaim?: string
  /** How far clocks may differ, in whole seconds, at most 300. Default 5. */
  readonly clockTolerance?: number
  /** How many verified tokens are remembered, at most 1 000 000; the one not used for longest goes. Default 10 000; 0 for none. */
  readonly maximumCached?: number
  /** For how many seconds a token is taken without being verified again, 1 to 86 400. Default 300; never longer than the token lives. */
  readonly maximumAge?: number
}

/** A bearer guard for the JWT access tokens of one issuer. */
export interface JwtBearerGuard extends BearerGuard {
  /** What was refused, and what broke: `docs/events.md` explains each event. */
  readonly events: AuthorizationServerEvents
  /**
   * Closes for good. New requests are answered with `temporarily_unavailable` and `Connection: close`; those in flight
   * finish, for `closeDeadline` seconds at most. Any number of calls is one closing.
   */
  close(): Promise<void>
  /**
   * Whether requests are served: the keys of the issuer are there, and `close()` has not been called. It fetches them if
   * need be, so that the first request does not wait for them, and never rejects.
   */
  ready(): Promise<boolean>
}

/**
 * Makes bearer guards for JWT access tokens (RFC 9068) of an issuer that is trusted, without a store. A token that was
 * verified before costs a digest and a look-up in memory. Nothing tells the guard that a token was revoked: it is good until
 * its end. Needs the package jose.
 *
 * @throws ConfigurationError when the options are wrong, with each mistake and its cure, or jose is not installed.
 */
export function createJwtBearerGuard(options: JwtBearerGuardOptions): JwtBearerGuard {
  const reading = new OptionsReader(options, '')
  const terms = readJwtGuard(reading)
  const alone = readStandaloneGuard(reading)
  reading.refuseUnknown()
  reading.settle('createJwtBearerGuard() cannot work with these options:')
  requireJose('createJwtBearerGuard()')

  const http = {
    find: findJwt(terms),
    useOnce: neverAsked,
    tokenTypes: [bearer],
    extensions: [],
    ...standaloneGuard(alone),
  }
  const living = {
    requests: http.requests,
    closeDeadline: alone.closeDeadline,
    answers: () => keysOf(terms.keys, http.now()),
    release: async () => {},
  }
  return Object.assign(bearerGuard(http), { events: http.audit.events, ...lifecycle(living) })
}

// RFC 6750: a bearer token may be used again.
const neverAsked = () => Promise.reject(new Error('Nothing about a bearer token is good once only.'))

async function keysOf(keys: KeySource, now: number): Promise<void> {
  await Promise.all([loadJose(), keys.trusted(now) ?? keys.fetched(now)])
}

type Kind = 'at+jwt' | 'JWT'

// RFC 9068 2.1, and RFC 7515 4.1.9: the prefix may be left out.
const types: Readonly<Record<Kind, readonly string[]>> = {
  'at+jwt': ['at+jwt', 'application/at+jwt'],
  JWT: ['at+jwt', 'application/at+jwt', 'jwt', 'application/jwt'],
}

/** Reads what the tokens of a guard for JWTs are held to; what it returns after a mistake is a placeholder. */
export function readJwtGuard(reading: OptionsReader): JwtAccessTerms {
  const type = reading.optional<Kind>('type', 'at+jwt', isKind, "must be 'at+jwt' or 'JWT'.")
  const whole = (key: string, fallback: number, unit: string, least: number, most: number) =>
    reading.optional(key, fallback, isWithin(least, most), `must be ${unit}, ${least} to ${most}.`)
  return {
    issuer: reading.required('issuer', '', isText, 'must be the iss of the tokens.'),
    audience: readAudience(reading, 'must be what aud of the tokens names for this resource server.'),
    keys: readKeys(reading, { given: 'keys', published: 'jwksUri' }),
    algorithms: readAlgorithms(reading),
    types: types[type],
    dialect: dialectOf(reading, type),
    clockTolerance: whole('clockTolerance', 5, 'whole seconds', 0, 300),
    maximumCached: whole('maximumCached', 10_000, 'a whole number', 0, 1_000_000),
    maximumAge: whole('maximumAge', 300, 'whole seconds', 1, 86_400),
  }
}

function dialectOf(reading: OptionsReader, type: Kind): JwtDialect {
  const older = type === 'JWT'
  const cure = 'must be the name of a claim.'
  const clientId = reading.optional<string | undefined>('clientIdClaim', undefined, isText, cure)
  const usual = older ? [...rfc9068.clientId, 'azp'] : rfc9068.clientId
  return {
    clientId: clientId === undefined ? usual : [clientId],
    scope: reading.optional('scopeClaim', rfc9068.scope, isText, cure),
    listsScope: older,
  }
}

const isKind = (value: unknown): value is Kind => value === 'at+jwt' || value === 'JWT'
const isWithin =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
