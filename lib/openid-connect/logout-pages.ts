import { around, hiddenFields, html, notice } from '../pages/html'
import type { PageLocale } from '../pages/texts/locale'

interface LogoutQuestionView {
  readonly ownerName: string
  readonly clientName: string | undefined
  readonly action: string
  /** Hidden. The form also sends `decision`: `stay` or `log_out`. */
  readonly fields: Readonly<Record<string, string>>
}

export function logoutQuestionPage(view: LogoutQuestionView, locale: PageLocale): string {
  const { logout } = locale.texts
  const { clientName } = view
  const whose = around(logout.loggedInAs, html`<bdi>${view.ownerName}</bdi>`)
  const asking = clientName !== undefined && html` ${around(logout.asks, html`<bdi>${clientName}</bdi>`)}`
  const form = html`<form method="post" action="${view.action}">
    ${hiddenFields(view.fields)}
    <div class="actions">
      <button type="submit" name="decision" value="stay">${logout.stay}</button>
      <button type="submit" name="decision" value="log_out" class="primary">${logout.logOut}</button>
    </div>
  </form>`
  return notice(locale, undefined, logout.title, html`${whose}${asking}`, form)
}

interface LogoutEndView {
  readonly isLoggedOut: boolean
  readonly back: { readonly clientName: string; readonly uri: string } | undefined
}

export function logoutEndPage({ isLoggedOut, back }: LogoutEndView, locale: PageLocale): string {
  const { logout } = locale.texts
  const link =
    back !== undefined &&
    html`<div class="actions">
      <a href="${back.uri}">${around(logout.backTo, html`<bdi>${back.clientName}</bdi>`)}</a>
    </div>`
  return isLoggedOut
    ? notice(locale, undefined, logout.doneTitle, logout.done, link)
    : notice(locale, undefined, logout.stayedTitle, logout.stayed, link)
}
