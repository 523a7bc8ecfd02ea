import { createHmac, type KeyObject } from 'node:crypto'
import { BoundedMap } from '../primitives/maps'
import { isText } from '../primitives/values'
import { hasUserinfo } from '../protocol/uri'
import { loadJose } from '../jwt/key-source'
import { holdsSecret, materialOf, type PublicKey, readKey, thumbprintOf } from '../jwt/public-keys'
import { compactParts, jsonIn } from '../jwt/verify-jwt'
import { digest, isSameText } from '../protocol/credential'
import type { OAuthError, Observed } from '../protocol/oauth-error'
import { type Reason, type RefusalTerms, refused } from '../protocol/refusals'
import type { ResourceRequest } from '../protocol/token-type'

// Without a backslash, which a parser of URLs takes for a slash.
const written = /^https?:\/\/[!-[\]-~]+$/i

/** RFC 9449 4.3, RFC 3986 6.2.2 and 6.2.3. Undefined for no http URL. */
function normalUrl(text: string): string | undefined {
  if (!written.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (hasUserinfo(url)) return undefined
  // `URL` writes scheme and host in lower case, and drops the default port and dot segments.
  return url.origin + url.pathname.replaceAll(/%[0-9a-f]{2}/gi, normalTriplet)
}

function normalTriplet(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
  return /[A-Za-z0-9\-._~]/.test(character) ? character : triplet.toUpperCase()
}

type ProofFault = Extract<Reason, `dpop_${string}`>

interface ProofTerms {
  readonly algorithms: readonly string[]
  /** Seconds between `iat` and the clock. */
  readonly tolerance: number
  readonly nonces: Nonces | undefined
  readonly refusal: RefusalTerms
  /** Seconds since the epoch. */
  readonly now: () => number
}

/** RFC 9449 4.3 */
export class ProofCheck {
  private readonly keys = new ProofKeys()

  constructor(private readonly terms: ProofTerms) {}

  /** Seconds for which any process may take a proof for fresh. */
  get remembered(): number {
    const { nonces, tolerance } = this.terms
    // The third time: clocks of processes differ.
    return nonces === undefined ? 3 * tolerance : nonces.seconds + 2 * tolerance
  }

  nonceHeader(): Readonly<Record<string, string>> {
    const { nonces, now } = this.terms
    return nonces === undefined ? {} : { 'DPoP-Nonce': nonces.issue(now()) }
  }

  /** Not whether the proof was used before: `use` names it for `useOnce`. */
  async prove({ headers, method }: ResourceRequest, url: string | undefined, accessToken?: string) {
    const proof = await readProof(headers['dpop'], this.terms.algorithms, this.keys)
    if (typeof proof === 'string') throw this.refuse(proof)
    const { thumbprint, jti, htm, htu, ath } = proof
    if (htm !== method) throw this.refuse('dpop_method_wrong', { sent: htm, registered: method })
    const wanted = url === undefined ? undefined : normalUrl(url)
    if (wanted === undefined || normalUrl(htu) !== wanted)
      throw this.refuse('dpop_url_wrong', { sent: htu, registered: wanted ?? 'no URL' })
    // RFC 9449 4.3, 12.
    if (accessToken !== undefined && ath !== digest(accessToken))
      throw this.refuse(ath === undefined ? 'dpop_token_hash_missing' : 'dpop_token_hash_wrong')
    this.requireTime(proof)
    return { thumbprint, use: `dpop:${digest(`${thumbprint} ${jti}`)}` }
  }

  refuse(fault: ProofFault, observed: Observed = {}): OAuthError {
    return refused(fault, observed, this.terms.refusal)
  }

  private requireTime({ nonce, iat }: SignedProof): void {
    const { nonces, tolerance, now } = this.terms
    const time = now()
    if (nonces === undefined) {
      if (Math.abs(time - iat) <= tolerance) return
      throw this.refuse('dpop_not_in_time', { 'seconds since its time': time - iat })
    }
    // RFC 9449 4.3, 11: with the time of this server, the clock of the client does not count.
    if (nonce === undefined) throw this.refuse('dpop_nonce_missing')
    if (!nonces.isGood(nonce, time)) throw this.refuse('dpop_nonce_not_current')
  }
}

type SignedProof = NonNullable<ReturnType<typeof claimsIn>>

/** Characters. */
export const longestProof = 4096
/** Characters. */
export const longestJti = 256

/** RFC 9449 4.3, 1 to 7. */
async function readProof(
  lines: readonly string[] | undefined,
  algorithms: readonly string[],
  keys: ProofKeys,
): Promise<SignedProof | ProofFault> {
  const [proof, second] = lines ?? []
  if (proof === undefined) return 'dpop_proof_missing'
  if (second !== undefined) return 'dpop_proof_repeated'
  const parts = compactParts(proof, longestProof)
  const header = parts && jsonIn(parts.header)
  if (parts === undefined || header === undefined) return 'dpop_proof_malformed'
  // RFC 7515 4.1.11: critical extensions; `b64` (RFC 7797) is one.
  if (header['typ'] !== 'dpop+jwt' || 'crit' in header || 'b64' in header) return 'dpop_header_refused'
  const { alg, jwk } = header
  if (!isText(alg) || !algorithms.includes(alg)) return 'dpop_algorithm_refused'
  if (holdsSecret(jwk)) return 'dpop_key_private'
  const key = keys.read(jwk)
  if (key === undefined) return 'dpop_key_refused'
  const { compactVerify, errors } = await loadJose()
  try {
    await compactVerify(proof, key.key)
  } catch (error) {
    // RFC 7518 3.3: RSA below 2048 bits, for one.
    return error instanceof errors.JWSSignatureVerificationFailed
      ? 'dpop_signature_wrong'
      : 'dpop_key_refused'
  }
  keys.remember(key)
  return claimsIn(jsonIn(parts.payload), key.thumbprint) ?? 'dpop_claims_refused'
}

// RFC 9449 4.2.
function claimsIn(claims: Readonly<Record<string, unknown>> | undefined, thumbprint: string) {
  const { jti, htm, htu, iat, nonce, ath } = claims ?? {}
  if (!isText(jti) || jti.length > longestJti || !isText(htm) || !isText(htu)) return undefined
  // JSON can hold infinity: 1e999.
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return undefined
  if (!isAbsentOrText(nonce) || !isAbsentOrText(ath)) return undefined
  return { thumbprint, jti, htm, htu, iat, nonce, ath }
}

const isAbsentOrText = (value: unknown): value is string | undefined => value === undefined || isText(value)

const timeBytes = 6
const macBytes = 16

/** RFC 9449 8 and 9, without a memory: the time of issue, and its MAC ("MUST be unpredictable"). */
export class Nonces {
  private readonly key: Buffer
  private latest: { readonly at: number; readonly nonce: string } | undefined

  /** @param tolerance seconds that the clock of another process may be ahead. */
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
    return age >= -this.tolerance && age <= this.seconds && isSameText(nonce, this.nonceOf(at))
  }

  private nonceOf(at: number): string {
    const time = Buffer.alloc(timeBytes)
    time.writeUIntBE(Math.max(0, at), 0, timeBytes)
    const mac = createHmac('sha256', this.key).update(time).digest().subarray(0, macBytes)
    return Buffer.concat([time, mac]).toString('base64url')
  }
}

