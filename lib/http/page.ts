import { carryRequestId } from '../audit/audit-log'
import { longestQuery } from '../authorization-endpoint/open-request'
import {
  pageOf,
  type OwnPage,
  type PageEndpoint,
  type PageResponse,
  type RenderedByHost,
} from '../doors/page-endpoint'
import { errorKindOf, errorPage, type ErrorView, wayBackTo } from '../pages/pages'
import { aCall, aTable, aText, textTable } from '../primitives/fields'
import { exactShape, kind, optional, requireShape } from '../primitives/schema'
import { isRecord, isRootedPath, isText, isTexts } from '../primitives/values'
import { plainLogin, type ResourceOwner } from '../protocol/resource-owner'
import { isErrorStatus, OAuthError } from '../protocol/oauth-error'
import { redirectUriFault } from '../protocol/redirect-uri'
import { type Reason, refused, unexpected } from '../protocol/refusals'
import type { Asked, Row } from './asked'
import { leadToLogin, logIn } from './consent'
import type { Edge } from './edge'
import { leavesBody, wantsJson } from './request'
import {
  errorPageOf,
  formTargetsOf,
  privatePage,
  redirectTo,
  sendJson,
  sendJsonError,
  sendOwn,
} from './response'

type Page = PageEndpoint | OwnPage

export function pageRow(server: Edge, page: Page): Row<unknown> {
  const { name, path, method = ['GET', 'POST'], json = false, fromOtherSites = false } = page
  return {
    ...anyPage,
    name,
    path,
    methods: [method].flat(),
    body: json ? 'fields' : 'form',
    limit: server.networkLimits.authorization,
    service: 'needed',
    begin(asked) {
      asked.inJson = json && wantsJson(asked.request)
      // A second protection besides a token in the form, which the page must check.
      const isProtected = asked.method === 'POST' ? !fromOtherSites : asked.inJson
      if (isProtected && !isFromOwnSite(asked)) throw refused('form_cross_site')
    },
    handle: (asked) =>
      asked.method === 'POST' && !isFromOwnSite(asked) ? repeatByGet(asked) : answerOwner(page, asked),
    write: () => undefined,
  }
}

export const anyPage = {
  share: undefined,
  clientAuthentication: 'none',
  usesUpLast: false,
  refuse: showError,
} as const

/** A second protection besides the consent token, if the browser reports it. */
export function isFromOwnSite({ server, request }: Asked): boolean {
  const { 'sec-fetch-site': site, origin } = request.headers
  // Without `Sec-Fetch-Site`: under `no-referrer`, helmet's default, even this site sends `null`.
  return site === undefined
    ? origin === undefined || origin === 'null' || origin === new URL(server.settings.issuer).origin
    : site === 'same-origin' || site === 'none'
}

export function repeatByGet({ server, response, row, parameters }: Asked): void {
  const query = parameters.format()
  if (query.length > longestQuery) throw refused('parameter_too_long/form')
  redirectTo(response, `${server.settings.mount}${row.path}?${query}`)
}

async function answerOwner(page: Page, asked: Asked): Promise<unknown> {
  asked.parametersReplaced(asked.parameters)
  asked.ownerReadAt = asked.server.now()
  asked.resourceOwner = await asked.findOwner()
  if (page.login !== 'required') return send(asked, await page.handle(asked))
  if (hasOwner(asked)) return send(asked, await page.handle(asked))
  // Fields may be secret, and the login would return them in a URL.
  if (asked.method !== 'GET' || asked.inJson) throw refused('owner_not_logged_in')
  return leadToLogin(asked, page.path, asked.parameters, plainDemand)
}

const plainDemand = { reference: undefined, request: plainLogin }

const hasOwner = (asked: Asked): asked is Asked & { readonly resourceOwner: ResourceOwner } =>
  asked.resourceOwner !== undefined

interface PageAnswer extends Partial<RenderedByHost> {
  readonly redirect?: string
  readonly leaveTo?: string
  readonly logIn?: Extract<PageResponse, { logIn: unknown }>['logIn']
  readonly html?: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly formTargets?: readonly string[]
}

