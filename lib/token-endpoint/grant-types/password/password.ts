import { aCall } from '../../../primitives/fields'
import { type Fields, group, needed, type Read, readOptions, usual } from '../../../primitives/schema'
import type { Client } from '../../../protocol/client'
import { NotAttempted } from '../../../protocol/oauth-error'
import { refused } from '../../../protocol/refusals'
import { parseSubject } from '../../../protocol/resource-owner'
import { grantableScope } from '../../../protocol/scope'
import { aLimit, type LimitOption } from '../../../limits/limit'
import { networkOf } from '../../../limits/network'
import { type FailureThrottle, throttled, tooManyFailures } from '../../../limits/counters'
import { type GrantType, mayRefresh, type TokenRequest } from '../../../authorization/grant-type'
import type { Plugin, PluginRisk } from '../../../doors/plug-in'
import { normalizeForCount } from './counted-name'

export const longestInBytes = 1024
const isTooLong = (text: string) => Buffer.byteLength(text) > longestInBytes

/**
 * Resource owner password credentials (RFC 6749 4.3): the client asks the resource owner for the password.
 * Only for clients that cannot change any more. RFC 9700 2.4 forbids it: it trains people to type their
 * password into other programs and leaves no room for a second factor.
 *
 * The server refuses wrong credentials with `invalid_grant` and one text, and names and passwords of more
 * than 1024 bytes without verification.
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function password(options: PasswordOptions): Plugin {
  const { verify, normalize, limits } = readOptions('password()', fields, options)
  const grantType: GrantType = {
    name: 'password',
    parameters: ['username', 'password', 'scope'],
    async handle(request) {
      const { client, parameters, defaultScope, counters } = request
      const credentials = [parameters.require('username'), parameters.require('password')] as const
      const scope = grantableScope(parameters.get('scope'), client, defaultScope)
      if (credentials.some(isTooLong)) throw refused('password_credentials_too_long')
      // RFC 6749 4.3.2.
      const counted = attemptLimits(request, await nameOf(normalize, credentials[0]), limits)
      const subject = await throttled(counted, counters, () =>
        subjectOf(() => verify(...credentials, { client })),
      )
      if (subject === undefined) throw refused('password_refused')
      return { grant: { subject, scope, refreshToken: mayRefresh(client), extensionData: {} } }
    },
  }
  return {
    name: 'password',
    grantTypes: [grantType],
    risks: [{ rule: 'password-grant' }, ...risksOf(limits)],
  }
}

async function nameOf(normalize: NormalizeName, username: string): Promise<string> {
  try {
    const name: unknown = await normalize(username)
    if (typeof name === 'string') return name
    throw new TypeError('The option normalize of password() must return a text.')
  } catch (cause) {
    throw refused('password_normalization_failed', {}, { cause })
  }
}

/** An error of the host must look neither like wrong credentials nor like an intended refusal. */
async function subjectOf(verdict: () => ReturnType<VerifyPassword>): Promise<string | undefined> {
  try {
    return parseSubject(await verdict(), 'The option verify of password()')
  } catch (cause) {
    if (cause instanceof NotAttempted) throw cause
    throw refused('password_verification_failed', {}, { cause })
  }
}

type Verdict = string | undefined | null | false

/**
 * Returns the subject of the owner (1 to 1024 characters, stable, never used again for another owner), or
 * undefined, null or false for wrong credentials. Must not reveal whether a user name exists, not even by its
 * response time; see `bcryptPasswords()`. If it throws, the client gets `server_error`.
 */
export type VerifyPassword = (
  username: string,
  password: string,
  request: { readonly client: Client },
) => Verdict | Promise<Verdict>

/** Maps all spellings of a user name to one text. */
export type NormalizeName = (username: string) => string | Promise<string>

/**
 * How many attempts may fail. `false` switches a limit off. Over a limit, the server verifies nothing and
 * answers 429 with `Retry-After`, even to right credentials. `attempts` are at most 1 000 000, `seconds` at
 * most 86 400, from the first failure. An attempt counts as a failure until it succeeds.
 */
export interface PasswordLimits {
  /**
   * For one user name, at any client and from any address. Default 10 in 900 seconds. A login does not reset
   * it, or an attacker could go on after each login of the owner.
   */
  readonly username?: LimitOption
  /**
   * For one IPv4 address, or 64 bits of IPv6. Default 100 in 900 seconds. Behind a proxy, set Express's
   * `trust proxy`, or every request counts for the proxy. A client on a web server has one address for all
   * its users.
   */
  readonly address?: LimitOption
  /** For one client. Default 1000 in 900 seconds. Anybody can use up the count of a public client. */
  readonly client?: LimitOption
}

export interface PasswordOptions {
  readonly verify: VerifyPassword
  /**
   * Maps a user name to the text under which the server counts guesses: one for all spellings that `verify`
   * accepts for one owner. Default: without letter case, accents, white space and invisible characters, and
   * with Latin letters such as ø and ß as "o" and "s", as databases compare without accents. The server calls
   * it before it asks any limit. If it throws or returns no text, the client gets `server_error`.
   */
  readonly normalize?: NormalizeName
  /** Default: see its members. */
  readonly limits?: PasswordLimits
}

function risksOf(limits: PasswordTerms['limits']): readonly PluginRisk[] {
  const off = limitNames.filter((name) => limits[name] === undefined)
  return off.length === limitNames.length
    ? [{ rule: 'password-unlimited', path: 'limits' }]
    : off.map((name) => ({ rule: 'password-limit-off', path: `limits.${name}` }))
}

const limitNames = ['username', 'address', 'client'] as const

export const fields = {
  verify: needed(() => undefined, aCall<VerifyPassword>()),
  normalize: usual(normalizeForCount, aCall<NormalizeName>()),
  limits: group({
    username: aLimit(10),
    address: aLimit(100),
    client: aLimit(1000),
  } satisfies Fields<PasswordLimits>),
} satisfies Fields<PasswordOptions>

type PasswordTerms = Read<typeof fields>

/** The address first: over its limit, it cannot use up the other counts. */
function attemptLimits(
  { client, address }: Pick<TokenRequest, 'client' | 'address'>,
  name: string,
  limits: PasswordTerms['limits'],
): readonly FailureThrottle[] {
  return [
    ...tooManyFailures('password_address_limited', limits.address, 'password:address', networkOf(address)),
    ...tooManyFailures('password_username_limited', limits.username, 'password:username', name),
    ...tooManyFailures('password_client_limited', limits.client, 'password:client', client.client_id),
  ]
}
