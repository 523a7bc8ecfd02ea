import type { Client, FindClient } from '../protocol/client'
import {
  type Extension,
  type ExtensionAuthorizationRequest,
  type ExtensionData,
  isKeepable,
  type Json,
  keepableCure,
} from '../protocol/extension'
import { invalidRequest, unauthorizedClient, unsupportedResponseType } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { isRegisteredRedirectUri } from '../protocol/redirect-uri'
import { grantableScope, type Scope } from '../protocol/scope'
import type { ResponseType, ResponseTypes } from './response-types'

/** A valid and complete authorization request; whose it is remains to be seen. */
export interface ParsedAuthorizationRequest {
  readonly responseType: ResponseType
  readonly scope: Scope
  readonly extensionData: ExtensionData
}

/** What an authorization request is held against. */
export interface RequestRules {
  readonly responseTypes: ResponseTypes
  readonly extensions: readonly Extension[]
  /** What a request asks for that names no scope. */
  readonly defaultScope: Scope
}

/**
 * The second phase of an authorization request: everything but client and redirection URI. What fails here is told to
 * the client by redirect.
 *
 * @throws OAuthError
 */
export function parseAuthorizationRequest(
  { client }: ResolvedRedirectUri,
  parameters: Parameters,
  { responseTypes, extensions, defaultScope }: RequestRules,
): ParsedAuthorizationRequest {
  parameters.check(['response_type', 'scope', 'state'])
  parameters.check(extensions.flatMap(({ authorizationParameters = [] }) => authorizationParameters))
  const responseType = requireResponseType(client, parameters.require('response_type'), responseTypes)
  const scope = grantableScope(parameters.get('scope'), client, defaultScope)
  return {
    responseType,
    scope,
    extensionData: extensionDataOf(extensions, { client, parameters, responseType }),
  }
}

/**
 * The response type that a client asks for by this name, if it may. RFC 7591 2.1: its registration holds the grant types
 * of each response type, so that one withdrawn takes the other along.
 *
 * @throws OAuthError
 */
export function requireResponseType(
  client: Client,
  name: string,
  responseTypes: ResponseTypes,
): ResponseType {
  const responseType = responseTypes.get(name)
  if (responseType === undefined)
    throw unsupportedResponseType('response_type_unknown', 'The response type is not supported.')
  if (!client.response_types.includes(responseType.name))
    throw unauthorizedClient('response_type_not_registered', 'The client may not use this response type.')
  return responseType
}

function extensionDataOf(
  extensions: readonly Extension[],
  request: ExtensionAuthorizationRequest,
): ExtensionData {
  const entries = extensions.flatMap((extension): [string, Json][] => {
    const value: unknown = extension.atAuthorizationRequest?.(request)
    if (value === undefined) return []
    if (isKeepable(value)) return [[extension.name, value]]
    throw new TypeError(`What the extension "${extension.name}" keeps ${keepableCure}`)
  })
  return Object.fromEntries(entries)
}

/** Where the answer to an authorization request goes. Only who holds one may redirect. */
export interface ResolvedRedirectUri {
  readonly client: Client
  readonly redirectUri: string
  /** Whether the request named it: then the token request must, too (RFC 6749 4.1.3). */
  readonly redirectUriSent: boolean
}

/**
 * The first phase of an authorization request: client and redirection URI. What fails here is told to the resource
 * owner and never redirected (RFC 6749 4.1.2.1).
 *
 * @param found hears that the client is registered, whatever becomes of the request.
 * @throws OAuthError
 */
export async function resolveRedirectUri(
  parameters: Parameters,
  findClient: FindClient,
  found?: () => void,
): Promise<ResolvedRedirectUri> {
  const clientId = parameters.require('client_id')
  const sent = parameters.get('redirect_uri')
  const client = await requireClient(clientId, findClient, found)
  if (sent !== undefined) requireRedirectUri(client, sent)
  return { client, redirectUri: sent ?? onlyRedirectUri(client), redirectUriSent: sent !== undefined }
}

/** The client, if it may use the authorization endpoint at all; a disabled one is as good as unknown. @throws OAuthError */
export async function requireClient(
  clientId: string,
  findClient: FindClient,
  found?: () => void,
): Promise<Client> {
  const client = await findClient(clientId)
  if (client === undefined) throw invalidRequest('client_unknown', 'The client is not known here.')
  found?.()
  if (client.disabled) throw invalidRequest('client_disabled', 'The client is not known here.')
  return client
}

// RFC 6749 3.1.2.3: with several registered URIs, with none, or with one in part, the request must name one.
function onlyRedirectUri({ redirect_uris, dynamic_redirect_query }: Client): string {
  const [only, second] = redirect_uris
  if (only === undefined || second !== undefined || dynamic_redirect_query)
    throw invalidRequest('redirect_uri_missing', 'The parameter redirect_uri is missing.')
  return only
}

/** Refuses a redirection URI that is not, or no longer, the client's. @throws OAuthError */
export function requireRedirectUri(client: Client, redirectUri: string): void {
  if (!isRegisteredRedirectUri(client, redirectUri))
    throw invalidRequest('redirect_uri_mismatch', 'The redirect_uri is not registered for the client.')
}
