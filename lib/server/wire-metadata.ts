import type { RequestHandler } from 'express'
import { promptValues } from '../authorization-endpoint/requested-login'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { ServerSettings } from '../config/resolve-options'
import { urlBelow } from '../endpoints/server-urls'
import type { EndpointOfServer } from '../http/endpoint'
import { metadataDocument } from '../http/metadata-document'
import { hasBody, listedMethods } from '../protocol/endpoint'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import { offlineAccess } from '../protocol/scope'
import { methodsIn, type ServerContext } from './create-context'

/** RFC 8414 2. Made of the parts that serve, so it promises nothing else. */
export function wireMetadata(
  { settings, credentialTerms, plugins, watchHost }: ServerContext,
  endpoints: readonly EndpointOfServer[],
): RequestHandler {
  const { issuer, pages, responseTypes, resourceOwner, cors } = settings
  const listed = endpoints.filter((endpoint) => endpoint.listed !== false)
  const named = [...listed, ...pages.filter((page) => page.listed === true)]
  const metadata: ExtensionMetadata = {
    // The suite's members win.
    ...pluginMembers(settings),
    issuer,
    ...Object.fromEntries(named.map(({ name, path }) => [`${name}_endpoint`, urlBelow(issuer, path)])),
    scopes_supported: grantableScopes(settings),
    // RFC 8414 2 requires it, and clients insist.
    response_types_supported: resourceOwner === undefined ? [] : responseTypes.map(({ name }) => name),
    grant_types_supported: plugins.offeredGrantTypes,
    ...authenticationMembers(listed, methodsIn(credentialTerms)),
    ...(resourceOwner !== undefined && authorizationMembers(settings)),
  }
  return metadataDocument(metadata, watchHost, cors)
}

function authenticationMembers(
  endpoints: readonly EndpointOfServer[],
  offered: readonly ClientAuthenticationMethod[],
): ExtensionMetadata {
  const members: Record<string, readonly string[]> = {}
  for (const endpoint of endpoints) {
    if (endpoint.clientAuthentication === 'none') continue
    const methods = offered.filter((method) => isUsableAt(endpoint, method))
    const prefix = `${endpoint.name}_endpoint_auth`
    members[`${prefix}_methods_supported`] = methods.map(({ name }) => name)
    // RFC 8414 2.
    const algorithms = methods.flatMap((method) => method.signingAlgorithms ?? [])
    if (algorithms.length > 0) members[`${prefix}_signing_alg_values_supported`] = [...new Set(algorithms)]
  }
  return members
}

function isUsableAt(endpoint: EndpointOfServer, { name, scheme }: ClientAuthenticationMethod): boolean {
  if (name === 'none' && endpoint.clientAuthentication === 'confidential') return false
  // Without a form, only the `Authorization` header is left.
  return scheme !== undefined || (endpoint.body !== 'json' && listedMethods(endpoint).some(hasBody))
}

function authorizationMembers(settings: ServerSettings): ExtensionMetadata {
  const { issuer, paths, responseTypes, responseModes } = settings
  const modes = new Set<string>([...responseTypes.map(({ mode }) => mode), 'fragment'])
  return {
    authorization_endpoint: urlBelow(issuer, paths.authorization),
    response_modes_supported: [...modes, ...responseModes.map(({ name }) => name)],
    // Initiating User Registration via OpenID Connect 1.0, 4.1.
    prompt_values_supported: promptValues,
    // RFC 9207 3.
    authorization_response_iss_parameter_supported: true,
  }
}

// A token is for resources.
function grantableScopes({ scopes, resources, ...settings }: ServerSettings): readonly string[] {
  const ofResources = resources && [...resources.all, ...resources.ofPlugins].flatMap((each) => each.scopes)
  const known = [...scopes.keys()].filter((scope) => ofResources?.includes(scope) !== false)
  return [...new Set(settings.offlineAccess ? [...known, offlineAccess] : known)]
}

function pluginMembers(settings: ServerSettings): ExtensionMetadata {
  const { endpoints, grantTypes, extensions, clientMetadata, resourceOwner } = settings
  const aboutRequests = resourceOwner && extensions.map((each) => each.authorizationMetadata)
  const others = [...endpoints, ...grantTypes, ...extensions].map(({ metadata }) => metadata)
  const members = [...others, ...(aboutRequests ?? [])].flatMap((each) => Object.entries(each ?? {}))
  const supported = members.filter(([, value]) => value === true)
  return { ...clientMetadata, ...Object.fromEntries([...members, ...supported]) }
}
