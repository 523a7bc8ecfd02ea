import { claimWarning, clientHeader, clientNameOf, fact, fineprint } from '../pages/consent-page'
import { decisionButtons } from '../pages/consent-question'
import { around, hiddenFields, html, type Html, notice, pageDocument, row } from '../pages/html'
import { permissions } from '../pages/permissions'
import type { PageLocale } from '../pages/texts/locale'
import type { DeviceAnswerView, DeviceCodeView, DeviceQuestionView, DeviceView } from './device-view'

export function devicePage(view: DeviceView, locale: PageLocale): string {
  switch (view.step) {
    case 'code':
      return codePage(view, locale)
    case 'question':
      return questionPage(view, locale)
    case 'answer':
      return answerPage(view, locale)
  }
}

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
      ${warning(locale)}
      <dl class="facts">${row(common.signedInAs, who)}</dl>
    `,
  })
}

// RFC 8628 5.4 and RFC 10027: nobody else has a reason to send a code.
const warning = ({ texts: { device } }: PageLocale) =>
  html`<p class="assurance caution" role="note"><strong>${device.warningTitle}</strong> ${device.warning}</p>`

function questionPage(view: DeviceQuestionView, locale: PageLocale): string {
  const { client } = view
  const { texts } = locale
  return pageDocument({
    title: around(texts.consent.title, clientNameOf(client)),
    locale,
    content: html`
      ${clientHeader(client, texts.device.request, locale)}
      ${client.unregistered && claimWarning(client.unregistered, locale)} ${warning(locale)}
      <form method="post" action="${view.action}" autocomplete="off">
        ${hiddenFields(view.fields)} ${permissions(view.scope, texts)} ${circumstances(view, locale)}
        ${decisionButtons(undefined, texts)}
      </form>
      <form id="switch" method="post" action="${view.action}">${hiddenFields(view.fields)}</form>
      ${fineprint(view, locale)}
    `,
  })
}

function circumstances(view: DeviceQuestionView, locale: PageLocale): Html {
  const { common, consent, device } = locale.texts
  const { resourceOwner, userCode, requestedFrom } = view
  const who = html`<bdi>${resourceOwner.name || resourceOwner.subject}</bdi>
    <button type="submit" form="switch" name="decision" value="switch">${consent.notYou}</button>`
  return html`<dl class="facts">
    ${view.facts.map((one) => fact(one, consent.facts))} ${row(device.code, html`<code>${userCode}</code>`)}
    ${requestedFrom !== undefined && row(device.requestedFrom, html`<bdi dir="ltr">${requestedFrom}</bdi>`)}
    ${row(device.requestedAt, ago(view, locale))} ${row(common.signedInAs, who)}
  </dl>`
}

// The server does not know the person's time zone.
function ago({ requestedAt, now }: DeviceQuestionView, { tag }: PageLocale): Html {
  const seconds = Math.max(0, now - requestedAt)
  const format = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' })
  const text =
    seconds < 60 ? format.format(-seconds, 'second') : format.format(-Math.floor(seconds / 60), 'minute')
  return html`<time datetime="${new Date(requestedAt * 1000).toISOString()}">${text}</time>`
}

function answerPage({ answer, client }: DeviceAnswerView, locale: PageLocale): string {
  const { device } = locale.texts
  if (answer === 'denied') return notice(locale, '!', device.deniedTitle, device.denied)
  const approved = around(device.approved, html`<bdi>${clientNameOf(client)}</bdi>`)
  return notice(locale, '✓', device.approvedTitle, approved)
}
