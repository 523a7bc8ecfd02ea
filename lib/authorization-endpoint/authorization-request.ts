import type { Client, FindClient } from '../protocol/client'
import { isRecord, isText, isTexts } from '../protocol/configuration'
import {
  type ConsentFact,
  type ConsentTerms,
  dataOf,
  type Extension,
  type ExtensionAuthorizationRequest,
  type ExtensionData,
  isKeepable,
  type Json,
  keepableCure,
} from '../protocol/extension'
import {
  invalidRequest,
  invalidScope,
  unauthorizedClient,
  unsupportedResponseType,
  UnusableClient,
} from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { isRegisteredRedirectUri } from '../protocol/redirect-uri'
import { covers, distinct, grantableScope, type Scope } from '../protocol/scope'
import type { ResponseType, ResponseTypes } from './response-types'

/** A valid and complete authorization request. The resource owner is not known yet. */
export interface ParsedAuthorizationRequest {
  readonly responseType: ResponseType
  readonly scope: Scope
  readonly extensionData: ExtensionData
  /** What extensions add to the consent page. */
  readonly facts: readonly ConsentFact[]
}

/** The rules that an authorization request must meet. */
export interface RequestRules {
  readonly responseTypes: ResponseTypes
  readonly extensions: readonly Extension[]
  /** The scope of a request that names none. */
  readonly defaultScope: Scope
}

/**
 * Checks everything in an authorization request but the client and the redirection URI. The client gets these refusals
 * by redirect.
 *
 * @throws OAuthError for each parameter that is missing, malformed or not allowed.
 */
export function parseAuthorizationRequest(
  { client }: ResolvedRedirectUri,
  parameters: Parameters,
  { responseTypes, extensions, defaultScope }: RequestRules,
): ParsedAuthorizationRequest {
  parameters.check(['response_type', 'response_mode', 'scope', 'state'])
  parameters.check(extensions.flatMap(({ authorizationParameters = [] }) => authorizationParameters))
  const responseType = requireResponseType(client, parameters.require('response_type'), responseTypes)
  requireResponseMode(responseType, parameters.get('response_mode'))
  const scope = grantableScope(parameters.get('scope'), client, defaultScope)
  const request = { client, parameters, responseType }
  const extensionData = extensionDataOf(extensions, request)
  return { responseType, extensionData, ...termsOf(extensions, request, scope, extensionData) }
}

/**
 * Finds the response type of this name, if the client may use it. The registration of a client holds the grant types of
 * each of its response types (RFC 7591 2.1), so a withdrawn grant type withdraws its response types, too.
 *
 * @throws OAuthError `unsupported_response_type`, or `unauthorized_client` if the client has not registered the
 * response type.
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

// OAuth 2.0 Multiple Response Type Encoding Practices 2.1: each response type has one mode here, and a client may name
// it. In another mode than the client expects, a code could end up in a log or be lost.
function requireResponseMode({ mode }: ResponseType, asked: string | undefined): void {
  if (asked !== undefined && asked !== mode)
    throw invalidRequest(
      'response_mode_unsupported',
      'The response mode is not supported for this response type.',
    )
}

function extensionDataOf(
  extensions: readonly Extension[],
  request: ExtensionAuthorizationRequest,
): ExtensionData {
  const entries = extensions.flatMap((extension): [string, Json][] => {
    const value: unknown = extension.atAuthorizationRequest?.(request)
    if (value === undefined) return []
    if (isKeepable(value)) return [[extension.name, value]]
    throw new TypeError(`The data that the extension "${extension.name}" keeps ${keepableCure}`)
  })
  return Object.fromEntries(entries)
}

/** The scope and the facts that the owner approves, after each extension had its say. */
function termsOf(
  extensions: readonly Extension[],
  request: ExtensionAuthorizationRequest,
  requested: Scope,
  extensionData: ExtensionData,
): Required<ConsentTerms> {
  const text = request.parameters.get('scope')
  const requestedScope = text === undefined ? undefined : requested
  let scope = requested
  const facts: ConsentFact[] = []
  for (const extension of extensions) {
    if (extension.atConsent === undefined) continue
    const authorizationData = dataOf(extension.name, extensionData)
    const terms: unknown = extension.atConsent({ ...request, scope, requestedScope, authorizationData })
    if (terms === undefined) continue
    requireTerms(terms, extension.name, scope)
    scope = distinct(terms.scope ?? scope)
    if (scope.length === 0)
      throw invalidScope('scope_exceeded', 'The scope is not available for this request.')
    facts.push(...(terms.facts ?? []))
  }
  return { scope, facts }
}

