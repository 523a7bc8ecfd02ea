import { compare, hash } from 'bcrypt'

/** bcrypt reads no more than this of a secret. */
export const bcryptBytes = 72

/** What the digests of this suite cost: about 55 ms. */
export const bcryptCost = 10

/** Whether bcrypt reads the whole secret, so that a longer one never stands for its beginning. */
export function fitsBcrypt(secret: string): boolean {
  return secret !== '' && Buffer.byteLength(secret) <= bcryptBytes
}

/** Digests a secret, which must fit. */
export async function bcryptHash(secret: string): Promise<string> {
  return hash(secret, bcryptCost)
}

/** Whether the secret has this bcrypt digest. One that is too long costs the same and has none. */
export async function matchesBcryptHash(secret: string, secretHash: string): Promise<boolean> {
  // PHP writes $2y$ for what bcrypt calls $2b$.
  const matches = await compare(secret, secretHash.replace(/^\$2y\$/, '$2b$'))
  return matches && fitsBcrypt(secret)
}

/** The cost inside a bcrypt digest. */
export function costOf(secretHash: string): number {
  return Number(secretHash.slice(4, 6))
}

/** A digest that no secret is known to have: to compare with it only costs what a comparison at this cost costs. */
export function decoyHash(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$m6yUorYonDnrmuCVykkTquf/g0Ha3IrwmefykpyaM8MVrRkawpX/K`
}
