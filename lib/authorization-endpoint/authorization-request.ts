import { aText, aWhole, someTexts } from '../primitives/fields'
import type { PendingRequest } from '../authorization/authorization'
import type { RequestProposal } from '../authorization/requested'
import { attempt, type Eventual, following } from '../primitives/concurrency'
import type { Client, FindClient } from '../protocol/client'
import { exactShape, optional, requireShape, rows, shape } from '../primitives/schema'
import { tenYears } from '../primitives/values'
import type {
  AuthorizationTerms,
  ConsentFact,
  ExtensionAuthorizationRequest,
  LoginDefaults,
} from '../protocol/extension'
import { type ExtensionData, withOwn } from '../protocol/extension-data'
import { keepable } from '../protocol/json'
import { refused, UnusableClient } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'
import { isRegisteredRedirectUri } from '../protocol/redirect-uri'
import {
  distinct,
  grantableScope,
  type Scope,
  scopeWithin,
  unavailableScope,
  withoutIgnoredScope,
} from '../protocol/scope'
import type { Sender } from '../protocol/sender'
import type { Context } from '../doors/context'
import type { Plugins } from '../doors/plug-ins'
import { loginParameters, parseRequestedLogin, type RequestedLogin, withDefaults } from './requested-login'
import {
  namedMode,
  type NamedMode,
  type NamedModes,
  type ResponseTypeDescription,
  withMode,
} from '../protocol/response-types'
import type { ResponseType, ResponseTypes } from '../authorization/response-types'

interface RequestContent {
  readonly scope: Scope
  readonly extensionData: ExtensionData
  readonly facts: readonly ConsentFact[]
  /** What the request itself does not say. */
  readonly loginDefaults: LoginDefaults | undefined
}

export interface ParsedAuthorizationRequest extends RequestContent {
  readonly responseType: ResponseTypeDescription
  /** The same one. Undefined without a redirection URI: nothing approves the request without its page. */
  readonly approving: ResponseType | undefined
  readonly requestedLogin: RequestedLogin | undefined
  /** For the record. */
  readonly proposal: RequestProposal
}

/** Checks all but the client and the redirection URI. The client gets these refusals by redirect, if it has a URI. */
export function parseAuthorizationRequest(
  destination: Destination,
  parameters: Parameters,
  server: Context,
): Eventual<ParsedAuthorizationRequest> {
  const { plugins } = server
  const { client } = destination
  parameters.check(destination.redirectUri === undefined ? polledParameters : ownParameters)
  parameters.check(plugins.authorizationParameters)
  const { responseType, approving, mode } = responseOf(destination, parameters, plugins)
  const ownLogin = parseRequestedLogin(parameters)
  return following(
    contentOf({ client, parameters, responseType, redirectUri: destination.redirectUri }, server),
    (content) => {
      const { scope, loginDefaults } = content
      const extensionData = withMode(content.extensionData, mode)
      const requestedLogin = withDefaults(ownLogin, loginDefaults)
      const { token_type: tokenType = server.settings.tokenType } = client
      const request = pendingOf(destination, responseType.name, parameters)
      const proposal = { clientId: client.client_id, scope, tokenType, extensionData, request }
      return { ...content, responseType, approving, requestedLogin, extensionData, proposal }
    },
  )
}

function pendingOf(
  destination: Destination,
  responseType: string,
  parameters: Parameters,
): PendingRequest | undefined {
  if (destination.redirectUri === undefined) return undefined
  const { redirectUri, redirectUriSent } = destination
  return { responseType, redirectUri, redirectUriSent, requestState: parameters.get('state') }
}

function responseOf(
  destination: Destination,
  parameters: Parameters,
  { responseTypes, responseModes }: Plugins,
): Pick<ParsedAuthorizationRequest, 'responseType' | 'approving'> & { readonly mode: NamedMode | undefined } {
  if (destination.redirectUri === undefined)
    return { responseType: polledType(destination.grantType), approving: undefined, mode: undefined }
  const { client, redirectUri } = destination
  const responseType = requireResponseType(client, parameters.require('response_type'), responseTypes)
  const mode = requireResponseMode(responseType, parameters, redirectUri, responseModes)
  return { responseType, approving: responseType, mode }
}

/** What extensions see of a request whose client polls. */
export const polledType = (grantType: string): ResponseTypeDescription => ({
  name: grantType,
  grantTypes: [grantType],
})

export const polledParameters: readonly string[] = ['scope', ...loginParameters]
const ownParameters = ['response_type', 'response_mode', 'scope', 'state', ...loginParameters]

function contentOf(
  { client, parameters: received, responseType, redirectUri }: Omit<ExtensionAuthorizationRequest, 'scope'>,
  { settings: { defaultScope }, plugins: { authorize, ignoredScope } }: Context,
): Eventual<RequestContent> {
  const parameters = withoutIgnoredScope(received, client, ignoredScope)
  const scope = grantableScope(parameters.get('scope'), client, defaultScope)
  const request = { client, parameters, responseType, redirectUri }
  let content: Eventual<RequestContent> = { scope, facts: [], extensionData: {}, loginDefaults: undefined }
  for (const extension of authorize)
    content = following(content, (before) =>
      following<unknown, RequestContent>(extension.authorize({ ...request, scope: before.scope }), (terms) =>
        terms === undefined ? before : withTerms(before, terms, extension.name),
      ),
    )
  return content
}