interface ProofKey {
  readonly key: KeyObject
  /** RFC 7638. */
  readonly thumbprint: string
}

// Each about 1 KB. Reading a key costs as much as a signature.
const keysAtMost = 1000
// Bits. A larger key slows each verification.
export const largestModulus = 4096
const largestExponent = 2n ** 32n

class ProofKeys {
  private readonly known = new BoundedMap<KeyObject>(keysAtMost)

  read(jwk: unknown): ProofKey | undefined {
    const material = materialOf(jwk)
    if (material === undefined) return undefined
    const thumbprint = thumbprintOf(material)
    const key = this.known.get(thumbprint) ?? readBounded(material)
    return key && { key, thumbprint }
  }

  /** Only after its proof: else an attacker could push keys of clients out. */
  remember({ key, thumbprint }: ProofKey): void {
    if (!this.known.has(thumbprint)) this.known.set(thumbprint, key)
  }
}

function readBounded(material: PublicKey): KeyObject | undefined {
  const key = readKey(material)
  const { modulusLength = 0, publicExponent = 0n } = key?.asymmetricKeyDetails ?? {}
  const isBounded = modulusLength <= largestModulus && publicExponent < largestExponent
  // One key has one thumbprint: no leading zeros or stray bits.
  const isCanonical = () =>
    JSON.stringify(materialOf(key?.export({ format: 'jwk' }))) === JSON.stringify(material)
  return isBounded && isCanonical() ? key : undefined
}
