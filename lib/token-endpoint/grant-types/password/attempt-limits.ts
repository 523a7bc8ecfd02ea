import type { FailureThrottle } from '../../../attempts/attempt'
import { networkOf } from '../../../attempts/network'
import { tooManyFailures } from '../../../attempts/too-many-failures'
import type { TokenRequest } from '../../grant-type'
import type { ResolvedPasswordLimits } from './password-options'

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
