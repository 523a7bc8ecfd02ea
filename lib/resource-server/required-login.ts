import { type Fields, kind, optional, type Read } from '../primitives/schema'
import { isWhole, tenYears } from '../primitives/values'
import { acrValuesExpectation, isAcrValues, type Login } from '../protocol/resource-owner'
import { refused } from '../protocol/refusals'
import type { Scope } from '../protocol/scope'
import { scopeIn } from './challenge'

/** What a guard requires of the login behind a token (RFC 9470). */
export interface LoginOptions {
  /**
   * Whole seconds since the login of the owner, 1 to 10 years. An older login gets 401 and
   * `insufficient_user_authentication`, and so does a token without an owner or the time of a login. Default:
   * any age, and no login at all.
   */
  readonly maxAge?: number
  /**
   * The authentication context class of the login, or a list: one is enough, the first one is preferred.
   * Others are refused as with `maxAge`. Default: any class.
   */
  readonly acr?: string | readonly string[]
}

export interface RequiredLogin {
  /** Seconds. */
  readonly maxAge: number | undefined
  readonly acrValues: readonly string[]
}

const isAcr = (value: unknown): value is string | readonly string[] =>
  isAcrValues(typeof value === 'string' ? [value] : value)

export const loginFields = {
  // With 0, a token would be too old before it reaches the guard.
  maxAge: optional(kind(isWhole(1, tenYears), `must be whole seconds since the login, 1 to ${tenYears}.`)),
  acr: optional(
    kind(
      isAcr,
      `must be a class such as 'urn:example:mfa', or a list of different ones, ${acrValuesExpectation}`,
    ),
  ),
} satisfies Fields<LoginOptions>

export function requiredLogin({ maxAge, acr = [] }: Read<typeof loginFields>): RequiredLogin | undefined {
  const acrValues = [acr].flat()
  return maxAge === undefined && acrValues.length === 0 ? undefined : { maxAge, acrValues }
}

interface Access {
  readonly subject: string | undefined
  readonly login?: Login | undefined
}

export function requireLogin(required: RequiredLogin, access: Access, scope: Scope, now: number): void {
  const reason = lackOf(required, access, now)
  if (reason === undefined) return
  const { maxAge, acrValues } = required
  throw refused(
    reason,
    {
      'maxAge of the guard': maxAge,
      'acr of the guard': acrValues,
      'seconds since the login': access.login && now - access.login.authTime,
      'acr of the token': access.login?.acr,
    },
    {
      challenge: {
        ...scopeIn(scope),
        ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
        ...(maxAge !== undefined && { max_age: String(maxAge) }),
      },
    },
  )
}

type Lack = 'login_unknown' | 'login_of_another_class' | 'login_too_old'

// Seconds that a login may lie in the future, because clocks differ. Beyond, such as in milliseconds, it is
// no time of a login: it would never be too old.
const clockTolerance = 300

function lackOf({ maxAge, acrValues }: RequiredLogin, access: Access, now: number): Lack | undefined {
  const { subject, login } = access
  // A client that acts for itself has no owner who could log in.
  if (subject === undefined || login === undefined) return 'login_unknown'
  const { authTime, acr } = login
  if (acrValues.length > 0 && (acr === undefined || !acrValues.includes(acr))) return 'login_of_another_class'
  if (maxAge === undefined) return undefined
  if (authTime > now + clockTolerance) return 'login_unknown'
  return now - authTime > maxAge ? 'login_too_old' : undefined
}
