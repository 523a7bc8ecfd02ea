import type { ActingExtensions } from '../protocol/acting-extensions'
import type { Client } from '../protocol/client'
import { dataOf, type ExtensionData } from '../protocol/extension-data'

/** Whether a refresh leaves the refresh token good, by the data of extensions. */
export type KeepsRefreshToken = (extensionData: ExtensionData) => boolean

const always: KeepsRefreshToken = () => true

/**
 * RFC 9700 2.2.2: refresh tokens stay good only for a confidential client, which authenticates at each refresh, or
 * bound to a key by an extension. All others rotate, whatever the options say. Undefined for a client that always
 * rotates.
 */
export function keeperFor(
  { client_type, refresh_token_rotation }: Client,
  { refreshTokenRotation: rotates }: { readonly refreshTokenRotation: boolean },
  { bindsRefreshToken: binding }: Pick<ActingExtensions, 'bindsRefreshToken'>,
): KeepsRefreshToken | undefined {
  if (refresh_token_rotation ?? rotates) return undefined
  if (client_type === 'confidential') return always
  if (binding.length === 0) return undefined
  return (extensionData) =>
    binding.some((extension) => {
      const own = dataOf(extension.name, extensionData)
      const isBound: unknown = own !== undefined && extension.bindsRefreshToken(own)
      return isBound === true
    })
}
