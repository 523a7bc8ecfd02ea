import {
  around,
  hiddenFields,
  html,
  type Html,
  type HtmlValue,
  pageDocument,
  type PageFrame,
  row,
  visibleName,
} from './html'
import type { ConsentFact } from '../protocol/extension'
import type { PageLocale, PageTexts } from './texts/locale'

export interface ConsentScope {
  readonly token: string
  /** Of the option `scopes`, or else the token. */
  readonly description: string
  /** Of scopes that belong together. */
  readonly group: string | undefined
  /** A page must mark `danger`. */
  readonly weight: 'read' | 'write' | 'danger'
  /** The check box of an optional scope, with the value `yes`; undefined for a required scope. */
  readonly field: string | undefined
  /** Whether this owner has allowed it this client before, for the same resources. */
  readonly allowedBefore: boolean
}

interface Group {
  readonly heading: string | undefined
  readonly scopes: readonly ConsentScope[]
}

function permissions(scope: readonly ConsentScope[], { consent }: PageTexts): Html {
  if (scope.length === 0) return html`<p class="permissions">${consent.noPermission}</p>`
  const asked = scope.filter(({ allowedBefore }) => !allowedBefore)
  const known = scope.filter(({ allowedBefore }) => allowedBefore)
  const hasBox = scope.some(({ field }) => field !== undefined)
  return html`<section class="permissions">
    <h2>${consent.permissions}</h2>
    ${scopeLists(asked, consent, consent.dangerous)}
    ${known.length > 0 && list({ heading: consent.allowedBefore, scopes: known }, consent)}
    ${hasBox && html`<p class="hint">${consent.optional}</p>`}
  </section>`
}

/** Groups by their first scope, then all dangerous scopes. */
export function scopeLists(
  scope: readonly ConsentScope[],
  consent: PageTexts['consent'],
  heading?: string,
): Html {
  const harmless = scope.filter(({ weight }) => weight !== 'danger')
  const dangerous = scope.filter(({ weight }) => weight === 'danger')
  return html`${groupsOf(harmless).map((group) => list(group, consent))}${
    dangerous.length > 0 && list({ heading, scopes: dangerous }, consent, 'danger')
  }`
}

function groupsOf(scope: readonly ConsentScope[]): readonly Group[] {
  const groups = new Map<string | undefined, ConsentScope[]>()
  for (const one of scope) {
    const scopes = groups.get(one.group)
    if (scopes === undefined) groups.set(one.group, [one])
    else scopes.push(one)
  }
  return Array.from(groups, ([heading, scopes]) => ({ heading, scopes }))
}

function list({ heading, scopes }: Group, consent: PageTexts['consent'], kind?: 'danger'): Html {
  return html`${heading !== undefined && html`<h3 dir="auto">${heading}</h3>`}
    <ul${kind !== undefined && html` class="${kind}"`}>
      ${scopes.map((scope) => item(scope, consent))}
    </ul>`
}

function item({ token, description, weight, field }: ConsentScope, consent: PageTexts['consent']): Html {
  const text = html`<span dir="auto">${description}</span
    >${token !== description && html`<code>${token}</code>`}${weightMark(weight, consent)}`
  if (field === undefined) return html`<li>${text}</li>`
  return html`<li class="optional">
    <label><input type="checkbox" name="${field}" value="yes" /><span class="choice">${text}</span></label>
  </li>`
}

function weightMark(weight: ConsentScope['weight'], consent: PageTexts['consent']): Html | undefined {
  if (weight === 'read') return undefined
  return weight === 'danger'
    ? html`<strong class="weight">${consent.dangerMark}</strong>`
    : html`<span class="weight">${consent.writeMark}</span>`
}

interface ConsentQuestion {
  readonly text: string
  readonly field: string
  readonly answers: readonly { readonly value: string; readonly label: string }[]
}

// With more, the buttons would leave the screen.
const answersInSight = 6

