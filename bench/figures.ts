/** The middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The median of the ratios within each round: what slows the machine down for a while slows both sides of a ratio. */
export function medianRatio(values: readonly number[], references: readonly number[]): number {
  return median(values.map((value, round) => value / (references[round] ?? Number.NaN)))
}

/** Lower quartile, median and upper quartile. */
export function quartilesOf(values: readonly number[]): readonly [number, number, number] {
  return [atPart(values, 0.25), median(values), atPart(values, 0.75)]
}

/** The value below which that part of the values lies, 0 for the least of them. */
export function atPart(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN
}
