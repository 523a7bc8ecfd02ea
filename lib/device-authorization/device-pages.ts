import { clientNameOf, type ConsentView, deviceWarning } from '../pages/consent-page'
import { around, hiddenFields, html, notice, pageDocument, row } from '../pages/html'
import type { PageLocale } from '../pages/texts/locale'

/**
 * What the page of devices shows before and after the consent page: the form for the code, and the answer that
 * counts. The option `page` of `deviceAuthorization()` gets it.
 */
export type DeviceView = DeviceCodeView | DeviceAnswerView

interface DeviceViewBase {
  /** By the option `pages.service`. */
  readonly service: ConsentView['service']
  /** The owner's best language among those of the pages. */
  readonly language: ConsentView['language']
  readonly resourceOwner: ConsentView['resourceOwner']
  /** The `action` of the form, which the browser sends by `POST` with the `fields`. */
  readonly action: string
  /** The hidden fields of the form, by name. */
  readonly fields: Readonly<Record<string, string>>
}

/** The form for the code: a field `user_code`. Warn of codes that somebody has sent (RFC 8628 5.4). */
export interface DeviceCodeView extends DeviceViewBase {
  readonly step: 'code'
  /** The code of a link, as `WDJB-MJHT`, which the owner compares with the device; undefined without one. */
  readonly userCode: string | undefined
  /** Why the page appears again: the code is good for nothing, or there were too many wrong codes. */
  readonly problem: 'unknown' | 'too_many' | undefined
  /** Leads to the host's login, to choose another account, and back. */
  readonly switchAccount: string
}

/** The answer that counts. The device hears of it by its next poll. */
export interface DeviceAnswerView extends DeviceViewBase {
  readonly step: 'answer'
  readonly answer: 'approved' | 'denied'
  readonly client: ConsentView['client']
}

export const devicePage = (view: DeviceView, locale: PageLocale): string =>
  view.step === 'code' ? codePage(view, locale) : answerPage(view, locale)

function codePage(view: DeviceCodeView, locale: PageLocale): string {
  const { device, common, consent } = locale.texts
  const { userCode, problem, resourceOwner, switchAccount } = view
  const described = problem === undefined ? 'code-hint' : 'code-problem code-hint'
  const who = html`<bdi>${resourceOwner.name || resourceOwner.subject}</bdi>
    <a href="${switchAccount}">${consent.notYou}</a>`
  return pageDocument({
    title: device.title,
    locale,
    content: html`
      <header class="intro">
        <h1>${device.title}</h1>
        <p id="code-hint">${userCode === undefined ? device.intro : device.fromLink}</p>
      </header>
      ${
        problem !== undefined &&
        html`<p class="assurance problem" role="alert" id="code-problem">
          ${problem === 'unknown' ? device.unknown : device.tooMany}
        </p>`
      }
      <form method="post" action="${view.action}" autocomplete="off">
        ${hiddenFields(view.fields)}
        <label
          >${device.code}
          <input
            name="user_code"
            value="${userCode ?? ''}"
            aria-describedby="${described}"
            autocapitalize="characters"
            autocomplete="off"
            spellcheck="false"
            maxlength="64"
            dir="ltr"
            required
            ${userCode === undefined && html`autofocus`}
          />
        </label>
        <div class="actions"><button type="submit" class="primary">${device.next}</button></div>
      </form>
      ${deviceWarning(locale)}
      <dl class="facts">${row(common.signedInAs, who)}</dl>
    `,
  })
}

function answerPage({ answer, client }: DeviceAnswerView, locale: PageLocale): string {
  const { device } = locale.texts
  if (answer === 'denied') return notice(locale, '!', device.deniedTitle, device.denied)
  const approved = around(device.approved, html`<bdi>${clientNameOf(client)}</bdi>`)
  return notice(locale, '✓', device.approvedTitle, approved)
}