// Hosts write pages, also in JavaScript.
const answerShape = exactShape<PageAnswer>({
  redirect: optional(aText),
  // Where a client could be: no script, and only a URI, with parameters such as `state`.
  leaveTo: optional(
    kind(
      (uri) => isText(uri) && redirectUriFault(uri.replace(/\?.*$/s, ''), { insecure: true }) === undefined,
      'must be a URI to which a client could be sent.',
    ),
  ),
  logIn: optional(
    kind(
      (login) => isRecord(login) && isRootedPath(login['returnTo']),
      'must have returnTo: a path below the issuer.',
    ),
  ),
  html: optional(aText),
  render: optional(aCall()),
  view: optional(aTable),
  status: optional(
    kind((status) => status === 200 || isErrorStatus(status), 'must be 200, or a status from 400 to 599.'),
  ),
  headers: optional(textTable),
  formTargets: optional(kind(isTexts, 'must be a list of texts.')),
  refusal: optional(kind((refusal) => refusal instanceof OAuthError, 'must be an OAuthError.')),
})

function send(asked: Asked, given: unknown): unknown {
  const { server, response, row, inJson } = asked
  const { issuer } = server.settings
  const subject = `The page "${row.name}" returned a wrong result:`
  const answer = requireShape(answerShape, given, subject, undefined)
  const { redirect, leaveTo, logIn: login, html, render, view, formTargets = [], refusal } = answer
  const ways = [redirect, leaveTo, login, html, render].filter((way) => way !== undefined)
  if (ways.length !== 1)
    throw new TypeError(`${subject} it must have one of html, redirect, leaveTo and logIn.`)
  const location = redirect === undefined ? leaveTo : ownLocation(redirect, issuer, subject)
  if (refusal !== undefined && inJson) throw refusal
  carryRequestId(
    response,
    refusal === undefined ? server.audit.reportSuccess(asked) : server.audit.reportError(asked, refusal),
  )
  if (login !== undefined) return logIn(asked, login.returnTo, { ...plainLogin, ...login })
  // A script that followed a redirect would get the next page.
  if (location !== undefined)
    return inJson
      ? sendJson(response, 200, { redirect_to: location }, privatePage)
      : redirectTo(response, location)
  const ofRefusal = refusal && errorPageOf(refusal)
  const { status = 200, headers } = { ...answer, ...ofRefusal }
  // The headers of every page come last, and win.
  response.set({ ...answer.headers, ...headers })
  // No other site can read it: no CORS headers, and JSON runs as no script.
  if (inJson && view !== undefined) return sendJson(response, status, view, privatePage)
  return sendOwn(asked, answer, status, formTargets.flatMap(formTargetsOf))
}

/** A redirect may contain a part of the request: it must not leave this server. */
function ownLocation(redirect: string, issuer: string, subject: string): string {
  const target = URL.canParse(redirect, issuer) ? new URL(redirect, issuer) : undefined
  // `//host` would be a host again in the header.
  if (target?.origin === new URL(issuer).origin && !target.pathname.startsWith('//'))
    return `${target.pathname}${target.search}${target.hash}`
  throw new TypeError(`${subject} redirect must be a path of this server.`)
}

/**
 * RFC 6749 4.1.2.1. A refusal gets a page, or JSON for a program; a failure of the server goes to the host's error
 * handling.
 */
function showError(asked: Asked, thrown: unknown): unknown {
  const { server, request, response } = asked
  const { errorPage: render, errorUri } = server.settings
  const error = unexpected(thrown)
  const requestId = server.audit.reportError(asked, error)
  if (error.code === 'server_error') throw error.cause ?? error
  if (leavesBody(error) && !response.headersSent) response.setHeader('Connection', 'close')
  const { status, headers, isTrouble } = errorPageOf(error)
  response.set(headers)
  if (wantsJson(request)) {
    const told = { code: codeForProgram(error), description: error.description }
    return sendJsonError(response, status, told, errorUri, privatePage)
  }
  const { locale } = asked
  const { tag, dir, service, texts } = locale
  const view: ErrorView = {
    title: isTrouble ? texts.error.troubleTitle : texts.error.refusedTitle,
    ...texts.error.explanations[errorKindOf(error.reason, isTrouble)],
    message: error.description,
    code: error.code,
    requestId,
    wayBack: wayBackTo(asked.askingClient),
    service,
    language: { tag, dir },
  }
  const page = pageOf(view, render, (each) => errorPage(each, locale))
  return sendOwn(asked, page, status)
}

// RFC 6749 5.2: `invalid_client` makes MCP clients register again.
const codeForProgram = ({ code, reason }: OAuthError): string =>
  endedClient.has(reason) ? 'invalid_client' : code

const endedClient: ReadonlySet<string> = new Set<Reason>(['client_unknown', 'client_disabled'])
