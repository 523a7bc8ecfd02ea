import type { Requested } from '../authorization/authorization'
import { isText } from '../primitives/values'
import type { ExtensionData } from '../protocol/extension-data'

/** What a device authorization keeps with its request until the decision. */
interface KeptRequest {
  /** Seconds since the epoch. */
  readonly at: number
  readonly address: string | undefined
  /** Seconds. */
  readonly interval: number
  readonly polledAt: number | undefined
}

export const written = ({ at, address, interval, polledAt }: KeptRequest): ExtensionData => ({
  at,
  interval,
  ...(address !== undefined && { address }),
  ...(polledAt !== undefined && { polledAt }),
})

export function keptIn({ kept = {} }: Requested): KeptRequest | undefined {
  const { at, address, interval, polledAt } = kept
  if (typeof at !== 'number' || typeof interval !== 'number') return undefined
  return {
    at,
    address: isText(address) ? address : undefined,
    interval,
    polledAt: typeof polledAt === 'number' ? polledAt : undefined,
  }
}
