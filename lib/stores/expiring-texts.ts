import { Endings, type Row } from './endings'
import { RowsByKey } from './rows-by-key'
import { TextBlocks } from './text-blocks'

// Each addition removes more than it brings, so that expired ones go at the pace at which new ones come; more when full.
const sweptPerAddition = 4
const sweptWhenFull = 1000
// After a long time without additions the seconds in between are many, and looking at each one costs something.
const secondsPerSweep = 100_000

/** Seconds after which one whose share is full may try again: which of its texts ends first is not known. */
export const shareWait = 60

interface Entry {
  readonly key: string
  readonly shares: readonly string[]
  readonly text: string
}

/**
 * Texts under keys that end by themselves, of bounded number: one more is refused, never a live one dropped. They are
 * listed by the second in which they end, so that an expired one is found without looking at those that live: a full
 * map refuses nothing while it holds an expired one, and a refusal costs next to nothing. No text is on the heap,
 * where a million of them would stop the process while garbage is collected.
 *
 * A text may count towards shares, such as that of one client: each share has at most a quarter of the map.
 */
export class ExpiringTexts {
  private readonly rows = new RowsByKey()
  private readonly endings = new Endings()
  private readonly blocks = new TextBlocks()
  private size = 0
  private readonly shareAtMost: number
  /** How many texts count towards each share. */
  private readonly shares = new Map<string, number>()
  /** Every second before this one is swept. */
  private nextSecond: number

  constructor(
    private readonly maximumEntries: number,
    /** Milliseconds of a clock that does not step. */
    private readonly clock: () => number,
  ) {
    this.nextSecond = Math.floor(clock() / 1000)
    this.shareAtMost = Math.ceil(maximumEntries / 4)
  }

  get(key: string): string | undefined {
    const row = this.rowOf(key)
    if (row === undefined || this.endings.endOf(row) <= this.clock()) return undefined
    return this.read(row).text
  }

  /**
   * Whether it was kept: not when the map is full of live entries.
   *
   * @param shares of a new key; a known one keeps those that it has. None of them may be full: see {@link fullShare}.
   */
  set(key: string, text: string, expiresAt: number, shares: readonly string[] = []): boolean {
    this.sweep(sweptPerAddition)
    const before = this.rowOf(key)
    if (before === undefined) return this.hasRoom() && this.add(key, text, expiresAt, shares)
    const { shares: kept } = this.read(before)
    this.remove(key, before)
    return this.add(key, text, expiresAt, kept)
  }

  /** The share that has no room for a text under this key; undefined when there is none. */
  fullShare(key: string, shares: readonly string[]): string | undefined {
    if (this.rowOf(key) !== undefined) return undefined
    return shares.find((share) => this.isFull(share))
  }

  /** It sweeps as an addition does, so that a map from which much is taken shrinks. */
  delete(key: string): void {
    this.sweep(sweptPerAddition)
    const row = this.rowOf(key)
    if (row !== undefined) this.remove(key, row)
  }

  private rowOf(key: string): Row | undefined {
    return this.rows.get(key, (row) => this.read(row).key === key)
  }

  private hasRoom(): boolean {
    if (this.size >= this.maximumEntries) this.sweep(sweptWhenFull)
    return this.size < this.maximumEntries
  }

  // Expired texts of other shares may stand before those of this one.
  private isFull(share: string): boolean {
    const isAtMost = () => (this.shares.get(share) ?? 0) >= this.shareAtMost
    let mayHaveExpired = true
    while (isAtMost() && mayHaveExpired) mayHaveExpired = this.sweep(sweptWhenFull)
    return isAtMost()
  }

  /** Whether it left off before everything that has expired was removed. */
  private sweep(most: number): boolean {
    const now = Math.floor(this.clock() / 1000)
    let removed = 0
    for (let looked = 0; this.nextSecond <= now && looked < secondsPerSweep; looked++) {
      let row = this.endings.oneOf(this.nextSecond)
      for (; row !== undefined; row = this.endings.oneOf(this.nextSecond)) {
        if (removed++ === most) return true
        this.remove(this.read(row).key, row)
      }
      // This second may bring more to its list, all of them expired already.
      if (this.nextSecond === now) return false
      this.nextSecond++
    }
    return this.nextSecond <= now
  }

  private add(key: string, text: string, expiresAt: number, shares: readonly string[]): true {
    // A clock that was set back must not list an entry where the sweep has been.
    const second = Math.max(Math.ceil(expiresAt / 1000), this.nextSecond)
    // Any key makes one line so.
    const place = this.blocks.write(`${JSON.stringify([key, ...shares])}\n${text}`)
    this.rows.add(key, this.endings.add(place, expiresAt, second))
    this.size++
    for (const share of shares) this.shares.set(share, (this.shares.get(share) ?? 0) + 1)
    return true
  }

  private remove(key: string, row: Row): void {
    for (const share of this.read(row).shares) this.leave(share)
    this.rows.remove(key, row)
    this.blocks.free(this.endings.placeOf(row))
    this.endings.remove(row)
    this.size--
  }

  private leave(share: string): void {
    const count = (this.shares.get(share) ?? 0) - 1
    if (count > 0) this.shares.set(share, count)
    else this.shares.delete(share)
  }

  private read(row: Row): Entry {
    const lines = this.blocks.read(this.endings.placeOf(row))
    const end = lines.indexOf('\n')
    const [key, ...shares]: unknown[] = JSON.parse(lines.slice(0, end))
    return { key: String(key), shares: shares.map(String), text: lines.slice(end + 1) }
  }
}
