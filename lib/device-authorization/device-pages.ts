import { clientNameOf, deviceWarning } from '../pages/consent-page'
import { around, hiddenFields, html, notice, pageDocument, row } from '../pages/html'
import type { PageLocale } from '../pages/texts/locale'
import type { DeviceAnswerView, DeviceCodeView, DeviceView } from './device-view'

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
