import { handler } from './router'
import type { Request, RequestHandler, Response } from 'express'
import { carryRequestId } from '../audit/audit-log'
import { requestNotOpen } from '../authorization/requested'
import type { Redirection } from '../authorization-endpoint/authorization-response'
import {
  authorize,
  type AuthorizationOutcome,
  type Host,
  type LoginDemand,
  type Question,
} from '../authorization-endpoint/authorize'
import { queryAfterLogin } from '../authorization-endpoint/login-return'
import { parsePriorConsent, type PriorConsentQuestion } from '../authorization-endpoint/prior-consent'
import type { ChoicesQuestion } from '../protocol/extension'
import { parseSelection } from '../protocol/selection'
import type { Edge } from './edge'
import { consentTokenField, showConsent, showError } from './consent'
import { decide, type DecisionOutcome, findAskingClient } from '../authorization-endpoint/decide'
import { type Eventual, following, isLater } from '../primitives/eventual'
import type { Client } from '../protocol/client'
import { type LoginRequest, loginQueryOf } from '../protocol/login-request'
import type { OAuthError } from '../protocol/oauth-error'
import { refused, unexpected } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'
import { appendToQuery, isInsecure } from '../protocol/redirect-uri'
import type { Sender } from '../protocol/sender'
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
import { takesMethod } from './methods'
import { localeOf, noteUiLocales } from './page-context'
import { closing } from './requests-in-flight'
import { senderOf } from './sender-of'
import { errorPageOf, formTargetsOf, privatePage, redirectTo, sendJson, sendPage } from './response'
import { requireTls } from './transport'

/** RFC 6749 3.1. */
export const authorizationEndpoint = (server: Edge): RequestHandler =>
  handler((request, response) => serve(openOrClosing(server, request, response), request, response))

async function serve(server: Edge, request: Request, response: Response): Promise<unknown> {
  const { settings, networkLimits } = server
  const { method } = request
  if (!takesMethod(server, 'authorization', ['GET', 'POST'], request, response)) return
  try {
    if (networkLimits.authorization !== undefined) await networkLimits.authorization(request, response)
    requireTls(request, settings.tlsRequired)
    server.watchHost(request)
    const parameters =
      method === 'GET' ? queryOf(request) : await fieldsOf(request, settings.bodyDeadline, isDecision)
    if (method === 'POST' && isDecision(parameters)) {
      const host = new HostOfRequest(server, request, response, parameters)
      const decided = await takeDecision(server, request, host, parameters)
      return answerOwner(server, request, response, decided, wantsJson(request))
    }
    requireRequest(server, request, parameters)
    if (method === 'POST' && isRepeatedByGet(request, parameters)) {
      keepOpener(server, response)
      return repeatByGet(server, settings.authorizationPath, response, parameters)
    }
    const outcome = await takeRequest(server, request, response, parameters)
    // The login's policy applies to redirects, not to a form of another page.
    if (outcome.kind === 'redirect' && outcome.fields === undefined)
      warnOfLoginFormAction(request, response, outcome.location, settings.issuer)
    return answerOwner(server, request, response, outcome)
  } catch (error) {
    return showErrorToOwner(server, request, response, unexpected(error))
  }
}

function requireRequest({ settings }: Edge, request: Request, parameters: Parameters): void {
  // Another site must neither read the view nor leave a record in the store.
  if (request.method === 'GET' && wantsJson(request) && !isFromOwnSite(request, settings.issuer))
    throw refused('decision_cross_site/json')
  // A host's page that sends only its buttons. A client's request has `client_id`, and may have an ignored
  // `decision` (RFC 6749 3.1).
  if (request.method === 'POST' && parameters.mentions('decision') && !parameters.mentions('client_id'))
    throw refused('decision_fields_missing')
}

const isRepeatedByGet = (request: Request, form: Parameters) =>
  form.mentions('client_id') && lacksLaxCookies(request) && form.format().length <= longestQuery

// A cross-site form carries no `SameSite=Lax` cookie: the owner would have to log in again. OpenID Connect
// Core 3.1.2.1 allows `POST`.
const lacksLaxCookies = ({ headers }: Request) => headers['sec-fetch-site'] === 'cross-site'

// In characters. Servers and proxies take request lines of 8 KiB.
const longestQuery = 7000

export function repeatByGet({ settings }: Edge, path: string, response: Response, form: Parameters): void {
  const query = form.format()
  if (query.length > longestQuery) throw refused('parameter_too_long/form')
  redirectTo(response, `${settings.mount}${path}?${query}`)
}

function takeRequest(server: Edge, request: Request, response: Response, parameters: Parameters) {
  server.contexts.of(request).notes.claimedClientId = parameters.peek('client_id')
  noteUiLocales(server, request, parameters)
  warnOfLoginOpener(server, request, response)
  const host = new HostOfRequest(server, request, response, parameters)
  return authorize(server, parameters, host, server.audit.onCommitted(request))
}

class HostOfRequest implements Host {
  readonly sender: Sender

