/** A client that registered itself, and that has no use yet. */
export interface UnusedClient {
  readonly clientId: string
  /** The network that the client registered from. */
  readonly network: string
  /** Milliseconds of the clock of the store until which the client gives way to no other. */
  readonly heldUntil: number
}

/**
 * The client that gives way to a new one; undefined if all are held. It is of the network that has most unused clients,
 * so the network that fills a store makes room again. Of this network, it is the one that was
 * held to the earliest time.
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
