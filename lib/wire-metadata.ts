import type { RequestHandler } from 'express'
import { metadataDocument } from './express/metadata'
import { serverMetadata } from './metadata/server-metadata'
import type { Settings } from './settings'
import type { ClientEndpoints } from './wire-client-endpoints'

/** Metadata of what the other wirings have put together, so that it promises nothing else. */
export function wireMetadata(
  settings: Settings,
  { proof, grantTypes, signingAlgorithms }: ClientEndpoints,
): RequestHandler {
  const asks = settings.resourceOwner !== undefined
  return metadataDocument(
    serverMetadata({
      ...settings,
      scopes: [...settings.scopes.keys()],
      grantTypes: offeredGrantTypes(settings, grantTypes),
      authenticationMethods: proof.strategies.map(({ name }) => name),
      signingAlgorithms,
      authorization: asks
        ? {
            path: settings.authorizationPath,
            responseTypes: settings.responseTypes.map(({ name }) => name),
            responseModes: [...new Set(settings.responseTypes.map(({ mode }) => mode))],
            codeChallengeMethods: ['S256'],
          }
        : undefined,
    }),
  )
}

function offeredGrantTypes(
  { resourceOwner, responseTypes, grantTypes }: Settings,
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
