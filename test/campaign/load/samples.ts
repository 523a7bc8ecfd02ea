/** The middle of the samples. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  const [low = 0, high = 0] = sorted.slice(middle - 1, middle + 1)
  return sorted.length % 2 === 0 ? (low + high) / 2 : (sorted[middle] ?? 0)
}

/**
 * How well one sample of each tells the two kinds apart: the share of pairs in which the first is the greater one, ties
 * by half (Mann and Whitney's U over the number of pairs). 0.5 says that time tells nothing; 0 and 1, that it tells all.
 */
export function superiority(one: readonly number[], other: readonly number[]): number {
  let greater = 0
  for (const first of one)
    for (const second of other) greater += first > second ? 1 : first === second ? 0.5 : 0
  return greater / (one.length * other.length)
}

/** By how many standard deviations that share is off one half, were both kinds the same. */
export function deviations(one: readonly number[], other: readonly number[]): number {
  const pairs = one.length * other.length
  const deviation = Math.sqrt((one.length + other.length + 1) / (12 * pairs))
  return (superiority(one, other) - 0.5) / deviation
}