// Hosts write extensions, also in JavaScript. A mistake must never widen what the owner is asked for.
function requireTerms(terms: unknown, name: string, scope: Scope): asserts terms is ConsentTerms {
  const wrong = (what: string): never => {
    throw new TypeError(`The extension "${name}" returned a wrong result for a consent: ${what}`)
  }
  if (!isRecord(terms) || 'then' in terms) return wrong('it must be an object or undefined, not a promise.')
  const { scope: narrowed, facts, ...others } = terms
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) wrong(`"${unknown}" is not known here.`)
  if (narrowed !== undefined && !(isTexts(narrowed) && covers(scope, narrowed)))
    wrong('scope must be a list of scope tokens, all within the scope of the request.')
  if (facts !== undefined && !(Array.isArray(facts) && facts.every(isFact)))
    wrong('facts must be a list of { name, label, values }, each value with value and description.')
}

const isFact = (fact: unknown) =>
  isRecord(fact) &&
  isText(fact['name']) &&
  isText(fact['label']) &&
  Array.isArray(fact['values']) &&
  fact['values'].every((value) => isRecord(value) && isText(value['value']) && isText(value['description']))

/**
 * The destination of the response to an authorization request. The server redirects only to a destination of this type.
 */
export interface ResolvedRedirectUri {
  readonly client: Client
  readonly redirectUri: string
  /**
   * Whether the request named the redirection URI. If it did, the token request must name the URI, too (RFC 6749
   * 4.1.3).
   */
  readonly redirectUriSent: boolean
}

/**
 * Finds the client and the redirection URI of an authorization request. The resource owner sees these refusals on a
 * page, and the server never redirects them (RFC 6749 4.1.2.1).
 *
 * @param found runs if the client is registered, even if the server refuses the request later.
 * @throws OAuthError `invalid_request`.
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

/**
 * Finds a client that is known and not disabled. Both refusals have the same text, so the text does not show that
 * a disabled client exists.
 *
 * @throws OAuthError `invalid_request`.
 */
export async function requireClient(
  clientId: string,
  findClient: FindClient,
  found?: () => void,
): Promise<Client> {
  let client: Client | undefined
  try {
    client = await findClient(clientId)
  } catch (error) {
    throw refusalOf(error, found)
  }
  if (client === undefined) throw invalidRequest('client_unknown', 'The client is not known here.')
  found?.()
  if (client.disabled) throw invalidRequest('client_disabled', 'The client is not known here.')
  return client
}

// The resource owner sees the refusal of an unusable client. Its identifier is the URL of a document, and no misplaced
// secret: events may name it.
function refusalOf(error: unknown, found: (() => void) | undefined): unknown {
  if (!(error instanceof UnusableClient)) return error
  found?.()
  return error.forPage()
}

// RFC 6749 3.1.2.3: a request may omit the redirection URI only if the client has registered exactly one URI, including
// its query.
function onlyRedirectUri({ redirect_uris, dynamic_redirect_query }: Client): string {
  const [only, second] = redirect_uris
  if (only === undefined || second !== undefined || dynamic_redirect_query)
    throw invalidRequest('redirect_uri_missing', 'The parameter redirect_uri is missing.')
  return only
}

/** Refuses a redirection URI that is not registered for the client, or no longer. @throws OAuthError */
export function requireRedirectUri(client: Client, redirectUri: string): void {
  if (!isRegisteredRedirectUri(client, redirectUri))
    throw invalidRequest('redirect_uri_mismatch', 'The redirect_uri is not registered for the client.')
}
