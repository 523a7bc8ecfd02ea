import { Endings, type Row } from './endings'
import { RowsByKey } from './rows-by-key'
import { TextBlocks } from './text-blocks'

// Each addition removes more than it brings, so that expired ones go at the pace at which new ones come; more when full.
const sweptPerAddition = 4
const sweptWhenFull = 1000
// After a long time without additions the seconds in between are many, and looking at each one costs something.
const secondsPerSweep = 100_000

/**
 * Texts under keys that end by themselves, of bounded number: one more is refused, never a live one dropped. They are
 * listed by the second in which they end, so that an expired one is found without looking at those that live: a full
 * map refuses nothing while it holds an expired one, and a refusal costs next to nothing. None of it is on the heap,
 * where a million of them would stop the process while garbage is collected.
 */
export class ExpiringTexts {
  private readonly rows = new RowsByKey()
  private readonly endings = new Endings()
  private readonly blocks = new TextBlocks()
  private size = 0
  /** Every second before this one is swept. */
  private nextSecond: number

  constructor(
    private readonly maximumEntries: number,
    /** Milliseconds of a clock that does not step. */
    private readonly clock: () => number,
  ) {
    this.nextSecond = Math.floor(clock() / 1000)
  }

  get(key: string): string | undefined {
    const row = this.rowOf(key)
    if (row === undefined || this.endings.endOf(row) <= this.clock()) return undefined
    return this.read(row).text
  }

  /** Whether it was kept: not when the map is full of live entries. */
  set(key: string, text: string, expiresAt: number): boolean {
    this.sweep(sweptPerAddition)
    const before = this.rowOf(key)
    if (before === undefined && !this.hasRoom()) return false
    if (before !== undefined) this.remove(key, before)
    this.add(key, text, expiresAt)
    return true
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

  private sweep(most: number): void {
    const now = Math.floor(this.clock() / 1000)
    let removed = 0
    for (let looked = 0; this.nextSecond <= now && looked < secondsPerSweep; looked++) {
      let row = this.endings.oneOf(this.nextSecond)
      for (; row !== undefined; row = this.endings.oneOf(this.nextSecond)) {
        if (removed++ === most) return
        this.remove(this.read(row).key, row)
      }
      // This second may bring more to its list, all of them expired already.
      if (this.nextSecond === now) return
      this.nextSecond++
    }
  }

  private add(key: string, text: string, expiresAt: number): void {
    // A clock that was set back must not list an entry where the sweep has been.
    const second = Math.max(Math.ceil(expiresAt / 1000), this.nextSecond)
    // Any key makes one line so.
    const place = this.blocks.write(`${JSON.stringify(key)}\n${text}`)
    this.rows.add(key, this.endings.add(place, expiresAt, second))
    this.size++
  }

  private remove(key: string, row: Row): void {
    this.rows.remove(key, row)
    this.blocks.free(this.endings.placeOf(row))
    this.endings.remove(row)
    this.size--
  }

  private read(row: Row): { readonly key: string; readonly text: string } {
    const lines = this.blocks.read(this.endings.placeOf(row))
    const end = lines.indexOf('\n')
    return { key: String(JSON.parse(lines.slice(0, end))), text: lines.slice(end + 1) }
  }
}
