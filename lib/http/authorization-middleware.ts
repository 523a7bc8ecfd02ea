import { handler } from './router'
import type { Request, RequestHandler, Response } from 'express'
import { carryRequestId } from '../audit/audit-log'
import { requestNotOpen } from '../authorization/decision'
import type { Redirection } from '../authorization-endpoint/authorization-response'
import { authorize, type Host } from '../authorization-endpoint/authorize'
import { queryAfterLogin } from '../authorization-endpoint/login-return'
import { parsePriorConsent, type PriorConsentQuestion } from '../authorization-endpoint/prior-consent'
import { parseSelection } from '../protocol/selection'
import type { ServerContext } from '../server/context'
import { consentTokenField, showConsent, showError } from './consent'
import { decide, findAskingClient } from '../authorization-endpoint/decide'
import type { Client } from '../protocol/client'
import { type LoginRequest, loginQueryOf, plainLogin } from '../protocol/login-request'
import type { OAuthError } from '../protocol/oauth-error'
import { refused, unexpected } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'
import { appendToQuery, isInsecure } from '../protocol/redirect-uri'
import { loginOf, parseResourceOwner, type ResourceOwner } from '../protocol/resource-owner'
import { warnOfLoginFormAction } from './form-action'
import { loginLoop } from './login-loop'
import { keepOpener, warnOfLoginOpener } from './opener-policy'
import type { PageLocale } from '../pages/texts/locale'
import {
  answeredPage,
  answeredViewOf,
  continuePage,
  insecureRedirectPage,
  unverifiedPage,
} from '../pages/pages'
import { submitScriptSource } from '../pages/submit-script'
import { fieldsOf, leavesBody, queryOf, wantsJson } from './request'
import { localeOf, noteClient, noteUiLocales } from './page-context'
import { closing } from './requests-in-flight'
import { senderOf } from './sender-of'
import { errorPageOf, formTargetsOf, privatePage, redirectTo, sendJson, sendPage } from './response'
import { requireTls } from './transport'

/** RFC 6749 3.1. */
export function authorizationEndpoint(server: ServerContext): RequestHandler {
  return handler((request, response) =>
    serve(openOrClosing(server, request, response), request, response).catch((error: unknown) =>
      showErrorToOwner(server, request, response, unexpected(error)),
    ),
  )
}

async function serve(server: ServerContext, request: Request, response: Response): Promise<void> {
  const { settings, networkLimits } = server
  // No HEAD: a link checker would leave a record in the store.
  if (request.method !== 'GET' && request.method !== 'POST') {
    const refusal = { code: 'invalid_request', reason: 'method_not_allowed' }
    server.audit.reportRefusal({ request, response, endpoint: 'authorization' }, refusal)
    response.writeHead(405, { Allow: 'GET, POST', 'Content-Length': 0 }).end()
    return
  }
  if (networkLimits.authorization !== undefined) await networkLimits.authorization(request, response)
  requireTls(request, settings.tlsRequired)
  server.watchHost(request)
  if (request.method === 'GET') {
    // Another site must neither read the view nor leave a record in the store.
    if (wantsJson(request) && !isFromOwnSite(request, settings.issuer))
      throw refused('decision_cross_site/json')
    return takeRequest(server, request, response, queryOf(request))
  }
  const form = await fieldsOf(request, settings.bodyDeadline, isDecision)
  if (isDecision(form)) return takeDecision(server, request, response, form)
  if (lacksConsentToken(form)) throw refused('decision_fields_missing')
  const isRequest = form.mentions('client_id')
  if (isRequest && lacksLaxCookies(request) && form.format().length <= longestQuery) {
    keepOpener(server, response)
    return repeatByGet(server, settings.authorizationPath, response, form)
  }
  return takeRequest(server, request, response, form)
}

// A cross-site form carries no `SameSite=Lax` cookie: the owner would have to log in again. OpenID Connect
// Core 3.1.2.1 allows `POST`.
const lacksLaxCookies = ({ headers }: Request) => headers['sec-fetch-site'] === 'cross-site'

// In characters. Servers and proxies take request lines of 8 KiB.
const longestQuery = 7000

export function repeatByGet(
  { settings }: ServerContext,
  path: string,
  response: Response,
  form: Parameters,
): void {
  const query = form.format()
  if (query.length > longestQuery) throw refused('parameter_too_long/form')
  redirectTo(response, `${settings.mount}${path}?${query}`)
}

