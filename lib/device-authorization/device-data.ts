import type { Requested } from '../authorization/authorization'
import { isText } from '../primitives/values'
import type { ExtensionData } from '../protocol/extension-data'

/** What a device authorization keeps with its request until the decision. */
interface DeviceData {
  /** Seconds since the epoch. */
  readonly at: number
  readonly address: string | undefined
  /** Seconds. */
  readonly interval: number
  readonly polledAt: number | undefined
}

export const deviceData = ({ at, address, interval, polledAt }: DeviceData): ExtensionData => ({
  at,
  interval,
  ...(address !== undefined && { address }),
  ...(polledAt !== undefined && { polledAt }),
})

export function deviceDataIn({ plugInData = {} }: Requested): DeviceData | undefined {
  const { at, address, interval, polledAt } = plugInData
  if (typeof at !== 'number' || typeof interval !== 'number') return undefined
  return {
    at,
    address: isText(address) ? address : undefined,
    interval,
    polledAt: typeof polledAt === 'number' ? polledAt : undefined,
  }
}
