import type { ConsentFact } from '../protocol/extension'
import { clientNameOf, type ConsentScope, type ConsentView, fact, origin, scopeLists } from './consent-page'
import { around, hiddenFields, html, type Html, pageDocument } from './html'
import type { PageLocale, PageTexts } from './texts/locale'

/** By one or several authorizations. */
export interface ConnectedApplication {
  /** The `client_id` alone if the client is not found. */
  readonly client: ConsentView['client']
  readonly scope: readonly ConsentScope[]
  /** Resources, and the owner's answers to the question of `choices`. */
  readonly facts: readonly ConsentFact[]
  /** The first approval, in seconds since the epoch. */
  readonly grantedAt: number
  /**
   * The start of the day (UTC) of the last tokens without the owner, in seconds since the epoch; undefined if
   * there were none since the day of approval.
   */
  readonly lastIssuedOn: number | undefined
  /** Leads to the question before the removal. */
  readonly removeAt: string
  /** Hidden fields of the form that removes the access. */
  readonly fields: Readonly<Record<string, string>>
}

/** A part of the list, or the question before a removal. The option `pages.connected` gets it. */
export interface ConnectedView extends Pick<ConsentView, 'service' | 'language' | 'resourceOwner'> {
  /** Undefined for the list. */
  readonly removing: ConnectedApplication | undefined
  /** A part of the list, by name. */
  readonly applications: readonly ConnectedApplication[]
  /** Its access has just been removed. */
  readonly removed: ConsentView['client'] | undefined
  /** False while one from before the option `authorizations` may be missing. */
  readonly isComplete: boolean
  /** Leads to the part before this one. */
  readonly previous: string | undefined
  /** Leads to the part after this one. */
  readonly next: string | undefined
  readonly listAt: string
  /** Of the form that removes, sent by `POST` with the `fields` of the application. */
  readonly action: string
}

export const connectedPage = (view: ConnectedView, locale: PageLocale): string =>
  view.removing === undefined ? listPage(view, locale) : questionPage(view, view.removing, locale)

function listPage(view: ConnectedView, locale: PageLocale): string {
  const { connected } = locale.texts
  const { applications, previous, next, removed } = view
  return pageDocument({
    title: connected.title,
    locale,
    content: html`
      <header class="intro">
        <h1>${connected.title}</h1>
        ${introduction(view, connected)} ${whose(view, locale)}
      </header>
      ${
        removed !== undefined &&
        html`<p class="assurance" role="status">
          <strong>${around(connected.removed, nameOf(removed))}</strong> ${connected.soon}
        </p>`
      }
      ${!view.isComplete && html`<p class="assurance caution" role="note">${connected.incomplete}</p>`}
      ${applications.map((application) => entry(application, locale))}
      ${(previous ?? next) !== undefined && html`<nav class="actions">${link(previous, connected.previous)}${link(next, connected.next)}</nav>`}
    `,
  })
}

// An incomplete list must not say that no app has access.
function introduction(
  { applications, previous, next, isComplete }: ConnectedView,
  { none, intro }: PageTexts['connected'],
): Html | undefined {
  const isEmpty = applications.length === 0 && previous === undefined && next === undefined
  if (!isEmpty) return html`<p>${intro}</p>`
  return isComplete ? html`<p>${none}</p>` : undefined
}

const link = (to: string | undefined, text: string) => to !== undefined && html`<a href="${to}">${text}</a>`

const whose = ({ resourceOwner: { name, subject } }: ConnectedView, { texts }: PageLocale): Html =>
  html`<p>${texts.common.signedInAs} <bdi>${name || subject}</bdi></p>`

const nameOf = (client: ConsentView['client']) => html`<bdi>${clientNameOf(client)}</bdi>`

function entry(application: ConnectedApplication, locale: PageLocale): Html {
  const { connected } = locale.texts
  const { client, removeAt } = application
  const label = around(connected.removeClient, clientNameOf(client))
  const heading = html`<h2><bdi class="name">${clientNameOf(client)}</bdi>${marks(client, locale)}</h2>`
  return html`<section class="application">
    ${heading} ${access(application, html`<p class="hint">${connected.permissions}</p>`, locale)}
    <div class="actions"><a href="${removeAt}" aria-label="${label}">${connected.remove}</a></div>
  </section>`
}

const marks = ({ unregistered }: ConsentView['client'], locale: PageLocale) =>
  unregistered && origin(unregistered, locale)

function access({ scope, facts, ...times }: ConnectedApplication, heading: Html, locale: PageLocale): Html {
  return html`${scope.length > 0 && html`${heading} ${scopeLists(scope, locale.texts.consent)}`}
    ${facts.length > 0 && html`<dl class="facts">${facts.map((one) => fact(one, locale.texts.consent.facts, false))}</dl>`}
    <p class="hint">${days(times, locale)}</p>`
}

function days(
  { grantedAt, lastIssuedOn }: Pick<ConnectedApplication, 'grantedAt' | 'lastIssuedOn'>,
  { tag, texts: { connected } }: PageLocale,
): readonly Html[] {
  // The record has a day of UTC.
  const format = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: 'UTC' })
  const day = (seconds: number) => {
    const date = new Date(seconds * 1000)
    return html`<time datetime="${date.toISOString().slice(0, 10)}">${format.format(date)}</time>`
  }
  const sentences = [
    around(connected.since, day(grantedAt)),
    lastIssuedOn === undefined ? [] : around(connected.lastIssued, day(lastIssuedOn)),
  ]
  return sentences.flat().map((sentence) => html`<span class="line">${sentence}</span>`)
}

function questionPage(
  { action, listAt }: ConnectedView,
  application: ConnectedApplication,
  locale: PageLocale,
): string {
  const { connected } = locale.texts
  const { client, fields } = application
  const heading = html`<h1>${around(connected.removeTitle, nameOf(client))}${marks(client, locale)}</h1>`
  return pageDocument({
    title: around(connected.removeTitle, clientNameOf(client)),
    locale,
    content: html`
      <header class="intro">
        ${heading}
        <p>${connected.removeConsequence} ${connected.soon}</p>
      </header>
      <section class="application">
        ${access(application, html`<h2>${connected.permissions}</h2>`, locale)}
      </section>
      <form method="post" action="${action}">
        ${hiddenFields(fields)}
        <div class="actions">
          <a href="${listAt}">${connected.keep}</a>
          <button type="submit" class="primary">${connected.remove}</button>
        </div>
      </form>
    `,
  })
}
