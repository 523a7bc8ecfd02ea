import { isKeepable, keepableCure, type ExtensionData, type Json } from '../protocol/bindings'
import type { Client } from '../protocol/client'
import type { ExtensionAuthorizationRequest, Extension } from '../protocol/extension'
import { grantableScope } from '../protocol/grantable-scope'
import { unauthorizedClient, unsupportedResponseType } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import type { Scope } from '../protocol/scope'
import type { ResolvedRedirectUri } from './destination'
import type { ResponseType, ResponseTypes } from './response-type'

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
