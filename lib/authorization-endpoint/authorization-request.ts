import { aCall, aText, aWhole, oneOf, someTexts } from '../primitives/fields'
import type { DemandedLogin, PendingRequest } from '../authorization/authorization'
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
import type { LoginRequest, ResourceOwner } from '../protocol/resource-owner'
import type { Sender } from '../protocol/sender'
import type { Context, Plugins } from '../doors/context'
import {
  loginParameters,
  missingLogin,
  parseRequestedLogin,
  pastDemand,
  type RequestedLogin,
  withDefaults,
} from './requested-login'
import {
  canonicalResponseType,
  namedMode,
  type NamedMode,
  type NamedModes,
  type ResponseTypeDescription,
  withMode,
} from '../protocol/response-types'
import type { ResponseType } from '../authorization/response-types'

interface RequestTerms {
  readonly scope: Scope
  readonly extensionData: ExtensionData
  readonly facts: readonly ConsentFact[]
  readonly loginDefaults?: LoginDefaults | undefined
  /** Of a login that has to come first; undefined if none has to. */
  readonly demandedClasses?: readonly string[] | undefined
  readonly consent?: AuthorizationTerms['consent']
  readonly questions: readonly {
    readonly extension: string
    readonly ask: NonNullable<AuthorizationTerms['question']>
  }[]
}

interface CheckedRequest extends Pick<
  ExtensionAuthorizationRequest,
  'parameters' | 'responseType' | 'scope'
> {
  readonly destination: Destination
  /** Undefined without a redirection URI. */
  readonly approving: ResponseType | undefined
  readonly mode: NamedMode | undefined
  readonly requestedLogin: RequestedLogin | undefined
}

export interface ParsedAuthorizationRequest
  extends RequestTerms, Pick<CheckedRequest, 'responseType' | 'approving' | 'requestedLogin'> {
  /** Before the page or the decision. */
  readonly missingLogin: LoginRequest | undefined
  readonly proposal: RequestProposal
}

/** The client gets these refusals by redirect, if it has a URI. */
export const parseAuthorizationRequest = (
  destination: Destination,
  parameters: Parameters,
  server: Context,
): Eventual<ParsedAuthorizationRequest> =>
  authorizeRequest(server, checkRequest(destination, parameters, server), undefined, undefined, server.now())

export function checkRequest(
  destination: Destination,
  received: Parameters,
  { settings, plugins }: Context,
): CheckedRequest {
  const { client } = destination
  received.check(destination.redirectUri === undefined ? polledParameters : ownParameters)
  received.check(plugins.authorizationParameters)
  const { responseType, approving, mode } = responseOf(destination, received, plugins)
  const requestedLogin = parseRequestedLogin(received)
  const parameters = withoutIgnoredScope(received, client, plugins.ignoredScope)
  const scope = grantableScope(parameters.get('scope'), client, settings.defaultScope)
  return { destination, parameters, responseType, approving, mode, requestedLogin, scope }
}

/** @param owner undefined if nobody is logged in, or no browser brings the request. */
export function authorizeRequest(
  { settings, plugins }: Context,
  checked: CheckedRequest,
  owner: ResourceOwner | undefined,
  demandedLogin: DemandedLogin | undefined,
  now: number,
): Eventual<ParsedAuthorizationRequest> {
  const { destination, parameters, responseType, approving } = checked
  const { client, redirectUri } = destination
  const demand = pastDemand(demandedLogin, checked.requestedLogin, owner, redirectUri, now)
  const request = { client, parameters, responseType, redirectUri, owner, loginDemandedAt: demand.since }
  return following(termsOf(plugins.authorize, request, checked.scope), (terms) => {
    const requestedLogin = withDefaults(checked.requestedLogin, terms.loginDefaults)
    const { token_type: tokenType = settings.tokenType } = client
    return {
      responseType,
      approving,
      requestedLogin,
      missingLogin: missingLogin(requestedLogin, terms.demandedClasses, owner, demand, now),
      proposal: {
        clientId: client.client_id,
        scope: terms.scope,
        tokenType,
        extensionData: withMode(terms.extensionData, checked.mode),
        request: pendingOf(destination, responseType.name, parameters),
      },
      ...terms,
    }
  })
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
): Pick<CheckedRequest, 'responseType' | 'approving' | 'mode'> {
  if (destination.redirectUri === undefined)
    return { responseType: polledType(destination.grantType), approving: undefined, mode: undefined }
  const { client, redirectUri } = destination
  const isElsewhere = parameters.mentions('request_uri') || parameters.mentions('request')
  if (isElsewhere && parameters.get('response_type') === undefined)
    throw refused('parameter_missing/request', { parameter: 'response_type' })
  const responseType = requireResponseType(client, parameters.require('response_type'), responseTypes)
  const mode = requireResponseMode(responseType, parameters, redirectUri, responseModes)
  return { responseType, approving: responseType, mode }
}

