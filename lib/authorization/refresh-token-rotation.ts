import type { Client } from '../protocol/client'
import type { Extension } from '../protocol/extension'
import { dataOf, type ExtensionData } from '../protocol/extension-data'

/** Whether a refresh leaves the refresh token good, by the data of extensions. */
export type KeepsRefreshToken = (extensionData: ExtensionData) => boolean

const always: KeepsRefreshToken = () => true

/**
 * RFC 9700 2.2.2: refresh tokens stay good only for a confidential client, which authenticates at each refresh, or
 * bound to a key by an extension. All others rotate, whatever the options say. Undefined for a client that always
 * rotates.
 */
export function refreshTokenKeeper(
  rotates: boolean,
  extensions: readonly Extension[],
): (client: Client) => KeepsRefreshToken | undefined {
  const binding = extensions.filter((extension) => extension.bindsRefreshToken !== undefined)
  const isBound: KeepsRefreshToken = (extensionData) =>
    binding.some((extension) => {
      const own = dataOf(extension.name, extensionData)
      return own !== undefined && extension.bindsRefreshToken?.(own) === true
    })
  return ({ client_type, refresh_token_rotation = rotates }) => {
    if (refresh_token_rotation) return undefined
    if (client_type === 'confidential') return always
    return binding.length === 0 ? undefined : isBound
  }
}
