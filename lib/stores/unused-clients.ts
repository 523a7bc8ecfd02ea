export interface UnusedClient {
  readonly clientId: string
  readonly network: string
  /** Until then it gives way to no other, in milliseconds of the store's clock. */
  readonly heldUntil: number
}

/**
 * Of the network with most unused clients, the one held shortest: who fills the store makes room. Undefined if
 * all are held.
 */
export function givingWay(unused: Iterable<UnusedClient>, now: number): string | undefined {
  const counts = new Map<string, number>()
  const firsts = new Map<string, UnusedClient>()
  for (const client of unused) {
    const { network, heldUntil } = client
    counts.set(network, (counts.get(network) ?? 0) + 1)
    const first = firsts.get(network)
    if (heldUntil <= now && (first === undefined || heldUntil < first.heldUntil)) firsts.set(network, client)
  }
  let chosen: UnusedClient | undefined
  let most = 0
  for (const [network, first] of firsts) {
    const count = counts.get(network) ?? 0
    if (count > most) [chosen, most] = [first, count]
  }
  return chosen?.clientId
}