/** For a request whose client polls. */
const polledType = (grantType: string): ResponseTypeDescription => ({
  name: grantType,
  grantTypes: [grantType],
})

const polledParameters: readonly string[] = ['scope', ...loginParameters]
const ownParameters = ['response_type', 'response_mode', 'scope', 'state', ...loginParameters]
const laterParameters = ['redirect_uri', ...ownParameters].filter((name) => name !== 'state')

/** In form encoding: what the server reads once the browser or device is gone. */
export const parametersToKeep = (parameters: Parameters, { plugins }: Context): string =>
  parameters.only([...laterParameters, ...plugins.authorizationParameters]).format()

function termsOf(
  extensions: Plugins['authorize'],
  request: Omit<ExtensionAuthorizationRequest, 'scope'>,
  scope: Scope,
): Eventual<RequestTerms> {
  let terms: Eventual<RequestTerms> = { scope, facts: [], extensionData: {}, questions: [] }
  for (const extension of extensions)
    terms = following(terms, (before) =>
      following<unknown, RequestTerms>(extension.authorize({ ...request, scope: before.scope }), (given) =>
        given === undefined ? before : withTerms(before, given, extension.name),
      ),
    )
  return terms
}

/** RFC 7591 2.1: a withdrawn grant type withdraws its response types. */
export function requireResponseType(
  client: Client,
  name: string,
  responseTypes: Plugins['responseTypes'],
): ResponseType {
  const responseType = responseTypes.get(canonicalResponseType(name))
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
function withTerms(before: RequestTerms, given: unknown, name: string): RequestTerms {
  const subject = `The extension "${name}" returned a wrong result for an authorization request:`
  const terms = requireShape(termsShape, given, subject, before.scope)
  const { data, facts = [], loginDefaults, logIn, consent, question } = terms
  const scope = distinct(terms.scope ?? before.scope)
  if (scope.length === 0) throw unavailableScope(before.scope)
  const { demandedClasses, questions } = before
  return {
    scope,
    facts: [...before.facts, ...facts],
    extensionData: withOwn(name, data, before.extensionData),
    loginDefaults: before.loginDefaults ?? loginDefaults,
    demandedClasses: logIn ? [...(demandedClasses ?? []), ...(logIn.acrValues ?? [])] : demandedClasses,
    consent: before.consent === 'ask' ? 'ask' : (consent ?? before.consent),
    questions: question ? [...questions, { extension: name, ask: question }] : questions,
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
  loginDefaults: optional(
    exactShape<LoginDefaults>({ maxAge: optional(aWhole(0, tenYears)), acrValues: optional(someTexts) }),
  ),
  logIn: optional(exactShape<NonNullable<AuthorizationTerms['logIn']>>({ acrValues: optional(someTexts) })),
  consent: optional(oneOf('approve', 'ask')),
  question: optional(aCall<AuthorizationTerms['question']>()),
})

/** The server redirects only to a destination of this type. */
export interface ResolvedRedirectUri {
  readonly client: Client
  readonly redirectUri: string
  /** The token request must then name the URI, too (RFC 6749 4.1.3). */
  readonly redirectUriSent: boolean
}

/** Without a redirection URI, the client polls, such as a device (RFC 8628). */
export type Destination =
  | ResolvedRedirectUri
  | { readonly client: Client; readonly redirectUri: undefined; readonly grantType: string }

export function destinationOf(client: Client, parameters: Parameters): ResolvedRedirectUri {
  const sent = parameters.get('redirect_uri')
  if (sent !== undefined) requireRedirectUri(client, sent)
  return { client, redirectUri: sent ?? onlyRedirectUri(client), redirectUriSent: sent !== undefined }
}

export interface ClientFinder {
  readonly sender: Sender
  /** For events, even if the server refuses later. Without the client if its metadata is not usable. */
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

// The identifier is the URL of a document, and no misplaced secret.
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
