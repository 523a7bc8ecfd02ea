/** Choices that come again when the seed does (mulberry32). */
export class Chance {
  constructor(private state: number) {}

  /** A whole number from 0 up to, and without, `limit`. */
  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }

  among<T>(some: readonly [T, ...T[]]): T {
    return some[this.below(some.length)] ?? some[0]
  }

  shuffled<T>(all: readonly T[]): T[] {
    return all
      .map((item) => ({ item, place: this.below(2 ** 32) }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ item }) => item)
  }
}

/** The seed of this run: RACES_SEED, or one that was never used. */
export function seedOfRun(): number {
  const given = process.env['RACES_SEED']
  return given === undefined ? Date.now() % 2 ** 32 : Number(given)
}
