import { bearerGuard, type BearerGuard } from './express/bearer-guard'
import type { AuthorizationServerEvents } from './express/events'
import type { KeySource } from './jwt/key-source'
import { loadJose, requireJose } from './jwt/load-jose'
import { findJwt } from './protected-resource/find-jwt'
import { OptionsReader } from './protocol/configuration'
import { readJwtGuard } from './resolve-jwt-guard'
import { bearer } from './token-types/bearer'
import { standaloneGuard, readStandaloneGuard, type StandaloneGuardOptions } from './wire-guard'
import { lifecycle } from './wire-lifecycle'

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

  const edge = {
    find: findJwt(terms),
    useOnce: () => neverAsked,
    tokenTypes: [bearer],
    ...standaloneGuard(alone),
  }
  const living = {
    requests: edge.requests,
    closeDeadline: alone.closeDeadline,
    answers: () => keysOf(terms.keys, edge.now()),
    release: async () => {},
  }
  return Object.assign(bearerGuard(edge), { events: edge.reports.events, ...lifecycle(living) })
}

// RFC 6750: a bearer token may be used again.
const neverAsked = () => Promise.reject(new Error('Nothing about a bearer token is good once only.'))

async function keysOf(keys: KeySource, now: number): Promise<void> {
  await Promise.all([loadJose(), keys.trusted(now) ?? keys.fetched(now)])
}
