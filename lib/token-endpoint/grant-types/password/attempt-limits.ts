import type { AttemptLimit } from '../../../attempts/attempt'
import { networkOf } from '../../../attempts/network'
import { digest } from '../../../protocol/credential'
import { tooManyAttempts } from '../../../protocol/oauth-error'
import type { TokenRequest } from '../../grant-type'
import type { ResolvedLimits } from './password-options'

// One text for all: which limit it was is nothing for a guesser to know.
const description = 'There were too many failed attempts. Try again later.'

/** What a guess at this name, in this request, counts towards. A guesser's own address comes first, the client last. */
export function attemptLimits(
  { client, address }: Pick<TokenRequest, 'client' | 'address'>,
  username: string,
  limits: ResolvedLimits,
): readonly AttemptLimit[] {
  const among = (
    kind: keyof ResolvedLimits,
    whose: string,
    refusal: AttemptLimit['refusal'],
  ): readonly AttemptLimit[] => {
    const limit = limits[kind]
    return limit === undefined ? [] : [{ ...limit, key: `password:${kind}:${digest(whose)}`, refusal }]
  }
  return [
    ...among('address', networkOf(address), (seconds) =>
      tooManyAttempts('password_address_limited', description, seconds),
    ),
    ...among('username', countedName(username), (seconds) =>
      tooManyAttempts('password_username_limited', description, seconds),
    ),
    ...among('client', client.client_id, (seconds) =>
      tooManyAttempts('password_client_limited', description, seconds),
    ),
  ]
}

/**
 * The name under which guesses at a user name are counted. Who is who the host decides, and many databases see no
 * difference in case, accents, white space and invisible characters: each spelling would be a fresh count. Names that
 * share one by mistake lose nothing but that.
 */
export function countedName(username: string): string {
  return username
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F\p{C}\p{Z}\s]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
}
