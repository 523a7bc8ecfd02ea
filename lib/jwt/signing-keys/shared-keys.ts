import { issuerDigest } from '../../authorization/issuer'
import { changeRecord } from '../../store/change'
import type { Store } from '../../store/store'
import {
  formatRetired,
  isSameKey,
  KeySeal,
  type KeyTimes,
  leadTime,
  livingKeys,
  nextKeyFrom,
  type OpenedKey,
  parseKeys,
  parseRetired,
  type SealedKey,
  signingKeyAt,
} from './key-record'
import { algorithmRows, type SigningAlgorithm, signingKeyOf } from './signing-key'

interface KeyTerms {
  readonly issuer: string
  readonly algorithms: readonly SigningAlgorithm[]
  /** Seconds. */
  readonly rotateAfter: number
  /** Seconds. Undefined: as the keys in the store say. */
  readonly publishBefore: number | undefined
  readonly secrets: readonly string[]
}

/** A shared key, without its secret. Times are seconds since the epoch. */
export interface ListedKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly createdAt: number
  readonly signsFrom: number
  readonly signs: boolean
  /** The place in the option `secrets`, from 1; undefined if none opens the key. */
  readonly secret: number | undefined
}

const keysSealed = (algorithms: readonly SigningAlgorithm[]) =>
  new Error(
    `The store holds signing keys of ${algorithms.join(' and ')} that no secret of signingKeys({ secrets }) opens. Put the former secret back, after the new one: secrets: [new, former]. All processes need the same secrets. The server makes no new key in silence, because every token of theirs would become invalid.`,
  )

/**
 * One text holds all keys and changes by compare-and-set: of two processes that rotate, one makes the key.
 * The marks of retired keys outlive its loss in their own text.
 */
export class SharedKeys {
  private readonly seal: KeySeal
  private readonly name: string
  private held: readonly OpenedKey[] = []
  private longest = 0

  constructor(
    private readonly store: Store,
    private readonly terms: KeyTerms,
  ) {
    this.seal = new KeySeal(terms.issuer, terms.secrets)
    this.name = `keys:${issuerDigest(terms.issuer)}`
  }

  outlive(seconds: number): void {
    this.longest = Math.max(this.longest, seconds)
  }

  /** Makes the due keys, and publishes again what the store has lost. */
  refresh(now: number, algorithms = this.terms.algorithms): Promise<readonly OpenedKey[]> {
    return this.change(now, algorithms, this.terms.rotateAfter)
  }

  /** A key whose successor waits gets none. */
  rotate(now: number): Promise<readonly OpenedKey[]> {
    return this.change(now, undefined, 0)
  }

  /** False if the store has no such key. */
  async retire(kid: string, now: number): Promise<boolean> {
    const known = (await this.read()).find((key) => key.kid === kid)
    if (known === undefined) return false
    // The mark first: a process that stops here leaves no key that another takes for good.
    await this.mark(kid)
    await this.refresh(now, [known.algorithm])
    return true
  }

  async list(now: number): Promise<readonly ListedKey[]> {
    const sealed = await this.read()
    const retired = await this.retired()
    const valid = sealed.filter(({ kid }) => !retired.includes(kid))
    const places = new Map(valid.map((key) => [key, this.seal.open(key)?.secretIndex]))
    const opened = valid.filter((key) => places.get(key) !== undefined)
    return valid.map((key) => {
      const { kid, algorithm, createdAt, signsFrom } = key
      const index = places.get(key)
      const secret = index === undefined ? undefined : index + 1
      const signs = signingKeyAt(opened, algorithm, now) === key
      return { kid, algorithm, createdAt, signsFrom, signs, secret }
    })
  }

  /** Before `retired`: a key that is gone then has its mark. */
  private async read(): Promise<readonly SealedKey[]> {
    return parseKeys((await this.store.read(this.name))?.value)
  }

  private async retired(): Promise<readonly string[]> {
    return parseRetired((await this.store.read(this.markName))?.value)
  }

  private get markName(): string {
    return `${this.name}-retired`
  }

