import type { Client } from '../../../protocol/client'
import { isRecord, OptionsReader } from '../../../protocol/configuration'
import { invalidGrant, NotAttempted, serverError } from '../../../protocol/oauth-error'
import type { Reason } from '../../../protocol/reasons'
import { parseSubject } from '../../../protocol/resource-owner'
import { grantableScope } from '../../../protocol/scope'
import { type Limit, type LimitOption, readLimits } from '../../../rate-limit/limit'
import { networkOf } from '../../../rate-limit/network'
import { type FailureThrottle, throttled, tooManyFailures } from '../../../rate-limit/throttle'
import { type GrantType, mayRefresh, type TokenRequest } from '../../grant-type'
import { countedName } from './counted-name'

const longestInBytes = 1024
const isTooLong = (text: string) => Buffer.byteLength(text) > longestInBytes
// One text: an unknown name looks like a wrong password.
const refused = (reason: Reason<'invalid_grant'>) =>
  invalidGrant(reason, 'The user name or the password is wrong.')

/**
 * The resource owner password credentials grant (RFC 6749 4.3): the client takes the owner's password and hands it over.
 * It is for clients that cannot be changed any more: RFC 9700 2.4 forbids it for anything new, because it trains people to
 * type their password into other programs and leaves no room for a second factor.
 *
 * Refused are wrong credentials (`invalid_grant`, one text for an unknown name and a wrong password), and user names and
 * passwords of more than 1024 bytes, unverified. Failures are limited, see {@link PasswordOptions.limits}.
 *
 * @throws ConfigurationError
 */
export function password(options: PasswordOptions): GrantType {
  const { verify, normalize, limits } = resolvePasswordOptions(options)
  const grantType: GrantType & { readonly limits: ResolvedPasswordLimits } = {
    name: 'password',
    limits,
    parameters: ['username', 'password', 'scope'],
    async handle(request) {
      const { client, parameters, defaultScope, counters } = request
      const credentials = [parameters.require('username'), parameters.require('password')] as const
      const scope = grantableScope(parameters.get('scope'), client, defaultScope)
      if (credentials.some(isTooLong)) throw refused('password_credentials_too_long')
      // RFC 6749 4.3.2: guessing is limited.
      const counted = attemptLimits(request, await nameOf(normalize, credentials[0]), limits)
      const subject = await throttled(counted, counters, () =>
        subjectOf(() => verify(...credentials, { client })),
      )
      if (subject === undefined) throw refused('password_refused')
      return { grant: { subject, scope, refreshToken: mayRefresh(client), extensionData: {} } }
    },
  }
  return grantType
}

// Without a name there is no count, and so no attempt.
async function nameOf(normalize: NormalizeName, username: string): Promise<string> {
  try {
    const name: unknown = await normalize(username)
    if (typeof name === 'string') return name
    throw new TypeError('The option normalize of password() must return a text.')
  } catch (cause) {
    throw serverError('password_normalization_failed', 'The server met an unexpected condition.', { cause })
  }
}

/** What the host says, proven. Its faults must not look like wrong credentials, nor like anything else that was meant. */
async function subjectOf(verdict: () => ReturnType<VerifyPassword>): Promise<string | undefined> {
  try {
    return parseSubject(await verdict(), 'The option verify of password()')
  } catch (cause) {
    if (cause instanceof NotAttempted) throw cause
    throw serverError('password_verification_failed', 'The server met an unexpected condition.', { cause })
  }
}

type Verdict = string | undefined | null | false

/**
 * Tells whose user name and password these are: the subject, stable and never used again for somebody else, or undefined
 * for nobody's. It must not tell an unknown name from a wrong password, in time neither: `bcryptPasswords()` makes such a
 * function. What it throws is a fault on this side, `server_error`.
 */
export type VerifyPassword = (
  username: string,
  password: string,
  request: { readonly client: Client },
) => Verdict | Promise<Verdict>

/** Makes one text of all spellings of a user name. */
export type NormalizeName = (username: string) => string | Promise<string>

