import { type AllowedOrigins, allowedOrigins, type CorsOption } from './cors'
import { aFlag } from '../primitives/fields'
import { type Fields, group } from '../primitives/schema'
import {
  type Challenge,
  challengeFields,
  type ChallengeOptions,
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

export interface ResolvedGuardDefaults extends Challenge {
  readonly authInfo: boolean
  readonly cors: AllowedOrigins
}

export const guardFields = (defaults: ResolvedGuardDefaults) =>
  ({
    ...challengeFields(defaults),
    authInfo: aFlag(defaults.authInfo),
    cors: allowedOrigins(defaults.cors),
  }) satisfies Fields<GuardDefaults>

export const guardsOption = group(guardFields({ ...usualChallenge, authInfo: false, cors: undefined }), {
  undefinedMembers: 'refused',
})
