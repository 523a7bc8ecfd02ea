import type { RequestHandler } from 'express'
import type { ServerSettings } from '../config/options'
import { offeredGrantTypes } from '../config/plug-ins'
import { type EndpointRow, hasForm } from '../http/endpoint'
import { metadataDocument } from '../http/metadata'
import { hostWatch } from '../http/transport'
import { type EndpointOffer, serverMetadata } from '../metadata/server-metadata'
import { listedMethods } from '../protocol/endpoint'
import type { ExtensionMetadata } from '../protocol/extension'
import type { Endpoints } from './endpoints'

/** Assembles the metadata from the parts of the server that serve requests, so the metadata promises nothing else. */
export function wireMetadata(
  settings: ServerSettings,
  { table, methods, grantTypes }: Endpoints,
): RequestHandler {
  const asks = settings.resourceOwner !== undefined
  return metadataDocument(
    serverMetadata({
      ...settings,
      endpoints: [...table.values()].map(({ http }) => endpointOffer(http.endpoint)),
      scopes: grantableScopes(settings),
      grantTypes: offeredGrantTypes(settings, grantTypes),
      authenticationMethods: methods,
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

const endpointOffer = (endpoint: EndpointRow): EndpointOffer => ({
  ...endpoint,
  hasForm: listedMethods(endpoint).some((method) => hasForm(endpoint, method)),
})

// A token is for resources, and has no scope that they lack.
function grantableScopes({ scopes, resources }: ServerSettings): readonly string[] {
  const known = [...scopes.keys()]
  return resources === undefined
    ? known
    : known.filter((scope) => resources.all.some((resource) => resource.scopes.includes(scope)))
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