/**
 * How many attempts may fail, each limit for itself; `false` switches one off. Beyond it the answer is 429 with
 * `Retry-After`, unverified, also to right credentials. `seconds` (at most 86 400) run from the first failure. What is under way counts until it succeeds.
 */
export interface PasswordLimits {
  /**
   * For one user name, at whichever client and from whichever address. Spellings of one name share a count, see
   * {@link PasswordOptions.normalize}. Default 10 in 900 seconds. A login that succeeds does not forget the failures
   * before it: else a guesser could go on after each login of the owner.
   */
  readonly username?: LimitOption
  /**
   * For one address, and for 64 bits of IPv6. Default 100 in 900 seconds. Behind a proxy, set Express's `trust proxy`;
   * without it the proxy is the address of everybody. A client on a web server is one address for all its users.
   */
  readonly address?: LimitOption
  /** For one client. Default 1000 in 900 seconds. Anybody can use up the count of a public client. */
  readonly client?: LimitOption
}

/** Options of {@link password}. */
export interface PasswordOptions {
  /** Whose user name and password these are. */
  readonly verify: VerifyPassword
  /**
   * The text under which guesses at a user name are counted: one text for all spellings that `verify` takes for one owner.
   * Default: without letter case, accents, white space and invisible characters, and with Latin letters such as ø, ł, đ, ß
   * and æ as "o", "l", "d", "s" and "ae", as databases compare without accents. It is called before any limit is asked. What it throws, and
   * a result that is no text, is `server_error`.
   */
  readonly normalize?: NormalizeName
  /** Default: 10 failures of a user name, 100 of an address and 1000 of a client in 15 minutes. */
  readonly limits?: PasswordLimits
}

/** The limits, complete; undefined where one is switched off. */
export type ResolvedPasswordLimits = Readonly<Record<keyof PasswordLimits, Limit | undefined>>

/** The limits that a grant type of {@link PasswordOptions} has switched off; undefined for any other grant type. */
export function limitsSwitchedOff(grantType: GrantType): readonly (keyof PasswordLimits)[] | undefined {
  const limits = 'limits' in grantType ? grantType.limits : undefined
  return isRecord(limits) ? limitNames.filter((name) => limits[name] === undefined) : undefined
}

const limitNames = ['username', 'address', 'client'] as const

/** @throws ConfigurationError */
export function resolvePasswordOptions(options: PasswordOptions): {
  readonly verify: VerifyPassword
  readonly normalize: NormalizeName
  readonly limits: ResolvedPasswordLimits
} {
  const reading = new OptionsReader(options, '')
  const verify = reading.required('verify', nobody, isVerify, 'must be a function.')
  const normalize = reading.optional('normalize', countedName, isNormalize, 'must be a function.')
  const limits = readLimits(reading, 'limits', (limit) => ({
    username: limit('username', 10),
    address: limit('address', 100),
    client: limit('client', 1000),
  }))
  reading.refuseUnknown()
  reading.settle('password() cannot work with these options:')
  return { verify, normalize, limits }
}

const nobody: VerifyPassword = () => undefined

// What a function takes and returns cannot be seen beforehand: what it returns is proven at each call.
const isVerify = (value: unknown): value is VerifyPassword => typeof value === 'function'
const isNormalize = (value: unknown): value is NormalizeName => typeof value === 'function'

/**
 * What a guess in this request counts towards. The address of the guesser comes first, the client last.
 *
 * @param name under which the user name is counted.
 */
export function attemptLimits(
  { client, address }: Pick<TokenRequest, 'client' | 'address'>,
  name: string,
  limits: ResolvedPasswordLimits,
): readonly FailureThrottle[] {
  return [
    ...tooManyFailures('password_address_limited', limits.address, 'password:address', networkOf(address)),
    ...tooManyFailures('password_username_limited', limits.username, 'password:username', name),
    ...tooManyFailures('password_client_limited', limits.client, 'password:client', client.client_id),
  ]
}
