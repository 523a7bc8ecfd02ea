import type { RequestHandler } from 'express'
import type { ServerSettings } from '../config/options'
import { offeredGrantTypes } from '../config/plug-ins'
import { metadataDocument } from '../http/metadata'
import { hostWatch } from '../http/transport'
import { serverMetadata } from '../metadata/server-metadata'
import type { ExtensionMetadata } from '../protocol/extension'
import type { Endpoints } from './endpoints'

/** Assembles the metadata from the parts of the server that serve requests, so the metadata promises nothing else. */
export function wireMetadata(
  settings: ServerSettings,
  { table, strategies, grantTypes, signingAlgorithms }: Endpoints,
): RequestHandler {
  const asks = settings.resourceOwner !== undefined
  return metadataDocument(
    serverMetadata({
      ...settings,
      endpoints: [...table.values()].map(({ http }) => http.endpoint),
      scopes: [...settings.scopes.keys()],
      grantTypes: offeredGrantTypes(settings, grantTypes),
      authenticationMethods: strategies.map(({ name }) => name),
      signingAlgorithms,
      extensionMembers: plugInMembers(settings, asks),
      authorization: asks
        ? {
            path: settings.authorizationPath,
            responseTypes: settings.responseTypes.map(({ name }) => name),
            responseModes: [...new Set(settings.responseTypes.map(({ mode }) => mode))],
          }
        : undefined,
    }),
    hostWatch(settings.issuer),
    settings.cors,
  )
}

function plugInMembers(
  { endpoints, grantTypes, extensions, clientMetadata }: ServerSettings,
  asks: boolean,
): ExtensionMetadata {
  const acting = extensions.filter(
    ({ authorizationParameters }) => asks || authorizationParameters === undefined,
  )
  const members = [...endpoints, ...grantTypes, ...acting].map(({ metadata }) => metadata)
  return Object.assign({}, clientMetadata, ...members)
}
