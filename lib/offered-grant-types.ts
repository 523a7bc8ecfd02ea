import type { ServerSettings } from './settings'

/** The grant types that clients of this server can make use of, wherever they begin. */
export function offeredGrantTypes(
  { resourceOwner, responseTypes, grantTypes }: ServerSettings,
  atTokenEndpoint: readonly string[],
): readonly string[] {
  // A grant such as implicit has no place at the token endpoint: its response types bring it.
  const ofResponses = responseTypes.flatMap((type) => type.grantTypes)
  const offered = [...new Set([...atTokenEndpoint, ...ofResponses])]
  if (resourceOwner !== undefined) return offered
  // Without a resource owner there is no code, and what can be refreshed comes from the host's own grants.
  const nothingToRefresh = (name: string) => name === 'refresh_token' && grantTypes.length === 0
  return offered.filter((name) => !ofResponses.includes(name) && !nothingToRefresh(name))
}
