import { createHmac, timingSafeEqual } from 'node:crypto'

const timeBytes = 6
const macBytes = 16

/**
 * RFC 9449 8 and 9, without a memory: the time of issue, and its MAC. Processes with the same secret accept
 * the nonces of each other. RFC 9449 8: "MUST be unpredictable".
 */
export class Nonces {
  private readonly key: Buffer
  private latest: { readonly at: number; readonly nonce: string } | undefined

  /**
   * @param place its nonces are no good at another.
   * @param tolerance seconds that the clock of another process may be ahead.
   */
  constructor(
    secret: string | Buffer,
    place: string,
    readonly seconds: number,
    private readonly tolerance: number,
  ) {
    this.key = createHmac('sha256', secret).update(`dpop nonce ${place}`).digest()
  }

  issue(now: number): string {
    if (this.latest?.at !== now) this.latest = { at: now, nonce: this.nonceOf(now) }
    return this.latest.nonce
  }

  isGood(nonce: string, now: number): boolean {
    const bytes = Buffer.from(nonce, 'base64url')
    if (bytes.length !== timeBytes + macBytes) return false
    const at = bytes.readUIntBE(0, timeBytes)
    const age = now - at
    return age >= -this.tolerance && age <= this.seconds && isSame(nonce, this.nonceOf(at))
  }

  private nonceOf(at: number): string {
    const time = Buffer.alloc(timeBytes)
    time.writeUIntBE(Math.max(0, at), 0, timeBytes)
    const mac = createHmac('sha256', this.key).update(time).digest().subarray(0, macBytes)
    return Buffer.concat([time, mac]).toString('base64url')
  }
}

function isSame(nonce: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(nonce), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}
