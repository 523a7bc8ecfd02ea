import { issuerDigest } from '../../authorization/issuer'
import { createId, secureRandom } from '../../protocol/credential'
import {
  formatKeys,
  formatRetired,
  KeySeal,
  openedKey,
  type KeyTimes,
  type OpenedKey,
  parseKeys,
  parseRetired,
  type SealedKey,
  textOfTimes,
} from './key-record'
import { isWaiting, leadTime, livingKeys, nextKeyFrom, signingKeyAt } from './key-schedule'
import type { Store } from '../../store/store'
import { algorithmOf, type SigningAlgorithm } from './signing-algorithm'
import { signingKeyOf } from './signing-key'

interface KeyTerms {
  readonly issuer: string
  readonly algorithms: readonly SigningAlgorithm[]
  /** Seconds from its first signature until the successor of a key is made. */
  readonly rotateAfter: number
  /** Seconds. Undefined: as the keys in the store say. */
  readonly publishBefore: number | undefined
  readonly secrets: readonly string[]
}

const keysSealed = (algorithms: readonly SigningAlgorithm[]) =>
  new Error(
    `The store holds signing keys of ${algorithms.join(' and ')} that no secret of signingKeys({ secrets }) opens. Put the former secret back, after the new one: secrets: [new, former]. The server makes no new key in silence, because every token of theirs would become invalid.`,
  )

// A conflict is rare: another process changes the keys.
const rounds = 16

/**
 * One text holds all keys of the issuer, each sealed, and changes by compare-and-set: of two processes that
 * rotate at once, one makes the key. A second text holds the marks of retired keys, which outlive the loss of
 * the first.
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
    return this.change(now, algorithms, () => algorithms, this.terms.rotateAfter)
  }

  /** A key whose successor waits gets none. */
  rotate(now: number): Promise<readonly OpenedKey[]> {
    const { algorithms } = this.terms
    const missing = (living: readonly OpenedKey[]) =>
      algorithms.filter((name) => !living.some((key) => key.algorithm === name && isWaiting(key, now)))
    // 0 seconds: each key that signs has a successor due.
    return this.change(now, algorithms, missing, 0)
  }

  /** At once; its successor signs. False if the store has no such key. */
  async retire(kid: string, now: number): Promise<boolean> {
    const known = (await this.read()).sealed.find((key) => key.kid === kid)
    if (known === undefined) return false
    // The mark first: a process that stops after it leaves no key that another one takes for good.
    await this.mark(kid)
    await this.refresh(now, [known.algorithm])
    return true
  }

  async list(
    now: number,
  ): Promise<
    readonly { readonly key: SealedKey; readonly secret: number | undefined; readonly signs: boolean }[]
  > {
    const { sealed, retired } = await this.read()
    const valid = sealed.filter(({ kid }) => !retired.includes(kid))
    const keys = valid.map((key) => ({ key, secret: this.seal.secretIndex(key) }))
    const opened = keys.flatMap(({ key, secret }) => (secret === undefined ? [] : [key]))
    return keys.map(({ key, secret }) => {
      const signs = signingKeyAt(opened, key.algorithm, now)?.kid === key.kid
      return { key, secret, signs }
    })
  }

  /** The keys first: a key that is gone because it was retired then has its mark. */
  private async read() {
    const found = await this.store.read(this.name)
    const marks = await this.store.read(this.markName)
    return {
      version: found?.version,
      sealed: found === undefined ? [] : parseKeys(found.value),
      retired: marks === undefined ? [] : parseRetired(marks.value),
    }
  }

  private get markName(): string {
    return `${this.name}-retired`
  }

  /** Compare-and-set; no write without a change. */
  private async change(
    now: number,
    algorithms: readonly SigningAlgorithm[],
    wanting: (living: readonly OpenedKey[]) => readonly SigningAlgorithm[],
    rotateAfter: number,
  ): Promise<readonly OpenedKey[]> {
    const made = new Map<SigningAlgorithm, OpenedKey>()
    for (let round = 0; round < rounds; round++) {
      const { version, sealed, retired } = await this.read()
      const valid = sealed.filter(({ kid }) => !retired.includes(kid))
      const opened = valid.flatMap((key) => this.open(key) ?? [])
      const lost = this.held.filter(
        ({ kid }) => !retired.includes(kid) && !valid.some((key) => key.kid === kid),
      )
      // A lost secret must not look like a first start.
      const locked = algorithms.filter((name) => hasKey(valid, name) && !hasKey([...opened, ...lost], name))
      if (locked.length > 0) throw keysSealed(locked)
      const known = [...opened, ...livingKeys([...opened, ...lost], now).filter((key) => lost.includes(key))]
      const living = livingKeys(known, now)
      const wanted = await this.withDue(living, made, now, wanting(living), rotateAfter)
      // Stays: what no secret here opens may belong to a process with a newer secret.
      const foreign = valid.filter((key) => !opened.some(({ kid }) => kid === key.kid))
      const kept = wanted.map((key) => valid.find((stored) => isSame(stored, key)) ?? this.seal.seal(key))
      const texts = [...foreign, ...kept]
      const isUnchanged = texts.length === sealed.length && texts.every((key) => sealed.includes(key))
      if (
        isUnchanged ||
        (await this.store.write(this.name, formatKeys(texts), { version: newVersion(), expected: version }))
      ) {
        this.held = wanted
        return wanted
      }
    }
    throw new Error('The signing keys in the store are in use; try again.')
  }

  private open(key: SealedKey): OpenedKey | undefined {
    return this.held.find((held) => isSame(key, held)) ?? this.seal.open(key)
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
    const privateKey = await algorithmOf(algorithm).generate()
    const { kid } = signingKeyOf(privateKey, algorithm)
    const times = { kid, algorithm, signsFrom: own.createdAt, ...own }
    return openedKey(times, privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url'))
  }

  private async mark(kid: string): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const marks = await this.store.read(this.markName)
      const retired = marks === undefined ? [] : parseRetired(marks.value)
      if (retired.includes(kid)) return
      const text = formatRetired([...retired, kid])
      if (await this.store.write(this.markName, text, { version: newVersion(), expected: marks?.version }))
        return
    }
    throw new Error('The marks of retired keys in the store are in use; try again.')
  }
}

const newVersion = () => createId(secureRandom)

const hasKey = (keys: readonly KeyTimes[], name: SigningAlgorithm): boolean =>
  keys.some(({ algorithm }) => algorithm === name)

const isSame = (stored: KeyTimes, key: KeyTimes): boolean => textOfTimes(stored) === textOfTimes(key)
