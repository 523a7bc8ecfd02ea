import type { Client } from '../protocol/client'
import type { Extension } from '../protocol/extension'
import { dataOf, type ExtensionData } from '../protocol/extension-data'

/** Whether a refresh leaves the refresh token of an authorization good, by the data that extensions keep with it. */
export type KeepsRefreshToken = (extensionData: ExtensionData) => boolean

const always: KeepsRefreshToken = () => true

/**
 * Decides for each client whether its refresh tokens stay good (RFC 9700 2.2.2): those of a confidential client, which
 * authenticates at each refresh, and those that an extension has bound to a key. All others rotate, whatever the options
 * say.
 *
 * @param rotates the option `refreshTokenRotation` of the server.
 * @returns undefined for a client whose refresh tokens always rotate.
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