  constructor(
    private readonly server: Edge,
    private readonly request: Request,
    private readonly response: Response,
    private readonly received: Parameters,
  ) {
    this.sender = senderOf(server, request)
  }

  clientFound(client?: Client): void {
    const context = this.server.contexts.of(this.request)
    context.notes.isRegistered = true
    context.askingClient = client
  }

  parametersReplaced(replaced: Parameters): void {
    noteUiLocales(this.server, this.request, replaced)
  }

  findOwner(): Eventual<ResourceOwner | undefined> {
    return ownerOf(this.server, this.request)
  }

  skipConsent(question: PriorConsentQuestion): Eventual<boolean> {
    const { skipConsent } = this.server.settings
    return following(
      () => skipConsent !== undefined && skipConsent(this.request, question),
      parsePriorConsent,
    )
  }

  async choices(question: ChoicesQuestion): Promise<unknown> {
    return this.server.settings.choices?.(this.request, question)
  }

  async logIn({ reference, request: asked }: LoginDemand): Promise<OAuthError | undefined> {
    const { server, request, response } = this
    const query = queryAfterLogin(this.received, server.now(), reference)
    if (query === undefined) return loginLoop(request, server.audit.diagnosis !== undefined, asked.again)
    keepOpener(server, response)
    await logIn(server, request, response, `${server.settings.authorizationPath}?${query}`, asked)
    return undefined
  }

  ask(question: Question): unknown {
    return showConsent(this.server, this.request, this.response, question)
  }
}

const isDecision = (form: Parameters): boolean => form.mentions(consentTokenField)

async function takeDecision(server: Edge, request: Request, host: Host, form: Parameters) {
  if (!isFromOwnSite(request, server.settings.issuer)) throw refused('decision_cross_site')
  noteUiLocales(server, request, form)
  const consentToken = form.require(consentTokenField)
  server.audit.note(request, { shown: consentToken })
  const approved = isApproval(form.require('decision'))
  const selection = approved ? parseSelection(form) : undefined
  const ownerReadAt = server.now()
  const found = host.findOwner()
  const owner = isLater(found) ? await found : found
  if (owner === undefined) {
    // The page leads back to the client, to begin again.
    host.clientFound(await findAskingClient(server, consentToken, host.sender))
    throw refused('owner_not_logged_in')
  }
  const decision = {
    consentToken,
    approved,
    subject: owner.subject,
    login: loginOf(owner),
    ownerReadAt,
    selection,
    finder: host,
  }
  return decide(server, decision, server.audit.onCommitted(request))
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

function openOrClosing(server: Edge, request: Request, response: Response): Edge {
  if (server.requests.enter(request, response)) return server
  return { ...server, requireService: () => Promise.reject(closing()) }
}

export function ownerOf(server: Edge, request: Request): Eventual<ResourceOwner | undefined> {
  return following<unknown, ResourceOwner | undefined>(
    () => server.settings.resourceOwner?.(request),
    parseResourceOwner,
    (thrown) => {
      throw lacksSession(request, thrown) ? noSession(thrown) : thrown
    },
  )
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

/** Before plain HTTP, and before a stranger to whom the owner has not agreed to go, a page warns. */
function answerOwner(
  server: Edge,
  request: Request,
  response: Response,
  outcome: AuthorizationOutcome | DecisionOutcome,
  inJson = false,
): void {
  if (outcome.kind === 'refused') throw outcome.error
  if (outcome.kind === 'answered') return
  const { pageLocales } = server.settings
  if (outcome.kind === 'done') {
    if (inJson) throw requestNotOpen()
    return sendPage(
      response,
      200,
      answeredPage(answeredViewOf(outcome.client), localeOf(server, request)),
      pageLocales,
    )
  }
  const { location, fields, error, clientId } = outcome
  // The host's page failed after its headers: only the host's error handling can act.
  if (error !== undefined && response.headersSent) throw error
  const { audit } = server
  const audited = { request, response, endpoint: 'authorization', clientId } as const
  const requestId = error === undefined ? audit.reportSuccess(audited) : audit.reportError(audited, error)
  // A script that followed a redirect would use up the client's code.
  if (inJson) {
    carryRequestId(response, requestId)
    return sendJson(
      response,
      200,
      fields === undefined ? { redirect_to: location } : { post_to: location, fields },
      privatePage,
    )
  }
  keepOpener(server, response)
  const page = pageBefore(server, request, outcome)
  if (page === undefined) return redirectTo(response, location, requestId)
  carryRequestId(response, requestId)
  response.set(page.headers)
  sendPage(
    response,
    page.status,
    page.html,
    pageLocales,
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
  server: Edge,
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
  server: Edge,
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

/** A login at a path gets the way back in `return_to`, and the terms in parameters of OpenID Connect. */
export function logIn(
  { settings: { login, mount } }: Edge,
  request: Request,
  response: Response,
  path: string,
  asked: LoginRequest,
): unknown {
  const returnTo = mount + path
  if (typeof login === 'function') return login(request, response, returnTo, asked)
  return redirectTo(response, appendToQuery(login, { return_to: returnTo, ...loginQueryOf(asked) }))
}
