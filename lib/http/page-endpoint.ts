import type { Request, RequestHandler, Response } from 'express'
import { carryRequestId } from '../audit/audit-log'
import { queryAfterLogin } from '../authorization-endpoint/login-return'
import { isAbsentOr, isRecord, isText, isTexts } from '../primitives/values'
import type { ChoicesQuestion } from '../protocol/extension'
import { plainLogin } from '../protocol/login-request'
import { OAuthError } from '../protocol/oauth-error'
import { refused, unexpected } from '../protocol/refusals'
import {
  pageMethods,
  type PageEndpoint,
  type PageRequest,
  type PageResponse,
  type OwnPage,
  type RenderedByHost,
} from '../doors/page-endpoint'
import type { Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Edge } from './edge'
import { isFromOwnSite, logIn, ownerOf, repeatByGet, showErrorToOwner } from './authorization-middleware'
import { loginLoop } from './login-loop'
import type { PageLocale } from '../pages/texts/locale'
import { fieldsOf, formOf, HttpRequest, queryOf, wantsJson } from './request'
import { takesMethod } from './methods'
import { localeOf, noteUiLocales } from './page-context'
import { closing } from './requests-in-flight'
import { redirectUriFault } from '../protocol/redirect-uri'
import { errorPageOf, formTargetsOf, privatePage, redirectTo, sendJson, sendPage } from './response'
import { handler } from './router'
import { requireTls } from './transport'

type Page = PageEndpoint | OwnPage

/** Shares the network limit, the error page and the login of the authorization endpoint. */
export function pageEndpoint(server: Edge, page: Page): RequestHandler {
  return handler((request, response) =>
    serve(server, page, request, response).catch((error: unknown) =>
      showErrorToOwner(server, request, response, unexpected(error), page.name),
    ),
  )
}

async function serve(server: Edge, page: Page, request: Request, response: Response): Promise<unknown> {
  const { settings, audit, networkLimits, requireService } = server
  const audited = { request, response, endpoint: page.name }
  if (!takesMethod(server, page.name, pageMethods(page), request, response)) return
  if (networkLimits.authorization !== undefined) await networkLimits.authorization(request, response)
  requireTls(request, settings.tlsRequired)
  server.watchHost(request)
  if (!server.requests.enter(request, response)) throw closing()
  if (requireService !== undefined) await requireService()
  if (page.fromOtherSites === true && isFormOfOtherSite(server, request))
    return repeatByGet(server, page.path, response, await formOf(request, settings.bodyDeadline))
  const inJson = page.json === true && wantsJson(request)
  const parameters = await parametersOf(server, page, request, inJson)
  noteUiLocales(server, request, parameters)
  const ownerReadAt = server.now()
  const resourceOwner = await ownerOf(server, request)
  const asked = <Owner extends ResourceOwner | undefined>(owner: Owner) =>
    new RequestForPage(server, request, response, parameters, owner, ownerReadAt)
  let answer: unknown
  if (page.login !== 'required') answer = await page.handle(asked(resourceOwner))
  else if (resourceOwner !== undefined) answer = await page.handle(asked(resourceOwner))
  else return sendToLogin(server, page, request, response, parameters, inJson)
  if (!isRendered(answer)) requirePageResponse(answer, page.name)
  const location = locationIn(answer, settings.issuer, page.name)
  const refusal = 'refusal' in answer ? answer.refusal : undefined
  if (refusal !== undefined && inJson) throw refusal
  const requestId = refusal === undefined ? audit.reportSuccess(audited) : audit.reportError(audited, refusal)
  carryRequestId(response, requestId)
  if ('logIn' in answer) {
    const { returnTo, ...terms } = answer.logIn
    return logIn(server, request, response, returnTo, { ...plainLogin, ...terms })
  }
  if (location !== undefined) return leadTo(response, location, inJson)
  if (isRendered(answer)) return sendRendered(request, response, answer, inJson)
  return 'html' in answer ? sendHtml(server, response, answer, inJson) : undefined
}

// A script that followed a redirect would get the next page.
const leadTo = (response: Response, location: string, inJson: boolean) =>
  inJson ? sendJson(response, 200, { redirect_to: location }, privatePage) : redirectTo(response, location)

const isRendered = (answer: unknown): answer is RenderedByHost =>
  isRecord(answer) && typeof answer['render'] === 'function'

function sendRendered(
  request: Request,
  response: Response,
  { view, render, refusal }: RenderedByHost,
  inJson: boolean,
): unknown {
  if (inJson) return sendJson(response, 200, view, privatePage)
  const { status, headers } = statusFor(refusal, 200)
  response.status(status).set({ ...headers, ...privatePage })
  return render(request, response)
}

function statusFor(
  refusal: OAuthError | undefined,
  status: number,
): Pick<ReturnType<typeof errorPageOf>, 'status' | 'headers'> {
  return refusal === undefined ? { status, headers: {} } : errorPageOf(refusal)
}

