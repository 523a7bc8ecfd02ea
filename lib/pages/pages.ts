import { rowOf } from '../protocol/refusals'
import { type Client, isRegisteredByHost } from '../protocol/client'
import { withoutAnyPort } from '../protocol/redirect-uri'
import { clientNameOf, type ConsentView, destination, webUrl } from './consent-page'
import {
  around,
  exactly,
  hiddenFields,
  html,
  type Html,
  type HtmlValue,
  notice,
  row,
  submitScript,
} from './html'
import { en, type PageLocale, type PageTexts } from './texts/locale'

type ErrorKind = keyof PageTexts['error']['explanations']

export function errorKindOf(reason: string, isTrouble: boolean): ErrorKind {
  const refusal = rowOf(reason)
  if (isKind(refusal?.page)) return refusal.page
  if (isTrouble) return 'unavailable'
  // The suite refuses what the client should not have sent.
  return refusal !== undefined ? 'appFault' : 'other'
}

const isKind = (page: string | undefined): page is ErrorKind =>
  page !== undefined && Object.hasOwn(en.error.explanations, page)

// Loopback misses the port. An unregistered client may name any site.
function homeOf(client: Client): string | undefined {
  const { client_uri, redirect_uris } = client
  if (client_uri !== undefined || !isRegisteredByHost(client)) return client_uri
  const fixed = redirect_uris.find(
    (uri) => webUrl(uri) !== undefined && withoutAnyPort(client, uri) === undefined,
  )
  return fixed === undefined ? undefined : `${new URL(fixed).origin}/`
}

interface WayBack {
  readonly clientName: string
  /** Registered, without any part of the request. */
  readonly uri: string
}

/** An unregistered client's links prove nothing. */
export function wayBackTo(client: Client | undefined): WayBack | undefined {
  if (client === undefined || client.disabled || !isRegisteredByHost(client)) return undefined
  const uri = homeOf(client)
  return uri === undefined ? undefined : { clientName: clientNameOf(client), uri }
}

/** If the server must not send the response again. */
export function answeredPage(client: Client, locale: PageLocale): string {
  const home = homeOf(client)
  const { answered, common } = locale.texts
  const host = home === undefined ? '' : destination(home, common.appOnDevice)
  const goTo = around(answered.goTo, html`<bdi>${host}</bdi>`)
  const rest = html`
    <p class="assurance">${answered.lost}</p>
    ${home !== undefined && onward({ location: home }, goTo, true)}
  `
  const done = around(answered.done, html`<bdi>${clientNameOf(client)}</bdi>`)
  return notice(locale, '✓', answered.title, done, rest)
}

interface WayToClient {
  readonly location: string
  readonly fields?: Readonly<Record<string, string>> | undefined
}

// Shows the response nowhere else: a form posts to its target alone, a link leaves no referrer.
function onward({ location, fields }: WayToClient, label: HtmlValue, isPrimary: boolean): Html {
  const look = isPrimary ? html`class="primary" ` : undefined
  if (fields === undefined)
    return html`<div class="actions">
      <a ${look}href="${location}" rel="noreferrer" referrerpolicy="no-referrer">${label}</a>
    </div>`
  return html`<form method="post" action="${exactly(location)}" class="actions">
    ${hiddenFields(fields)}<button ${look}type="submit">${label}</button>
  </form>`
}

interface ContinueView extends WayToClient {
  readonly approved: boolean
}

/**
 * For user agents that lose a fragment (RFC 6749 4.2.2) or a form (OAuth 2.0 Form Post Response Mode 2). The
 * link contains the response.
 */
export function continuePage(view: ContinueView, locale: PageLocale): string {
  const { location, fields, approved } = view
  const { continue: texts, common } = locale.texts
  const title = approved ? texts.approvedTitle : texts.refusedTitle
  const step = around(texts.oneStep, html`<bdi>${destination(location, common.appOnDevice)}</bdi>`)
  const fineprint = approved && html`<footer class="fineprint"><p>${texts.linkIsYours}</p></footer>`
  const rest = html`${onward(view, texts.continue, true)} ${fields === undefined ? fineprint : submitScript}`
  return notice(locale, approved ? '✓' : '!', title, step, rest)
}

/** The refusal of a request that cannot go on. The option `pages.error` gets it. */
export interface ErrorView extends Pick<ConsentView, 'service' | 'language'> {
  readonly title: string
  /** In the language of the owner. */
  readonly happened: string
  /** What the owner can do now. */
  readonly advice: string
  /** The `error_description`, in English. */
  readonly message: string
  readonly code: string
  /** Events and logs contain it. */
  readonly requestId: string
  /**
   * The registered home page of the client. Undefined for an unregistered client: an attacker may want a link
   * there.
   */
  readonly wayBack: WayBack | undefined
}

export function errorPage(view: ErrorView, locale: PageLocale): string {
  const { error } = locale.texts
  const { wayBack } = view
  const backTo = wayBack && around(error.backTo, html`<bdi>${wayBack.clientName}</bdi>`)
  const rest = html`
    <p class="assurance"><strong>${error.nothingShared}</strong> ${view.advice}</p>
    ${wayBack && onward({ location: wayBack.uri }, backTo, false)}
    <footer class="fineprint">
      <p>${error.details} <bdi lang="en">${view.message}</bdi></p>
      <p>${error.reference} <code>${view.code}</code> <code>${view.requestId}</code></p>
    </footer>
  `
  return notice(locale, '!', view.title, view.happened, rest)
}

interface InsecureRedirectView extends WayToClient {
  readonly granted: boolean
}

/** RFC 6749 3.1.2.1. */
export function insecureRedirectPage(view: InsecureRedirectView, locale: PageLocale): string {
  const { granted } = view
  const { insecureRedirect: texts, common } = locale.texts
  const rest = html`
    ${returnsTo(view, common)}
    <p class="assurance">
      <strong>${granted ? texts.nothingSent : common.noAccess}</strong>
      ${granted ? texts.stopAccess : texts.stop}
    </p>
    ${onward(view, texts.continue, false)}
  `
  const warning = granted ? texts.unprotectedAccess : texts.unprotected
  return notice(locale, '!', texts.title, warning, rest)
}

interface UnverifiedView extends WayToClient {
  /** Else the same request may succeed later. */
  readonly isRefused: boolean
}

/** RFC 9700 4.11.2: the owner decides whether the browser follows. */
export function unverifiedPage(view: UnverifiedView, locale: PageLocale): string {
  const { unverified, error, common } = locale.texts
  const { isRefused } = view
  const title = isRefused ? error.refusedTitle : error.troubleTitle
  const rest = html`
    ${returnsTo(view, common)}
    <p class="assurance">
      ${!isRefused && html`<strong>${unverified.tryAgain}</strong>`} ${unverified.careful}
    </p>
    ${onward(view, unverified.goBack, false)}
  `
  const reason = isRefused ? unverified.notChecked : unverified.trouble
  return notice(locale, '!', title, html`${reason} ${common.noAccess}`, rest)
}

function returnsTo({ location }: WayToClient, common: PageTexts['common']): Html {
  const place = destination(location, common.appOnDevice)
  return html`<dl class="facts">${row(common.returnsTo, html`<bdi>${place}</bdi>`)}</dl>`
}
