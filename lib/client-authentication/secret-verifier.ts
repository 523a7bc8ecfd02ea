import { createHmac } from 'node:crypto'
import type { Client } from '../protocol/client'
import { secureRandom } from '../protocol/credential'
import { isBcryptHash } from '../protocol/secret-hash'
import { bcryptCost, decoyHash } from '../secrets/bcrypt'
import { matchesSecretHash } from './client-secret'
import type { Verification } from './method'

const rememberedAtMost = 1000
const rememberedSeconds = 300
const decoy = decoyHash(bcryptCost)

/**
 * Verifies client secrets. A bcrypt verification that succeeded is remembered in this process for five minutes, under
 * a keyed digest of stored hash and secret, so that dropping the hash drops the memory; a failure never is.
 */
export class SecretVerifier {
  private readonly remembered = new Map<string, number>()
  private readonly key = secureRandom(32)
  private usesBcrypt = false

  /** @param clock milliseconds since the epoch. */
  constructor(private readonly clock: () => number) {}

  /** Whether the secret is one of the client's. An unknown client costs the same as a wrong secret. */
  async verify(client: Client | undefined, secret: string): Promise<Verification> {
    // The current secret, whose digest is the last, is what most requests come with.
    const hashes = client?.client_secret_hashes.toReversed() ?? []
    const slow = hashes.filter(isBcryptHash)
    this.usesBcrypt ||= slow.length > 0
    const match = slow.find((hash) => this.remembers(hash, secret)) ?? (await this.firstMatch(hashes, secret))
    if (match !== undefined) return match === hashes[0] || 'by an old secret'
    if (slow.length === 0 && this.usesBcrypt) await matchesSecretHash(secret, decoy)
    return false
  }

  private async firstMatch(hashes: readonly string[], secret: string): Promise<string | undefined> {
    for (const hash of hashes)
      if (await matchesSecretHash(secret, hash)) {
        if (isBcryptHash(hash)) this.remember(hash, secret)
        return hash
      }
    return undefined
  }

  private remembers(hash: string, secret: string): boolean {
    return (this.remembered.get(this.mark(hash, secret)) ?? 0) > this.clock()
  }

  private remember(hash: string, secret: string): void {
    const oldest = this.remembered.keys().next()
    if (this.remembered.size >= rememberedAtMost && oldest.done !== true) this.remembered.delete(oldest.value)
    const mark = this.mark(hash, secret)
    this.remembered.delete(mark)
    this.remembered.set(mark, this.clock() + rememberedSeconds * 1000)
  }

  private mark(hash: string, secret: string): string {
    return createHmac('sha256', this.key).update(hash).update(secret).digest('base64url')
  }
}
