import type { RequestHandler } from 'express'
import { promptValues } from '../authorization-endpoint/requested-login'
import type { ServerSettings } from '../config/resolve-options'
import type { EndpointOfServer } from '../http/endpoint'
import { metadataDocument } from '../http/metadata-document'
import { methodsIn, type ServerContext } from './create-context'
import { type EndpointOffer, serverMetadata } from '../endpoints/server-metadata'
import { offlineAccess } from '../protocol/scope'
import { hasBody, listedMethods } from '../protocol/endpoint'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import type { PageEndpoint } from '../doors/page-endpoint'

/** Made of the parts that serve requests, so the metadata promises nothing else. */
export function wireMetadata(
  { settings, credentialTerms, plugins, watchHost }: ServerContext,
  endpoints: readonly EndpointOfServer[],
): RequestHandler {
  const asks = settings.resourceOwner !== undefined
  return metadataDocument(
    serverMetadata({
      ...settings,
      endpoints: [...endpoints.map(endpointOffer), ...settings.pages.map(pageOffer)],
      scopes: [
        ...new Set([...grantableScopes(settings), ...(settings.offlineAccess ? [offlineAccess] : [])]),
      ],
      grantTypes: plugins.offeredGrantTypes,
      authenticationMethods: methodsIn(credentialTerms),
      extensionMembers: pluginMembers(settings, asks),
      authorization: asks
        ? {
            path: settings.paths.authorization,
            responseTypes: settings.responseTypes.map(({ name }) => name),
            promptValues,
            responseModes: [
              ...new Set<string>([...settings.responseTypes.map(({ mode }) => mode), 'fragment']),
              ...settings.responseModes.map(({ name }) => name),
            ],
          }
        : undefined,
    }),
    watchHost,
    settings.cors,
  )
}

const endpointOffer = (endpoint: EndpointOfServer): EndpointOffer => ({
  ...endpoint,
  hasForm: endpoint.body !== 'json' && listedMethods(endpoint).some(hasBody),
})

const pageOffer = ({ name, path, listed = false }: PageEndpoint): EndpointOffer => ({
  name,
  path,
  listed,
  clientAuthentication: 'none',
  hasForm: false,
})

// A token is for resources, and has no scope that they lack.
function grantableScopes({ scopes, resources }: ServerSettings): readonly string[] {
  const known = [...scopes.keys()]
  return resources === undefined
    ? known
    : known.filter((scope) =>
        [...resources.all, ...resources.ofPlugins].some((resource) => resource.scopes.includes(scope)),
      )
}

function pluginMembers(
  { endpoints, grantTypes, extensions, clientMetadata }: ServerSettings,
  asks: boolean,
): ExtensionMetadata {
  const aboutRequests = extensions.map(({ authorizationMetadata = {} }) =>
    asks ? authorizationMetadata : {},
  )
  const others = [...endpoints, ...grantTypes, ...extensions].map(({ metadata = {} }) => metadata)
  const members = [...others, ...aboutRequests].flatMap((each) => Object.entries(each))
  // What one plug-in supports, the server supports, whatever another one says.
  const supported = members.filter(([, value]) => value === true)
  return { ...clientMetadata, ...Object.fromEntries([...members, ...supported]) }
}
