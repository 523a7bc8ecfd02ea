import type { AttemptLimit } from '../../../attempts/attempt'
import { networkOf } from '../../../attempts/network'
import { tooManyFailures } from '../../../attempts/too-many-failures'
import type { TokenRequest } from '../../grant-type'
import type { ResolvedLimits } from './password-options'

/** What a guess at this name, in this request, counts towards. A guesser's own address comes first, the client last. */
export function attemptLimits(
  { client, address }: Pick<TokenRequest, 'client' | 'address'>,
  username: string,
  limits: ResolvedLimits,
): readonly AttemptLimit[] {
  return [
    ...tooManyFailures('password_address_limited', limits.address, 'password:address', networkOf(address)),
    ...tooManyFailures(
      'password_username_limited',
      limits.username,
      'password:username',
      countedName(username),
    ),
    ...tooManyFailures('password_client_limited', limits.client, 'password:client', client.client_id),
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