function sendHtml(
  { settings }: Edge,
  response: Response,
  {
    html,
    view,
    status: given = 200,
    headers = {},
    formTargets = [],
    refusal,
  }: Extract<PageResponse, { html: string }>,
  inJson: boolean,
): void {
  // The headers of every page come last, and win.
  response.set(headers)
  const { status, headers: ofRefusal } = statusFor(refusal, given)
  response.set(ofRefusal)
  // No other site can read it: no CORS headers, and JSON runs as no script.
  if (inJson && view !== undefined) return sendJson(response, status, view, privatePage)
  const targets = formTargets.flatMap((uri) => formTargetsOf(uri))
  sendPage(response, status, html, settings.pageLocales, targets)
}

const isFormOfOtherSite = ({ settings }: Edge, request: Request) =>
  request.method === 'POST' && !isFromOwnSite(request, settings.issuer)

async function parametersOf(
  { settings }: Edge,
  { json = false }: Page,
  request: Request,
  inJson: boolean,
): Promise<Parameters> {
  const isForm = request.method !== 'GET'
  // A second protection besides a token in the form, which the page must check.
  if ((isForm || inJson) && !isFromOwnSite(request, settings.issuer)) throw refused('form_cross_site')
  if (!isForm) return queryOf(request)
  return json ? fieldsOf(request, settings.bodyDeadline) : formOf(request, settings.bodyDeadline)
}

async function sendToLogin(
  server: Edge,
  { path }: Page,
  request: Request,
  response: Response,
  parameters: Parameters,
  inJson: boolean,
): Promise<void> {
  // Fields may be secret, and the login would return them in a URL. A script cannot log in.
  if (request.method !== 'GET' || inJson) throw refused('owner_not_logged_in')
  const query = queryAfterLogin(parameters, server.now())
  if (query === undefined) throw loginLoop(request, server.audit.diagnosis !== undefined, false)
  await logIn(server, request, response, `${path}?${query}`, plainLogin)
}

class RequestForPage<Owner extends ResourceOwner | undefined>
  extends HttpRequest
  implements PageRequest<Owner>
{
  readonly #server: Edge
  readonly #response: Response

  constructor(
    server: Edge,
    request: Request,
    response: Response,
    readonly parameters: Parameters,
    readonly resourceOwner: Owner,
    readonly ownerReadAt: number,
  ) {
    super(request)
    this.#server = server
    this.#response = response
  }

  get locale(): PageLocale {
    return localeOf(this.#server, this.request)
  }

  async choices(question: ChoicesQuestion): Promise<unknown> {
    return this.#server.settings.choices?.(this.request, question)
  }

  async logOut(): Promise<void> {
    const { logOut } = this.#server.settings
    if (logOut === undefined) throw new Error('The option logOut is missing.')
    await logOut(this.request, this.#response)
  }
}

// Hosts write pages, also in JavaScript.
function requirePageResponse(answer: unknown, name: string): asserts answer is PageResponse {
  if (isRecord(answer)) {
    const {
      redirect,
      leaveTo,
      logIn: login,
      html,
      view,
      status = 200,
      headers,
      formTargets,
      refusal,
      ...others
    } = answer
    // Where a client could be: no script, and only a URI.
    const leads =
      isText(redirect) ||
      (isText(leaveTo) && isDestination(leaveTo)) ||
      (isRecord(login) && isText(login['returnTo']) && login['returnTo'].startsWith('/'))
    const isAlone = Object.keys(answer).length === 1
    const isPage =
      (redirect ?? leaveTo ?? login) === undefined && typeof html === 'string' && isPageStatus(status)
    const isKnown = Object.keys(others).length === 0
    if (
      isKnown &&
      (leads
        ? isAlone
        : isPage &&
          isAbsentOr(isRecord, view) &&
          isAbsentOr(areHeaders, headers) &&
          isAbsentOr(isTexts, formTargets) &&
          isAbsentOr((value) => value instanceof OAuthError, refusal))
    )
      return
  }
  throw new TypeError(
    `The page "${name}" must resolve to { html, view, status, headers, formTargets, refusal }, { redirect }, { leaveTo } or { logIn }: html a text, view an object, status 200 or 400 to 599, headers an object of texts, refusal an OAuthError, redirect a path of this server, returnTo of logIn a path below the issuer.`,
  )
}

// This URI may have parameters such as `state`; a registered one may not.
const isDestination = (uri: string) =>
  redirectUriFault(uri.replace(/\?.*$/s, ''), { insecure: true }) === undefined
const isPageStatus = (status: unknown) =>
  status === 200 || (Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599)
const areHeaders = (headers: unknown) =>
  isRecord(headers) && Object.values(headers).every((value) => typeof value === 'string')

function locationIn(answer: PageResponse | RenderedByHost, issuer: string, name: string): string | undefined {
  if ('redirect' in answer) return ownLocation(answer.redirect, issuer, name)
  return 'leaveTo' in answer ? answer.leaveTo : undefined
}

/** A redirect may contain a part of the request, so it must not leave this server. */
function ownLocation(redirect: string, issuer: string, name: string): string {
  const target = URL.canParse(redirect, issuer) ? new URL(redirect, issuer) : undefined
  // `//host` would be a host again in the header.
  const isOwn = target?.origin === new URL(issuer).origin && !target.pathname.startsWith('//')
  if (isOwn) return `${target.pathname}${target.search}${target.hash}`
  throw new TypeError(`The page "${name}" must redirect to a path of this server.`)
}