/**
 * RFC 7591 2.1: a client has registered the grant types of its response types, so a withdrawn grant type withdraws
 * them.
 */
export function requireResponseType(
  client: Client,
  name: string,
  responseTypes: ResponseTypes,
): ResponseType {
  const responseType = responseTypes.get(name)
  if (responseType === undefined) throw refused('response_type_unknown')
  if (!client.response_types.includes(responseType.name)) throw refused('response_type_not_registered')
  return responseType
}

// OAuth 2.0 Multiple Response Type Encoding Practices 2.1. A token never goes into a query.
function requireResponseMode(
  { mode, grantTypes }: ResponseType,
  parameters: Parameters,
  redirectUri: string,
  modes: NamedModes,
): NamedMode | undefined {
  const asked = parameters.get('response_mode')
  if (asked === undefined || asked === mode) return undefined
  const named = namedMode(modes, asked, redirectUri)
  if (named === undefined) {
    const name = modes.has(asked) ? 'response_mode_unsupported/redirect_uri' : 'response_mode_unsupported'
    throw refused(name, { sent: asked, redirect_uri: redirectUri })
  }
  // RFC 9700 2.1.1: scripts read a fragment, and with PKCE the code is of no use to them.
  const isCodeInFragment = named.carrier === 'fragment' && grantTypes.includes('authorization_code')
  if (isCodeInFragment && parameters.get('code_challenge') === undefined)
    throw refused('pkce_challenge_missing')
  return named
}

// A mistake of a host must never widen what the owner is asked for.
function withTerms(before: RequestContent, given: unknown, name: string): RequestContent {
  const subject = `The extension "${name}" returned a wrong result for an authorization request:`
  const { data, facts = [], login, ...terms } = requireShape(termsShape, given, subject, before.scope)
  const scope = distinct(terms.scope ?? before.scope)
  if (scope.length === 0) throw unavailableScope(before.scope)
  return {
    scope,
    facts: [...before.facts, ...facts],
    extensionData: withOwn(name, data, before.extensionData),
    loginDefaults: before.loginDefaults ?? login,
  }
}

const factShape = shape<ConsentFact>({
  name: aText,
  label: aText,
  values: rows(shape({ value: aText, description: aText }), '{ value, description }'),
})

const termsShape = exactShape<AuthorizationTerms, Scope>({
  data: optional(keepable),
  scope: scopeWithin('the scope of the request'),
  facts: rows(factShape, '{ name, label, values }'),
  login: optional(
    exactShape<LoginDefaults>({ maxAge: optional(aWhole(0, tenYears)), acrValues: optional(someTexts) }),
  ),
})

/** The server redirects only to a destination of this type. */
export interface ResolvedRedirectUri {
  readonly client: Client
  readonly redirectUri: string
  /** If so, the token request must name the URI, too (RFC 6749 4.1.3). */
  readonly redirectUriSent: boolean
}

/** A request without a redirection URI, such as of a device (RFC 8628). */
interface PolledDestination {
  readonly client: Client
  readonly redirectUri: undefined
  /** Of the polls. */
  readonly grantType: string
}

export type Destination = ResolvedRedirectUri | PolledDestination

export function destinationOf(client: Client, parameters: Parameters): ResolvedRedirectUri {
  const sent = parameters.get('redirect_uri')
  if (sent !== undefined) requireRedirectUri(client, sent)
  return { client, redirectUri: sent ?? onlyRedirectUri(client), redirectUriSent: sent !== undefined }
}

/** Hears of a client that is registered, even if the server refuses the request later. */
export interface ClientFinder {
  readonly sender: Sender
  /** Without the client if its metadata is not usable. */
  clientFound(client?: Client): void
}

/** The same text hides that a disabled client exists. */
export function requireClient(
  clientId: string,
  findClient: FindClient,
  finder: ClientFinder,
): Eventual<Client> {
  const found = attempt(
    () => findClient(clientId, finder.sender),
    (thrown) => {
      throw refusalOf(thrown, finder)
    },
  )
  return following(found, (client) => {
    if (client === undefined) throw refused('client_unknown', { client_id: abridged(clientId) })
    finder.clientFound(client)
    if (client.disabled) throw refused('client_disabled')
    return client
  })
}

// An unknown identifier may be a misplaced secret, so its beginning must do.
const abridged = (clientId: string) => `${clientId.slice(0, 4)}… (${clientId.length} characters)`

// The identifier of an unusable client is the URL of a document, and no misplaced secret: events may name it.
function refusalOf(error: unknown, finder: ClientFinder): unknown {
  if (!(error instanceof UnusableClient)) return error
  finder.clientFound()
  return error.forPage()
}

// RFC 6749 3.1.2.3: optional only if the client has registered exactly one URI, including its query.
function onlyRedirectUri({ redirect_uris, dynamic_redirect_query }: Client): string {
  const [only, second] = redirect_uris
  if (only === undefined || second !== undefined || dynamic_redirect_query)
    throw refused('redirect_uri_missing', { registered: redirect_uris })
  return only
}

export function requireRedirectUri(client: Client, redirectUri: string): void {
  if (!isRegisteredRedirectUri(client, redirectUri))
    throw refused('redirect_uri_mismatch', { sent: redirectUri, registered: client.redirect_uris })
}
