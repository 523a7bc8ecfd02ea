import { type AllowedOrigins, type CorsOption, readCors } from './cors'
import { OptionsReader } from '../primitives/options-reader'
import { isBoolean } from '../primitives/values'
import {
  type Challenge,
  type ChallengeOptions,
  readChallenge,
  usualChallenge,
} from '../resource-server/challenge'

/** What a host may set for one guard, or for all guards with the option `guards`. */
export interface GuardDefaults extends ChallengeOptions {
  /**
   * Sets `request.auth` to an {@link AuthInfo}, which the SDK for MCP servers reads. It contains the access
   * token: do not log it. Default false.
   */
  readonly authInfo?: boolean
  /**
   * The origins whose scripts may call the route and read its responses, refusals included: `true` for every
   * origin, or `{ origins }`. The guard then answers preflights: mount it with `app.use` or `app.all`,
   * because `app.get` takes no `OPTIONS`. Default false.
   */
  readonly cors?: CorsOption
}

export interface ResolvedGuardDefaults {
  readonly challenge: Challenge
  readonly authInfo: boolean
  readonly cors: AllowedOrigins
}

const usualGuard: ResolvedGuardDefaults = {
  challenge: usualChallenge,
  authInfo: false,
  cors: undefined,
}

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

export function readGuards(reading: OptionsReader): ResolvedGuardDefaults {
  const given = reading.take('guards')
  if (given === undefined) return usualGuard
  const guards = new OptionsReader(given, reading.at('guards'), reading.issues)
  const defaults = readGuardDefaults(guards, usualGuard)
  guards.refuseUnknown()
  guards.refuseUndefined()
  return defaults
}