async function takeRequest(
  server: ServerContext,
  request: Request,
  response: Response,
  parameters: Parameters,
): Promise<void> {
  server.audit.note(request, { claimedClientId: parameters.peek('client_id') })
  noteUiLocales(request, parameters)
  warnOfLoginOpener(server, request, response)
  const host: Host = {
    sender: senderOf(server, request),
    clientFound: (client) => {
      server.audit.note(request, { isRegistered: true })
      if (client !== undefined) noteClient(request, client)
    },
    parametersReplaced: (replaced) => noteUiLocales(request, replaced),
    resourceOwner: () => ownerOf(server, request),
    skipConsent: (question) => isApproved(server, request, question),
    choices: async (question) => server.settings.choices?.(request, question),
    logIn: async (demand) => {
      const asked = demand?.request ?? plainLogin
      const query = queryAfterLogin(parameters, server.now(), demand?.reference)
      if (query === undefined) return loginLoop(request, server.audit.diagnosis !== undefined, asked.again)
      const { authorizationPath } = server.settings
      keepOpener(server, response)
      await logIn(server, request, response, `${authorizationPath}?${query}`, asked)
      return undefined
    },
    ask: async (question) => {
      await showConsent(server, request, response, question)
    },
  }
  const outcome = await authorize(server, parameters, host, server.audit.onCommitted(request))
  if (outcome.kind === 'refused') throw outcome.error
  if (outcome.kind !== 'redirect') return
  // The login's policy applies to redirects, not to a form of another page.
  if (outcome.fields === undefined)
    warnOfLoginFormAction(request, response, outcome.location, server.settings.issuer)
  answerClient(server, request, response, outcome)
}

function isDecision(form: Parameters): boolean {
  return form.mentions(consentTokenField)
}

// A host's page that sends only its buttons. A client's request has `client_id`, and may have an ignored
// `decision` (RFC 6749 3.1).
const lacksConsentToken = (form: Parameters) => form.mentions('decision') && !form.mentions('client_id')

async function takeDecision(
  server: ServerContext,
  request: Request,
  response: Response,
  form: Parameters,
): Promise<void> {
  if (!isFromOwnSite(request, server.settings.issuer)) throw refused('decision_cross_site')
  noteUiLocales(request, form)
  const consentToken = form.require(consentTokenField)
  server.audit.note(request, { shown: consentToken })
  const approved = isApproval(form.require('decision'))
  const selection = approved ? parseSelection(form) : undefined
  const ownerReadAt = server.now()
  const ownerReadMoment = server.consents?.moment()
  const owner = await ownerOf(server, request)
  const sender = senderOf(server, request)
  const clientFound = (client?: Client) => client && noteClient(request, client)
  if (owner === undefined) {
    // The page leads back to the client, to begin again.
    clientFound(await findAskingClient(server, consentToken, sender))
    throw refused('owner_not_logged_in')
  }
  const { subject } = owner
  const decision = {
    consentToken,
    approved,
    subject,
    login: loginOf(owner),
    ownerReadAt,
    ownerReadMoment,
    selection,
    sender,
    clientFound,
  }
  const outcome = await decide(server, decision, server.audit.onCommitted(request))
  if (outcome.kind === 'refused') throw outcome.error
  if (outcome.kind === 'done' && wantsJson(request)) throw requestNotOpen()
  if (outcome.kind === 'done') {
    const page = answeredPage(answeredViewOf(outcome.client), localeOf(server, request))
    return sendPage(response, 200, page, server.settings.pageLocales)
  }
  answerClient(server, request, response, outcome, wantsJson(request))
}

function isApproval(decision: string): boolean {
  if (decision === 'approve') return true
  if (decision === 'deny') return false
  throw refused('decision_unknown')
}

/** As far as the browser reports it: a second protection besides the consent token, which no other site knows. */
export function isFromOwnSite({ headers }: Request, issuer: string): boolean {
  const { 'sec-fetch-site': site, origin } = headers
  // For browsers without `Sec-Fetch-Site`: under `no-referrer`, helmet's default, even this site sends
  // `null`.
  return site === undefined
    ? origin === undefined || origin === 'null' || origin === new URL(issuer).origin
    : site === 'same-origin' || site === 'none'
}

function openOrClosing(server: ServerContext, request: Request, response: Response): ServerContext {
  if (server.requests.enter(request, response)) return server
  return { ...server, requireService: () => Promise.reject(closing()) }
}

export async function ownerOf(server: ServerContext, request: Request): Promise<ResourceOwner | undefined> {
  let found: unknown
  try {
    found = await server.settings.resourceOwner?.(request)
  } catch (thrown) {
    throw lacksSession(request, thrown) ? noSession(thrown) : thrown
  }
  return parseResourceOwner(found)
}

