import { type AllowedOrigins, type CorsOption, readCors } from './cors'
import { isBoolean, OptionsReader } from '../primitives/options-reader'
import {
  type Challenge,
  type ChallengeOptions,
  readChallenge,
  usualChallenge,
} from '../resource-server/challenge'

/** What a host may set for one guard, or for all guards with the option `guards`. */
export interface GuardDefaults extends ChallengeOptions {
  /**
   * Sets `request.auth` to an {@link AuthInfo}, which the SDK for MCP servers reads. It contains the access token: do
   * not log it. Default false.
   */
  readonly authInfo?: boolean
  /**
   * The origins whose scripts may call the route and read its responses, refusals included: `true` for every origin, or
   * `{ origins }`. The guard then answers preflights itself. Mount the guard where `OPTIONS` reaches it, with `app.use`
   * or `app.all`: `app.get` takes no `OPTIONS`. Default false.
   */
  readonly cors?: CorsOption
}

/** The same after validation, with every default filled in. */
export interface ResolvedGuardDefaults {
  readonly challenge: Challenge
  readonly authInfo: boolean
  /** Undefined if CORS is off. */
  readonly cors: AllowedOrigins
}

/** The settings of a guard without options. */
const usualGuard: ResolvedGuardDefaults = {
  challenge: usualChallenge,
  authInfo: false,
  cors: undefined,
}

/** Reads what one guard sets, besides what the guards of its server have. Returns placeholders after a mistake. */
export function readGuardDefaults(
  reading: OptionsReader,
  defaults: ResolvedGuardDefaults,
): ResolvedGuardDefaults {
  return {
    challenge: readChallenge(reading, defaults.challenge),
    authInfo: reading.optional('authInfo', defaults.authInfo, isBoolean, 'must be true or false.'),
    cors: readCors(reading, defaults.cors),
  }
}

/** Reads the option `guards`. Returns placeholders after a mistake. */
export function readGuards(reading: OptionsReader): ResolvedGuardDefaults {
  const given = reading.take('guards')
  if (given === undefined) return usualGuard
  const guards = new OptionsReader(given, reading.at('guards'), reading.issues)
  const defaults = readGuardDefaults(guards, usualGuard)
  guards.refuseUnknown()
  guards.refuseUndefined()
  return defaults
}