  /** @param algorithms undefined: those of the stored keys. */
  private async change(
    now: number,
    algorithms: readonly SigningAlgorithm[] | undefined,
    rotateAfter: number,
  ): Promise<readonly OpenedKey[]> {
    const made = new Map<SigningAlgorithm, OpenedKey>()
    const changed = await changeRecord(this.store, this.name, async (text) => {
      const sealed = parseKeys(text)
      const retired = await this.retired()
      const valid = sealed.filter(({ kid }) => !retired.includes(kid))
      const opened = valid.flatMap((key) => this.open(key) ?? [])
      const lost = this.held.filter(
        ({ kid }) => !retired.includes(kid) && !valid.some((key) => key.kid === kid),
      )
      const wanted = algorithms ?? [...new Set(valid.map(({ algorithm }) => algorithm))]
      // A lost secret must not look like a first start.
      const locked = wanted.filter((name) => hasKey(valid, name) && !hasKey([...opened, ...lost], name))
      if (locked.length > 0) throw keysSealed(locked)
      const known = [...opened, ...livingKeys([...opened, ...lost], now).filter((key) => lost.includes(key))]
      const living = livingKeys(known, now)
      const outcome = await this.withDue(living, made, now, wanted, rotateAfter)
      // May belong to a process with a newer secret.
      const foreign = valid.filter((key) => !opened.some(({ kid }) => kid === key.kid))
      const kept = outcome.map((key) => valid.find((stored) => isSameKey(stored, key)) ?? this.seal.seal(key))
      const texts = [...foreign, ...kept]
      const isUnchanged = texts.length === sealed.length && texts.every((key) => sealed.includes(key))
      return isUnchanged ? { outcome } : { write: { value: JSON.stringify({ keys: texts }) }, outcome }
    })
    this.held = changed
    return changed
  }

  private open(key: SealedKey): OpenedKey | undefined {
    return this.held.find((held) => isSameKey(key, held)) ?? this.seal.open(key)?.key
  }

  /** A key of an earlier round serves again. */
  private async withDue(
    living: readonly OpenedKey[],
    made: Map<SigningAlgorithm, OpenedKey>,
    now: number,
    algorithms: readonly SigningAlgorithm[],
    rotateAfter: number,
  ): Promise<readonly OpenedKey[]> {
    const keys = living.map((key) => (this.signs(key, now, living) ? this.lasting(key) : key))
    const longest = Math.max(this.longest, ...keys.map((key) => key.longest))
    const lead = this.terms.publishBefore ?? Math.max(leadTime, ...keys.map((key) => key.lead))
    for (const algorithm of algorithms) {
      const signsFrom = nextKeyFrom(keys, algorithm, { rotateAfter, lead }, now)
      if (signsFrom === undefined) continue
      const key = made.get(algorithm) ?? (await this.make(algorithm, { createdAt: now, longest, lead }))
      made.set(algorithm, key)
      keys.push({ ...key, signsFrom })
    }
    return keys
  }

  private signs(key: OpenedKey, now: number, keys: readonly OpenedKey[]): boolean {
    return this.terms.algorithms.includes(key.algorithm) && signingKeyAt(keys, key.algorithm, now) === key
  }

  // The options may have been raised since.
  private lasting(key: OpenedKey): OpenedKey {
    const longest = Math.max(key.longest, this.longest)
    const lead = Math.max(key.lead, this.terms.publishBefore ?? 0)
    return longest === key.longest && lead === key.lead ? key : { ...key, longest, lead }
  }

  private async make(
    algorithm: SigningAlgorithm,
    own: Pick<KeyTimes, 'createdAt' | 'longest' | 'lead'>,
  ): Promise<OpenedKey> {
    const privateKey = await algorithmRows[algorithm].generate()
    const secretText = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url')
    return { ...signingKeyOf(privateKey, algorithm), ...own, signsFrom: own.createdAt, secretText }
  }

  private mark(kid: string): Promise<void> {
    return changeRecord(this.store, this.markName, (text) => {
      const retired = parseRetired(text)
      if (retired.includes(kid)) return { outcome: undefined }
      return { write: { value: formatRetired([...retired, kid]) }, outcome: undefined }
    })
  }
}

const hasKey = (keys: readonly KeyTimes[], name: SigningAlgorithm): boolean =>
  keys.some(({ algorithm }) => algorithm === name)
