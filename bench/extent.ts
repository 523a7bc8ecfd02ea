/** How long a run takes. Times in milliseconds. */
export interface Extent {
  readonly name: 'full' | 'medium' | 'short' | 'tiny'
  /** How often each server is started. */
  readonly starts: number
  readonly rounds: number
  /** The beginning of each turn, which does not count. */
  readonly leadIn: number
  readonly span: number
  /** Twice: on one connection, then on all. */
  readonly warmUp: number
  readonly coldStarts: number
  /** Whether servers whose commands to Redis go out one by one are measured as well. */
  readonly isNotGatheredToo: boolean
}

const less = { starts: 1, isNotGatheredToo: false } as const

// Two processes of one program may be a fifth apart for as long as they live, by what V8 made of their first requests: each
// server is started several times. One that slept while the others had their turns begins with cold caches, the larger it is
// the colder, as no server at work does: the beginning of a turn does not count.
const extents: Readonly<Record<Extent['name'], Omit<Extent, 'name'>>> = {
  full: {
    starts: 3,
    rounds: 9,
    leadIn: 150,
    span: 150,
    warmUp: 2000,
    coldStarts: 15,
    isNotGatheredToo: true,
  },
  medium: { ...less, rounds: 9, leadIn: 100, span: 150, warmUp: 1500, coldStarts: 9 },
  short: { ...less, rounds: 3, leadIn: 100, span: 200, warmUp: 500, coldStarts: 5 },
  tiny: { ...less, rounds: 1, leadIn: 20, span: 50, warmUp: 50, coldStarts: 1, isNotGatheredToo: true },
}

/** Which one the words of a command ask for. */
export function extentOf(words: readonly string[]): Extent {
  const name = (['medium', 'short', 'tiny'] as const).find((one) => words.includes(`--${one}`)) ?? 'full'
  return { name, ...extents[name] }
}
