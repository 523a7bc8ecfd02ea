import { throttled } from '../../../attempts/attempt'
import { grantableScope } from '../../../protocol/grantable-scope'
import { invalidGrant, NotAttempted, serverError } from '../../../protocol/oauth-error'
import { parseSubject } from '../../../protocol/resource-owner'
import { mayRefresh, type GrantType } from '../../grant-type'
import { attemptLimits } from './attempt-limits'
import {
  resolvePasswordOptions,
  type NormalizeName,
  type PasswordOptions,
  type ResolvedPasswordLimits,
  type VerifyPassword,
} from './password-options'
import type { Reason } from '../../../protocol/reasons'

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