/** No answer is chosen: a choice that nobody made is no decision. */
function questionPart({ text, field, answers }: ConsentQuestion, { consent }: PageTexts): Html {
  if (answers.length <= answersInSight)
    return html`<fieldset class="question">
      <legend dir="auto">${text}</legend>
      ${answers.map(
        ({ value, label }) =>
          html`<label
            ><input type="radio" name="${field}" value="${value}" required /><bdi>${label}</bdi></label
          >`,
      )}
    </fieldset>`
  return html`<label class="question">
    <span dir="auto">${text}</span>
    <select name="${field}" required>
      <option value="">${consent.choose}</option>
      ${answers.map(({ value, label }) => html`<option value="${value}" dir="auto">${label}</option>`)}
    </select>
  </label>`
}

/** The refusal first: it is the form's default. */
function decisionButtons(problem: string | undefined, { consent }: PageTexts): Html {
  return html`${
      problem !== undefined &&
      html`<p class="assurance problem" role="note">
        <strong>${consent.problem}</strong> <span dir="auto">${problem}</span>
      </p>`
    }
    <div class="actions">
      <button type="submit" name="decision" value="deny" formnovalidate>${consent.cancel}</button>
      ${problem === undefined && html`<button type="submit" name="decision" value="approve" class="primary">${consent.allow}</button>`}
    </div>`
}

/** What a consent page shows and sends. The option `pages.consent` gets it. */
export interface ConsentView {
  readonly service: PageFrame['service']
  /** The owner's best language; the texts are in it. */
  readonly language: { readonly tag: string; readonly dir: 'ltr' | 'rtl' }
  readonly client: {
    readonly client_id: string
    /** Without invisible characters. Undefined if nothing is left. */
    readonly client_name?: string | undefined
    readonly client_uri?: string | undefined
    readonly description?: string | undefined
    /** Undefined for an unregistered client: it could imitate another, and its server would learn who looks. */
    readonly logo_uri?: string | undefined
    readonly policy_uri?: string | undefined
    readonly tos_uri?: string | undefined
    /**
     * Present if the host did not register the client: all else is its own claim, and the page must say so. With a
     * metadata document, `host` is certain, that of the `client_id`, which the page must show; links lead only there. A
     * client that registered itself (RFC 7591) has no `host` and no links.
     */
    readonly unregistered?: { readonly host: string | undefined } | undefined
  }
  /** `name` is what the person recognises. */
  readonly resourceOwner: { readonly subject: string; readonly name?: string | undefined }
  /** Leads to the host's login and back, for another account. Undefined if nobody can ask again. */
  readonly switchAccount: string | undefined
  readonly scope: readonly ConsentScope[]
  /** Such as the owner's workspaces. */
  readonly question: ConsentQuestion | undefined
  /** Why the owner can only cancel, such as no workspace. */
  readonly problem: string | undefined
  /** What extensions add, such as resources. Show each. */
  readonly facts: readonly ConsentFact[]
  /** Where the owner can end the access later. */
  readonly manageAt: string | undefined
  /** The `action` of the form, which posts. */
  readonly action: string
  /** Hidden fields of the form, which also sends `decision`: `approve` or `deny`. */
  readonly fields: Readonly<Record<string, string>>
  /** Undefined for a device. */
  readonly redirectTo: string | undefined
  /**
   * Who gets the decision by {@link redirectTo}: a web site, a program on the owner's device (`http` on loopback), or
   * an app with its own scheme. Other programs can pass for the last two.
   */
  readonly receiver: 'web' | 'device' | 'app' | undefined
  /**
   * Of a device (RFC 8628): warn of requests that the owner has not begun (RFC 8628 5.4). The form may also send
   * `decision=switch`, for another account.
   */
  readonly device?:
    | {
        /** To compare with the device. */
        readonly userCode: string
        readonly requestedFrom: string | undefined
        /** In seconds since the epoch. */
        readonly requestedAt: number
        /** In seconds since the epoch. */
        readonly now: number
      }
    | undefined
}

