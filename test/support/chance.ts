/** Choices that come again when the seed does (mulberry32). */
export class Chance {
  constructor(private state: number) {}

  /** A number from 0 up to, and without, 1. */
  share(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 up to, and without, `limit`. */
  below(limit: number): number {
    return Math.floor(this.share() * limit)
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  among<T>(some: readonly [T, ...T[]]): T {
    return some[this.below(some.length)] ?? some[0]
  }

  /** One of a list that must not be empty. */
  any<T>(list: readonly T[]): T {
    const [first, ...others] = list
    if (first === undefined) throw new Error('There is nothing to choose from.')
    return this.among([first, ...others])
  }

  shuffled<T>(all: readonly T[]): T[] {
    return all
      .map((item) => ({ item, place: this.share() }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ item }) => item)
  }
}
