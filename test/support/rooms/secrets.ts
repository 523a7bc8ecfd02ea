import { CredentialThrottle } from '../../../lib/client-authentication/credential-throttle'
import type { Throttle } from '../../../lib/client-authentication/method'
import { SecretVerifier } from '../../../lib/client-authentication/client-secret'
import { memoryCounters } from '../../../lib/stores/memory-counters'
import { clientWith } from '../authorization/client'

/** Holds no verification to any limit. */
export const freely: Throttle = async (verification) => verification()

/** No limit at all, for rooms that need some. */
export const noLimits = new CredentialThrottle(
  { address: undefined, clientAndAddress: undefined, client: undefined },
  memoryCounters(),
)

/** Whether the secret has this digest, of either kind. */
export async function matchesSecretHash(secret: string, secretHash: string): Promise<boolean> {
  const client = clientWith({ client_secret_hashes: [secretHash] })
  return (await new SecretVerifier(Date.now).verify(client, secret, freely)) === true
}
