import { digest, secureRandom } from '../protocol/credential'
import { bcryptBytes, bcryptHash, fitsBcrypt } from '../secrets/bcrypt'

const generatedPrefix = 'sha256:'

/** A secret for a client, shown once, and the digest that its registration keeps. */
export interface GeneratedClientSecret {
  /** 43 characters `A-Za-z0-9_-`: 256 random bits. */
  readonly client_secret: string
  readonly client_secret_hash: string
}

/** Makes a client secret that no one can guess; its digest is quick to check. */
export function generateClientSecret(): GeneratedClientSecret {
  const client_secret = secureRandom(32).toString('base64url')
  return { client_secret, client_secret_hash: generatedHash(client_secret) }
}

/**
 * Digests a secret that a person may have chosen, with bcrypt at cost 10: about 55 ms.
 *
 * @throws RangeError when the secret is empty or longer than the 72 bytes that bcrypt reads.
 */
export async function hashClientSecret(secret: string): Promise<string> {
  if (!fitsBcrypt(secret))
    throw new RangeError(
      `A client secret must have 1 to ${bcryptBytes} bytes; generateClientSecret() makes a good one.`,
    )
  return bcryptHash(secret)
}

/** What a registration keeps of a generated secret. */
export function generatedHash(secret: string): string {
  return generatedPrefix + digest(secret)
}