export function consentPage(view: ConsentView, locale: PageLocale): string {
  const { client, device } = view
  const { texts } = locale
  const name = clientNameOf(client)
  return pageDocument({
    title: around(texts.consent.title, name),
    locale,
    content: html`
      ${clientHeader(view, locale)} ${client.unregistered && claimWarning(client.unregistered, locale)}
      ${device === undefined ? receiverWarning(view.receiver, locale) : deviceWarning(locale)}
      <form method="post" action="${view.action}" autocomplete="off">
        ${hiddenFields(view.fields)} ${permissions(view.scope, texts)} ${circumstances(view, locale)}
        ${view.question && view.problem === undefined && questionPart(view.question, texts)}
        ${decisionButtons(view.problem, texts)}
      </form>
      ${device && html`<form id="switch" method="post" action="${view.action}">${hiddenFields(view.fields)}</form>`}
      ${fineprint(view, locale)}
    `,
  })
}

function clientHeader(view: ConsentView, locale: PageLocale): Html {
  const { unregistered, description, logo_uri, client_uri } = view.client
  const name = clientNameOf(view.client)
  return html`<header class="intro">
    ${mark(name, unregistered === undefined ? logo_uri : undefined)}
    <h1>
      <bdi class="name">${name}</bdi>
      ${unregistered && origin(unregistered, locale)}
      <span class="subtitle">${requestLine(view, locale)}</span>
    </h1>
    ${!unregistered && webLink(client_uri)}
    ${description && html`<p class="description" dir="auto">${description}</p>`}
  </header>`
}

function requestLine({ service, device }: ConsentView, { texts }: PageLocale): string | Html {
  if (device !== undefined) return texts.device.request
  return service.name === undefined
    ? texts.consent.request
    : around(texts.consent.requestAt, html`<bdi>${service.name}</bdi>`)
}

type Unregistered = NonNullable<ConsentView['client']['unregistered']>

export function origin({ host }: Unregistered, { texts }: PageLocale): Html {
  return html`${host !== undefined && html`<span class="origin">${around(texts.consent.origin, html`<bdi>${host}</bdi>`)}</span>`}
    <span class="badge">${texts.consent.unverifiedMark}</span>`
}

function claimWarning({ host }: Unregistered, { texts: { consent } }: PageLocale): Html {
  const title = host === undefined ? consent.selfRegistered : consent.notRegistered
  const certain = host !== undefined && around(consent.certain, html`<bdi>${host}</bdi>`)
  return caution(title, html`${consent.ownClaim} ${certain}`)
}

const caution = (title: string, text: HtmlValue): Html =>
  html`<p class="assurance caution" role="note"><strong>${title}</strong> ${text}</p>`

// RFC 8252 8.6: another program may take the place of any client.
function receiverWarning(
  receiver: ConsentView['receiver'],
  { texts: { consent } }: PageLocale,
): Html | undefined {
  if (receiver === 'device') return caution(consent.deviceTitle, consent.device)
  return receiver === 'app' ? caution(consent.appTitle, consent.app) : undefined
}

// If the logo does not load, its alternative text shows: the initial.
function mark(name: string, logoUri: string | undefined): Html {
  const initial = /[\p{L}\p{N}\p{Extended_Pictographic}]/u.exec(name)?.[0].toUpperCase() ?? '?'
  const logo = webUrl(logoUri)
  const picture =
    logo?.protocol === 'https:' &&
    html`<img src="${logo.href}" alt="${initial}" referrerpolicy="no-referrer" />`
  return html`<div class="mark" aria-hidden="true">${picture || initial}</div>`
}

// RFC 8628 5.4, RFC 10027: nobody else has a reason to send a code.
export const deviceWarning = ({ texts: { device } }: PageLocale): Html =>
  caution(device.warningTitle, device.warning)

function circumstances(view: ConsentView, locale: PageLocale): Html {
  const { common, consent } = locale.texts
  const { resourceOwner, redirectTo, device } = view
  const who = html`<bdi>${resourceOwner.name || resourceOwner.subject}</bdi> ${otherAccount(view, locale)}`
  return html`<dl class="facts">
    ${view.facts.map((one) => fact(one, consent.facts))} ${device && deviceRows(device, locale)}
    ${row(common.signedInAs, who)}
    ${redirectTo !== undefined && row(common.returnsTo, html`<bdi>${destination(redirectTo, common.appOnDevice)}</bdi>`)}
  </dl>`
}