// The engine's error does not name the session.
const lacksSession = (request: Request, thrown: unknown): thrown is TypeError =>
  thrown instanceof TypeError &&
  /^Cannot (?:read|destructure) propert/.test(thrown.message) &&
  Reflect.get(request, 'session') === undefined

const noSession = (cause: TypeError): TypeError =>
  new TypeError(
    `${cause.message}. The request has no session: if the option resourceOwner reads req.session, mount the session middleware before oauth.router().`,
    { cause },
  )

async function isApproved(
  { settings: { skipConsent } }: ServerContext,
  request: Request,
  question: PriorConsentQuestion,
): Promise<boolean> {
  return skipConsent !== undefined && parsePriorConsent(await skipConsent(request, question))
}

/**
 * Before plain HTTP, and before a stranger to whom the owner has not agreed to go, a page warns.
 *
 * @param inJson whether a host's page sent the decision and goes to the client itself.
 */
function answerClient(
  server: ServerContext,
  request: Request,
  response: Response,
  redirection: Redirection,
  inJson = false,
): void {
  const { location, fields, error, clientId } = redirection
  // The host's page failed after its headers: only the host's error handling can act.
  if (error !== undefined && response.headersSent) throw error
  const { audit } = server
  const audited = { request, response, endpoint: 'authorization', clientId } as const
  if (error !== undefined) audit.reportError(audited, error)
  else carryRequestId(response, audit.reportSuccess(audited))
  // A script that followed a redirect would use up the client's code.
  if (inJson)
    return sendJson(
      response,
      200,
      fields === undefined ? { redirect_to: location } : { post_to: location, fields },
      privatePage,
    )
  keepOpener(server, response)
  const page = pageBefore(server, request, redirection)
  if (page === undefined) return redirectTo(response, location)
  response.set(page.headers)
  sendPage(
    response,
    page.status,
    page.html,
    server.settings.pageLocales,
    fields && formTargetsOf(location),
    page.scriptSource,
  )
}

interface PageBefore {
  readonly html: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly scriptSource?: string
}

function pageBefore(
  server: ServerContext,
  request: Request,
  { location, fields, error, asksOwner, redirectBy }: Redirection,
): PageBefore | undefined {
  const approved = error === undefined
  const way = { location, fields }
  // RFC 6749 3.1.2.1. Checks the URI itself: also one that slipped past registration.
  if (isInsecure(location))
    return inPlace(insecureRedirectPage({ ...way, granted: approved }, localeOf(server, request)))
  if (asksOwner === true && !approved) return linkBefore(way, error, localeOf(server, request))
  if (fields === undefined && redirectBy === 'location') return undefined
  const page = inPlace(continuePage({ ...way, approved }, localeOf(server, request)))
  return fields === undefined ? page : { ...page, scriptSource: submitScriptSource }
}

const inPlace = (html: string): PageBefore => ({ html, status: 200, headers: {} })

/** The page of a refusal is the complete answer. Trouble keeps its status: the request may succeed later. */
function linkBefore(
  way: Pick<Redirection, 'location' | 'fields'>,
  error: OAuthError,
  locale: PageLocale,
): PageBefore {
  const { status, headers, isTrouble } = errorPageOf(error)
  if (!isTrouble) return inPlace(unverifiedPage({ ...way, cause: 'refusal' }, locale))
  return { html: unverifiedPage({ ...way, cause: 'trouble' }, locale), status, headers }
}

/** A refusal gets a page; a failure of the server goes to the host's error handling. */
export function showErrorToOwner(
  server: ServerContext,
  request: Request,
  response: Response,
  error: OAuthError,
  endpoint = 'authorization',
): unknown {
  const requestId = server.audit.reportError({ request, response, endpoint }, error)
  if (error.code === 'server_error') throw error.cause ?? error
  if (leavesBody(error) && !response.headersSent) response.setHeader('Connection', 'close')
  return showError(server, request, response, error, requestId)
}

/**
 * A login at a path gets the way back in `return_to`, and the terms in parameters of OpenID Connect.
 *
 * @param path below the issuer, with its query.
 */
export function logIn(
  { settings: { login, mount } }: ServerContext,
  request: Request,
  response: Response,
  path: string,
  asked: LoginRequest,
): unknown {
  const returnTo = mount + path
  if (typeof login === 'function') return login(request, response, returnTo, asked)
  return redirectTo(response, appendToQuery(login, { return_to: returnTo, ...loginQueryOf(asked) }))
}
