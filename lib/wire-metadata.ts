import type { RequestHandler } from 'express'
import { metadataDocument } from './express/metadata'
import { serverMetadata } from './metadata/server-metadata'
import type { Settings } from './settings'
import { responseTypes } from './wire-authorization'
import type { ClientEndpoints } from './wire-client-endpoints'

// Without a resource owner there is no code, and so nothing that could be refreshed.
const withoutResourceOwner = new Set(['client_credentials'])

/** Metadata of what the other wirings have put together, so that it promises nothing else. */
export function wireMetadata(settings: Settings, { proof, grantTypes }: ClientEndpoints): RequestHandler {
  const asks = settings.resourceOwner !== undefined
  return metadataDocument(
    serverMetadata({
      ...settings,
      scopes: [...settings.scopes.keys()],
      grantTypes: grantTypes.filter((name) => asks || withoutResourceOwner.has(name)),
      authenticationMethods: proof.strategies.map(({ name }) => name),
      authorization: asks
        ? {
            path: settings.authorizationPath,
            responseTypes: responseTypes.map(({ name }) => name),
            responseModes: [...new Set(responseTypes.map(({ mode }) => mode))],
            codeChallengeMethods: ['S256'],
          }
        : undefined,
    }),
  )
}