function otherAccount({ switchAccount, device }: ConsentView, { texts: { consent } }: PageLocale): HtmlValue {
  if (device !== undefined)
    return html`<button type="submit" form="switch" name="decision" value="switch">${consent.notYou}</button>`
  return switchAccount !== undefined && html`<a href="${switchAccount}">${consent.notYou}</a>`
}

function deviceRows(view: NonNullable<ConsentView['device']>, locale: PageLocale): Html {
  const { device } = locale.texts
  const { userCode, requestedFrom } = view
  return html`${row(device.code, html`<code>${userCode}</code>`)}
  ${requestedFrom !== undefined && row(device.requestedFrom, html`<bdi dir="ltr">${requestedFrom}</bdi>`)}
  ${row(device.requestedAt, ago(view, locale))}`
}

// The server does not know the time zone.
function ago({ requestedAt, now }: NonNullable<ConsentView['device']>, { tag }: PageLocale): Html {
  const seconds = Math.max(0, now - requestedAt)
  const format = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' })
  const text =
    seconds < 60 ? format.format(-seconds, 'second') : format.format(-Math.floor(seconds / 60), 'minute')
  return html`<time datetime="${new Date(requestedAt * 1000).toISOString()}">${text}</time>`
}

export function fact(
  { name, label, values }: ConsentFact,
  labels: Readonly<Record<string, string>>,
  withCode = true,
): Html {
  const details = values.map(({ value, description }) => {
    const isOther = withCode && value.replaceAll('_', ' ') !== description
    return html`<p><bdi>${description}</bdi>${isOther && html` <code>${value}</code>`}</p>`
  })
  return html`<div>
    <dt dir="auto">${Object.hasOwn(labels, name) ? labels[name] : label}</dt>
    <dd>${details}</dd>
  </div>`
}

// A URI stays as it is.
const wordsOf = (name: string) => (/^\w+$/.test(name) ? name.replaceAll('_', ' ') : name)

export function claimsFact(names: readonly string[]): readonly ConsentFact[] {
  const values = names.map((value) => ({ value, description: wordsOf(value) }))
  return values.length === 0 ? [] : [{ name: 'claims', label: 'About you', values }]
}

function fineprint(
  { client, manageAt }: Pick<ConsentView, 'client' | 'manageAt'>,
  { texts: { consent } }: PageLocale,
): Html | undefined {
  const policy = webLink(client.policy_uri, consent.policy)
  const terms = webLink(client.tos_uri, consent.terms)
  // The decision is still to come.
  const place = html`<a href="${manageAt ?? ''}" target="_blank" rel="noopener">${consent.manageLink}</a>`
  if (policy === undefined && terms === undefined && manageAt === undefined) return undefined
  return html`<footer class="fineprint">
    ${manageAt !== undefined && html`<p>${around(consent.manage, place)}</p>`} ${policy} ${terms}
  </footer>`
}

export const clientNameOf = (client: Pick<ConsentView['client'], 'client_id' | 'client_name'>): string =>
  visibleName(client.client_name) ?? client.client_id

/** Undefined for `javascript:` and others. */
export function webUrl(uri: string | undefined): URL | undefined {
  if (uri === undefined) return undefined
  try {
    const url = new URL(uri)
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
  } catch {
    return undefined
  }
}

/** In a new tab: the consent page stays. */
function webLink(uri: string | undefined, text?: string): Html | undefined {
  const url = webUrl(uri)
  if (!url) return undefined
  return html`<a href="${url.href}" target="_blank" rel="noopener noreferrer nofollow"
    >${text === undefined ? html`<bdi>${url.host}</bdi>` : text}</a
  >`
}

export function destination(uri: string, app: string): string {
  const url = webUrl(uri)
  if (url) return url.protocol === 'https:' ? url.host : url.origin
  return URL.canParse(uri) ? app.replace('{}', () => new URL(uri).protocol) : uri
}
