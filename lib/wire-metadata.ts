import type { RequestHandler } from 'express'
import { metadataDocument } from './express/metadata'
import { serverMetadata } from './metadata/server-metadata'
import type { Settings } from './settings'
import type { ClientEndpoints } from './wire-client-endpoints'

// Without a resource owner there is no code, and so nothing that could be refreshed.
const withoutResourceOwner = new Set(['client_credentials'])

/** Metadata of what the other wirings have put together, so that it promises nothing else. */
export function wireMetadata(
  settings: Settings,
  { proof, grantTypes, signingAlgorithms }: ClientEndpoints,
): RequestHandler {
  const asks = settings.resourceOwner !== undefined
  // A grant such as implicit has no place at the token endpoint: its response types bring it.
  const offered = new Set([...grantTypes, ...settings.responseTypes.flatMap((type) => type.grantTypes)])
  return metadataDocument(
    serverMetadata({
      ...settings,
      scopes: [...settings.scopes.keys()],
      grantTypes: [...offered].filter((name) => asks || withoutResourceOwner.has(name)),
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
