import {
  bcryptBytes,
  bcryptCost,
  bcryptHash,
  ConstantWorkComparer,
  fitsBcrypt,
  loadBcrypt,
} from '../../../client-authentication/bcrypt'
import { isBcryptHash } from '../../../protocol/client'
import { isRecord, isText } from '../../../primitives/values'
import { isSubject } from '../../../protocol/resource-owner'
import type { VerifyPassword } from './password'

/** From the database of the host. */
export interface PasswordOwner {
  /** 1 to 1024 characters, stable, and never used again for another owner. */
  readonly subject: string
  /** A bcrypt digest: `$2a$`, `$2b$` or `$2y$`. Undefined or null without a password. */
  readonly passwordHash: string | undefined | null
}

/** Undefined or null if no owner has this name. */
export type FindPasswordOwner = (
  username: string,
) => PasswordOwner | undefined | null | Promise<PasswordOwner | undefined | null>

/**
 * Hashes with bcrypt at cost 10, in about 55 ms.
 *
 * @throws RangeError if the password is empty, or longer than the 72 bytes that bcrypt reads.
 */
export async function hashPassword(password: string): Promise<string> {
  if (!fitsBcrypt(password)) throw new RangeError(`A password must have 1 to ${bcryptBytes} bytes.`)
  return bcryptHash(password, 'after the line')
}

/**
 * Makes a {@link PasswordOptions.verify} that compares passwords with bcrypt digests.
 *
 * Every failure does as much hashing as the most expensive owner that this process has met, and at least one
 * comparison at cost 10: its time does not show whether a user name exists. That of `find` is up to the host.
 *
 * A password of more than 72 bytes never matches, because bcrypt reads only 72.
 *
 * The comparisons share one queue with those of client secrets: as many run at once as libuv has threads, and
 * 32 wait. Beyond, the client gets `temporarily_unavailable`, and no failure counts.
 */
export function bcryptPasswords(find: FindPasswordOwner): VerifyPassword {
  loadBcrypt()
  const comparison = new ConstantWorkComparer(bcryptCost)
  return async (username, password) => {
    const { subject, hashes } = ownerOf(await find(username))
    return (await comparison.match(password, hashes)) === undefined ? undefined : subject
  }
}

// Never the value: what is no digest may be a password in clear.
function ownerOf(found: unknown): { readonly subject?: string; readonly hashes: readonly string[] } {
  if (found === undefined || found === null) return { hashes: [] }
  const { subject, passwordHash } = isRecord(found) ? found : {}
  if (!isSubject(subject)) throw new TypeError('bcryptPasswords() found an owner without a subject.')
  if (passwordHash === undefined || passwordHash === null) return { hashes: [] }
  if (!isText(passwordHash) || !isBcryptHash(passwordHash))
    throw new TypeError('bcryptPasswords() found a passwordHash that is not a bcrypt digest.')
  return { subject, hashes: [passwordHash] }
}
