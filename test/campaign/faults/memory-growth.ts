/** By what share the median of the last fifth of the samples is over that of the second; the first is for warming up. */
export function growthOf(samples: readonly number[]): number {
  const fifth = Math.max(1, Math.floor(samples.length / 5))
  const before = median(samples.slice(fifth, 2 * fifth))
  const after = median(samples.slice(-fifth))
  return before === 0 ? 0 : after / before - 1
}

function median(samples: readonly number[]): number {
  return samples.toSorted((one, other) => one - other)[Math.floor(samples.length / 2)] ?? 0
}
