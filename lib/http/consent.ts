import type { Request } from 'express'
import { queryAfterLogin } from '../authorization-endpoint/open-request'
import type { LoginDemand, Question } from '../authorization-endpoint/visit'
import { boxOf, choiceField, consentTokenField } from '../protocol/owner-question'
import { type Client, isRegisteredByHost } from '../protocol/client'
import type { ScopeDescription } from '../protocol/scope'
import { isLoopback, protocolOf } from '../protocol/uri'
import { warnOnce } from '../audit/warning'
import { pageOf } from '../doors/page-endpoint'
import type { EnteringTerms } from '../doors/plug-in'
import type { Edge, Exchange } from './edge'
import { keepOpener, warnOfOwnPage } from './host-policies'
import { consentPage, type ConsentScope, type ConsentView, webUrl } from '../pages/consent-page'
import type { PageLocale } from '../pages/texts/locale'
import { visibleName } from '../pages/html'
import type { OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { appendToQuery } from '../protocol/redirect-uri'
import { refused } from '../protocol/refusals'
import { type LoginRequest, loginQueryOf } from '../protocol/resource-owner'
import { wantsJson } from './request'
import { formTargetsOf, privatePage, redirectTo, sendJson, sendOwn } from './response'

/** @param device of the request, if a page before has named it. */
export function consentPageOf(
  { settings }: Edge,
  asked: { readonly locale: PageLocale; readonly uiLocales: string | undefined },
  question: Question,
  { device, fields }: Partial<Pick<EnteringTerms, 'device' | 'fields'>> = {},
) {
  const { locale, uiLocales } = asked
  const { tag, dir, service } = locale
  const { scopes, manageAt, consentPage: render } = settings
  const { client, resourceOwner, scope, facts, redirectUri, switchAccount, consentToken } = question
  const view: ConsentView = {
    service,
    language: { tag, dir },
    client: clientViewOf(client),
    resourceOwner,
    // Works behind a proxy that prefixes the path.
    switchAccount: switchAccount === undefined ? undefined : `?${switchAccount}`,
    scope: scope.map((token) => scopeViewOf(token, scopes.get(token), question, locale)),
    ...askedIn(question, locale),
    facts,
    manageAt,
    action: '?',
    // For the pages that answer the decision.
    fields: {
      [consentTokenField]: consentToken,
      ...(uiLocales !== undefined && { ui_locales: uiLocales }),
      ...fields,
    },
    redirectTo: redirectUri,
    receiver: redirectUri === undefined ? undefined : receiverOf(redirectUri),
    ...(device && { device }),
  }
  return pageOf(view, render, (each) => consentPage(each, locale))
}

export function showConsent(
  asked: Exchange & { readonly locale: PageLocale; readonly uiLocales: string | undefined },
  question: Question,
): unknown {
  const { server, request, response } = asked
  const { skipConsent } = server.settings
  if (skipConsent !== undefined && process.env['NODE_ENV'] !== 'production') warnOfSkipConsent(question)
  const page = consentPageOf(server, asked, question)
  // No other site can read it: no CORS headers, and JSON runs as no script.
  if (wantsJson(request)) return sendJson(response, 200, page.view, privatePage)
  keepOpener(asked)
  const leftFor = question.isPosted === true ? undefined : page.view.redirectTo
  if ('render' in page) response.once('finish', () => warnOfOwnPage(asked, leftFor))
  return sendOwn(asked, page, 200, leftFor === undefined ? [] : formTargetsOf(leftFor))
}

export function scopeViewOf(
  token: string,
  described: ScopeDescription | undefined,
  { optional, allowedBefore }: Pick<Question, 'optional' | 'allowedBefore'>,
  locale: PageLocale,
): ConsentScope {
  const { description = token, group, weight = 'read' } = described ?? {}
  return {
    token,
    description: locale.pick(description),
    group: group === undefined ? undefined : locale.pick(group),
    weight,
    field: optional.includes(token) ? boxOf(token) : undefined,
    allowedBefore: allowedBefore.includes(token),
  }
}

/** A host may print or log the whole view. */
export function clientViewOf(client: Client): ConsentView['client'] {
  const { client_id, client_uri, description, policy_uri, tos_uri } = client
  const client_name = visibleName(client.client_name)
  const unregistered = unregisteredIn(client)
  const logo_uri = unregistered === undefined ? client.logo_uri : undefined
  return { client_id, client_name, client_uri, description, logo_uri, policy_uri, tos_uri, unregistered }
}

function askedIn({ asked }: Question, locale: PageLocale): Pick<ConsentView, 'question' | 'problem'> {
  if (asked === undefined) return { question: undefined, problem: undefined }
  const { text, answers, none } = asked
  if (answers.length === 0)
    return {
      question: undefined,
      problem: none === undefined ? locale.texts.consent.noAnswer : locale.pick(none),
    }
  const shown = answers.map(({ value, label }) => ({ value, label }))
  return { question: { text: locale.pick(text), field: choiceField, answers: shown }, problem: undefined }
}

function unregisteredIn({ metadataDocument, selfRegistered }: Client): ConsentView['client']['unregistered'] {
  if (metadataDocument !== undefined) return { host: metadataDocument.host }
  return selfRegistered === true ? { host: undefined } : undefined
}

function receiverOf(redirectUri: string): NonNullable<ConsentView['receiver']> {
  const url = webUrl(redirectUri)
  if (url === undefined) return 'app'
  return isLoopback(url.hostname) ? 'device' : 'web'
}

/**
 * RFC 8252 8.6: another program could pass for a public client on loopback, so the server never asks
 * `skipConsent`. The cure needs a client that the host registered.
 */
function warnOfSkipConsent({ client, redirectUri }: Question): void {
  if (client.client_type !== 'public' || !isRegisteredByHost(client) || redirectUri === undefined) return
  if (receiverOf(redirectUri) !== 'device' || protocolOf(redirectUri) !== 'http:') return
  warnOnce(
    'EAS_SKIP_CONSENT',
    `The consent page appears because the server does not ask skipConsent about ${client.client_id}: the client is public, and its redirection URI is plain HTTP on loopback, where another program could take its place. Give a single-page app an https redirection URI, in development too, such as https://localhost:5173/callback. Register a web application as confidential. On loopback, a native application always sees the page.`,
  )
}

/** The login returns to the same request. */
export async function leadToLogin(
  asked: Exchange,
  path: string,
  parameters: Parameters,
  { reference, request: terms }: LoginDemand,
): Promise<void> {
  const { server, request } = asked
  const query = queryAfterLogin(parameters, server.now(), reference)
  if (query === undefined) throw loginLoop(request, server.audit.diagnosis !== undefined, terms.again)
  await logIn(asked, `${path}?${query}`, terms)
}

/** In parameters of OpenID Connect; `return_to` has the way back. */
export function logIn({ server, request, response }: Exchange, path: string, terms: LoginRequest): unknown {
  const { login, mount } = server.settings
  const returnTo = mount + path
  if (typeof login === 'function') return login(request, response, returnTo, terms)
  return redirectTo(response, appendToQuery(login, { return_to: returnTo, ...loginQueryOf(terms) }))
}

// For the one who sets up the server, never in production.
function loginLoop(request: Request, explains: boolean, again: boolean): OAuthError {
  if (again) return refused(explains ? 'login_loop/no_new_login_explained' : 'login_loop/no_new_login')
  return explains ? refused(`login_loop/${causeOf(request)}`) : refused('login_loop')
}

// `session` is set by express-session and cookie-session. Without cookies, every session is new.
function causeOf(request: Request): 'no_session' | 'no_cookie' | 'no_owner' {
  if (!('session' in request)) return 'no_session'
  return request.headers.cookie === undefined ? 'no_cookie' : 'no_owner'
}
