// Enough for a store that answers many calls together; leaves room for others.
const atOnce = 16

/** Returns the results in the order of the items. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let first = 0; first < items.length; first += atOnce)
    results.push(...(await Promise.all(items.slice(first, first + atOnce).map(act))))
  return results
}
