import {
  bcryptBytes,
  bcryptCost,
  bcryptHash,
  ConstantWorkComparer,
  fitsBcrypt,
} from '../../../password-hashing/bcrypt'
import { isBcryptHash } from '../../../protocol/client'
import { isRecord, isText } from '../../../protocol/configuration'
import { isSubject } from '../../../protocol/resource-owner'
import type { VerifyPassword } from './password'

/** Whose a user name is, as the host's own database has it. */
export interface PasswordOwner {
  readonly subject: string
  /** A bcrypt digest: `$2a$`, `$2b$` or `$2y$`. Undefined or null for an owner who has no password. */
  readonly passwordHash: string | undefined | null
}

/** Finds the owner of a user name; undefined (or null) for nobody. */
export type FindPasswordOwner = (
  username: string,
) => PasswordOwner | undefined | null | Promise<PasswordOwner | undefined | null>

/**
 * Digests a password with bcrypt at cost 10: about 55 ms.
 *
 * @throws RangeError when the password is empty or longer than the 72 bytes that bcrypt reads.
 */
export async function hashPassword(password: string): Promise<string> {
  if (!fitsBcrypt(password)) throw new RangeError(`A password must have 1 to ${bcryptBytes} bytes.`)
  return bcryptHash(password)
}

/**
 * A function for {@link PasswordOptions.verify} over passwords that are stored as bcrypt digests. A name that nobody has
 * costs what a wrong password does: a comparison at the highest cost that was found so far in this process, 10 at first; a
 * wrong password whose digest costs less is filled up to it. A password of more than 72 bytes is never taken for its
 * beginning. How long `find` takes is the host's matter.
 *
 * Comparisons take turns with those of client secrets, as many at once as libuv has threads; when 32 wait already, the
 * answer is `temporarily_unavailable`, and no failure is counted.
 */
export function bcryptPasswords(find: FindPasswordOwner): VerifyPassword {
  const comparison = new ConstantWorkComparer(bcryptCost)
  return async (username, password) => {
    const owner = ownerOf(await find(username))
    const hashes = owner === undefined ? [] : [owner.passwordHash]
    return (await comparison.match(password, hashes)) === undefined ? undefined : owner?.subject
  }
}

interface Owner extends PasswordOwner {
  readonly passwordHash: string
}

// What a host's database holds is proven, and never told: a digest that is none may be a password in clear.
function ownerOf(found: unknown): Owner | undefined {
  if (found === undefined || found === null) return undefined
  const { subject, passwordHash } = isRecord(found) ? found : {}
  if (!isSubject(subject)) throw new TypeError('bcryptPasswords() found an owner without a subject.')
  if (passwordHash === undefined || passwordHash === null) return undefined
  if (!isText(passwordHash) || !isBcryptHash(passwordHash))
    throw new TypeError('bcryptPasswords() found a passwordHash that is no bcrypt digest.')
  return { subject, passwordHash }
}
