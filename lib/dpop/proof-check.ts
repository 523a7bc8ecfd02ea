import { digest } from '../protocol/credential'
import type { OAuthError, Observed } from '../protocol/oauth-error'
import { refused, type RefusalTerms } from '../protocol/refusals'
import type { ResourceRequest } from '../protocol/token-type'
import type { DpopAlgorithm } from './proof-key'
import { ProofKeys } from './proof-key'
import type { Nonces } from './nonces'
import { type ProofFault, readProof, type SignedProof } from './proof'
import { normalUrl } from './target-uri'

interface ProofTerms {
  readonly algorithms: readonly DpopAlgorithm[]
  /** Seconds between `iat` and the clock. */
  readonly tolerance: number
  readonly nonces: Nonces | undefined
  /** The response to a bad proof: the status, and whether it has a challenge. */
  readonly refusal: RefusalTerms
  /** Seconds since the epoch. */
  readonly now: () => number
}

interface Proven {
  readonly thumbprint: string
  /** Names the proof, without its content, for `useOnce`. */
  readonly use: string
}

/** RFC 9449 4.3 */
export class ProofCheck {
  private readonly keys = new ProofKeys()

  constructor(private readonly terms: ProofTerms) {}

  /** Seconds: as long as any process may take a proof for fresh. */
  get remembered(): number {
    const { nonces, tolerance } = this.terms
    // The third time allows for processes whose clocks differ.
    return nonces === undefined ? 3 * tolerance : nonces.seconds + 2 * tolerance
  }

  nonceHeader(): Readonly<Record<string, string>> {
    const { nonces, now } = this.terms
    return nonces === undefined ? {} : { 'DPoP-Nonce': nonces.issue(now()) }
  }

  /** Not whether the proof was used before. */
  async prove(
    { headers, method }: ResourceRequest,
    url: string | undefined,
    accessToken?: string,
  ): Promise<Proven> {
    const proof = await readProof(headers['dpop'], this.terms.algorithms, this.keys)
    if (typeof proof === 'string') throw this.refuse(proof)
    const { thumbprint, jti, htm, htu, iat, ath } = proof
    if (htm !== method) throw this.refuse('dpop_method_wrong', { sent: htm, registered: method })
    const wanted = url === undefined ? undefined : normalUrl(url)
    if (wanted === undefined || normalUrl(htu) !== wanted)
      throw this.refuse('dpop_url_wrong', { sent: htu, registered: wanted ?? 'no URL' })
    // RFC 9449 4.3, 12: the hash of the access token that the request presents.
    if (accessToken !== undefined && ath !== digest(accessToken))
      throw this.refuse(ath === undefined ? 'dpop_token_hash_missing' : 'dpop_token_hash_wrong')
    this.requireTime(proof, iat)
    return { thumbprint, use: `dpop:${digest(`${thumbprint} ${jti}`)}` }
  }

  requireFirst(isFirst: boolean): void {
    if (!isFirst) throw this.refuse('dpop_replayed')
  }

  refuse(fault: ProofFault, observed: Observed = {}): OAuthError {
    return refused(fault, observed, this.terms.refusal)
  }

  private requireTime({ nonce }: SignedProof, iat: number): void {
    const { nonces, tolerance, now } = this.terms
    const time = now()
    if (nonces === undefined) {
      if (Math.abs(time - iat) <= tolerance) return
      throw this.refuse('dpop_not_in_time', { 'seconds since its time': time - iat })
    }
    // RFC 9449 4.3, 11: the nonce has a time of this server: the clock of the client does not count.
    const reason = nonce === undefined ? 'dpop_nonce_missing' : 'dpop_nonce_not_current'
    if (nonce === undefined || !nonces.isGood(nonce, time)) throw refused(reason, {}, this.terms.refusal)
  }
}
