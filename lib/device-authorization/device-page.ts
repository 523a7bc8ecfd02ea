import { loginRequestOf, parseRequestedLogin } from '../authorization-endpoint/requested-login'
import {
  languageFields,
  type OwnPage,
  type OwnPageRequest,
  pageOf,
  type RenderView,
  viewBase,
} from '../doors/page-endpoint'
import type { FoundRequest, PluginServer } from '../doors/plug-in'
import { clientViewOf } from '../http/consent'
import { throttled, tooManyFailures, tooManyOfNetwork } from '../limits/counters'
import type { Limit } from '../limits/limit'
import { clientNameOf, type ConsentView, deviceWarning } from '../pages/consent-page'
import { around, hiddenFields, html, notice, pageDocument, row } from '../pages/html'
import type { PageLocale } from '../pages/texts/locale'
import type { Client } from '../protocol/client'
import { isSameText } from '../protocol/credential'
import { OAuthError, Throttled } from '../protocol/oauth-error'
import { consentTokenField } from '../protocol/owner-question'
import { refused } from '../protocol/refusals'
import { type LoginRequest, loginQueryOf, plainLogin } from '../protocol/resource-owner'
import { deviceCodeGrant, deviceDataIn, type DeviceTerms, parseUserCode, shownCode } from './device-request'

const codeField = 'user_code'
const textField = 'form'

export interface DevicePageTerms extends DeviceTerms {
  readonly guesses: Readonly<Record<'owner' | 'network', Limit | undefined>>
  readonly page: RenderView<DeviceView> | undefined
}

type Answer = ReturnType<OwnPage['handle']>

/** RFC 8628 3.3. */
export function verificationPage(server: PluginServer, terms: DevicePageTerms): OwnPage {
  const page = new VerificationPage(server, terms)
  const handle = (request: OwnPageRequest) => page.handle(request)
  return { kind: 'page', name: 'device', path: terms.pagePath, login: 'required', json: true, handle }
}

class VerificationPage {
  constructor(
    private readonly server: PluginServer,
    private readonly terms: DevicePageTerms,
  ) {}

  async handle(request: OwnPageRequest): Answer {
    const { method, parameters } = request
    // RFC 8628 5.4: a link claims nothing, because its sender could wait at the device.
    if (method === 'GET') return this.logIn(request) ?? this.show(request, this.codeView(request))
    if (!parameters.mentions(consentTokenField)) return this.enter(request)
    if (parameters.require('decision') !== 'switch') return this.decide(request)
    await this.server.polledRequests.release(request)
    return this.leadToLogin(request, chooseAccount)
  }

  private async enter(request: OwnPageRequest): Answer {
    const { parameters, resourceOwner } = request
    const { key } = this.terms
    // Another site must not skip the comparison of the code.
    if (!isSameText(parameters.get(textField) ?? '', key.formText(resourceOwner.subject)))
      return this.show(request, this.codeView(request), refused('form_cross_site/device'))
    const userCode = parseUserCode(parameters.get(codeField) ?? '')
    let found: FoundRequest | undefined
    try {
      found = userCode === undefined ? undefined : await this.guess(request, key.idOf(userCode))
    } catch (error) {
      if (!(error instanceof Throttled)) throw error
      return this.show(request, this.codeView(request, 'too_many'), error)
    }
    const entered = found && userCode && (await this.ask(request, found, userCode))
    return entered || this.show(request, this.codeView(request, 'unknown'), refused('user_code_unknown'))
  }

  private async guess(request: OwnPageRequest, id: string): Promise<FoundRequest | undefined> {
    const { resourceOwner, address } = request
    const { owner, network } = this.terms.guesses
    // RFC 8628 5.1. No count for all owners together: a stranger could lock them out.
    const limits = [
      ...tooManyFailures('user_code_owner_limited', owner, 'device:owner', resourceOwner.subject),
      ...tooManyOfNetwork('user_code_network_limited', network, 'device:network', address),
    ]
    // A store in trouble is no wrong code.
    const find = () =>
      this.server.polledRequests
        .find(id, resourceOwner)
        .catch((error: unknown) => (error instanceof OAuthError ? error : Promise.reject(error)))
    const found = await throttled(limits, this.server.counters, find)
    if (found instanceof OAuthError) throw found
    return found
  }

  /** Undefined if another owner was faster. */
  private async ask(request: OwnPageRequest, found: FoundRequest, code: string) {
    const { server, terms } = this
    const { authorization } = found.found
    if (found.answer !== undefined) {
      const client = await server.findClient(authorization.clientId)
      if (client === undefined) throw refused('client_unknown')
      return this.show(request, answerViewOf(request, found.answer, client))
    }
    const data = authorization.state === 'requested' ? deviceDataIn(authorization) : undefined
    if (data === undefined) return undefined
    const userCode = shownCode(code)
    const entered = await server.polledRequests.enter(request, found, {
      grantType: deviceCodeGrant,
      secret: terms.key.consentSecret(authorization.id, request.resourceOwner.subject),
      device: { userCode, requestedFrom: data.requestedFrom, requestedAt: data.at, now: server.now() },
      fields: { [codeField]: userCode },
    })
    if (entered === undefined) return undefined
    return 'login' in entered ? this.leadToLogin(request, entered.login) : entered.page
  }

  private async decide(request: OwnPageRequest): Answer {
    const decided = await this.server.polledRequests.decide(request, deviceCodeGrant)
    return 'login' in decided
      ? this.leadToLogin(request, decided.login)
      : this.show(request, answerViewOf(request, decided.answer, decided.client))
  }

  private logIn(request: OwnPageRequest) {
    const requested = parseRequestedLogin(request.parameters)
    const asked = loginRequestOf(requested, requested?.prompts.has('login') === true)
    if (!asked.again && !asked.selectAccount) return undefined
    const query = queryOf(request, {})
    const { pagePath } = this.terms
    return { logIn: { ...asked, returnTo: query === '' ? pagePath : `${pagePath}?${query}` } }
  }

  private leadToLogin(request: OwnPageRequest, login: LoginRequest) {
    const { pathname } = new URL(this.server.urlOf(this.terms.pagePath))
    return { redirect: `${pathname}${loginLink(request, login)}` }
  }

  private codeView(request: OwnPageRequest, problem?: DeviceCodeView['problem']): DeviceCodeView {
    const text = this.terms.key.formText(request.resourceOwner.subject)
    return {
      step: 'code',
      ...viewBase(request),
      fields: { [textField]: text, ...languageFields(request.parameters) },
      userCode: codeIn(request),
      problem,
      switchAccount: loginLink(request, chooseAccount),
    }
  }

  private show({ locale }: OwnPageRequest, view: DeviceView, refusal?: OAuthError): Awaited<Answer> {
    const page = pageOf(view, this.terms.page, (shown) => devicePage(shown, locale))
    return { ...page, ...(refusal && { refusal }) }
  }
}

const chooseAccount = { ...plainLogin, selectAccount: true }

const loginLink = (request: OwnPageRequest, login: LoginRequest) =>
  `?${queryOf(request, loginQueryOf(login))}`

function queryOf(request: OwnPageRequest, fields: Readonly<Record<string, string>>): string {
  const userCode = codeIn(request)
  const code = userCode === undefined ? {} : { [codeField]: userCode }
  return new URLSearchParams({ ...code, ...fields, ...languageFields(request.parameters) }).toString()
}

function codeIn({ parameters }: OwnPageRequest): string | undefined {
  const userCode = parseUserCode(parameters.peek(codeField) ?? '')
  return userCode && shownCode(userCode)
}

function answerViewOf(
  request: OwnPageRequest,
  answer: DeviceAnswerView['answer'],
  client: Client,
): DeviceView {
  const fields = languageFields(request.parameters)
  return { step: 'answer', ...viewBase(request), fields, answer, client: clientViewOf(client) }
}

/** What the page of devices shows before and after the consent page, for the option `page`. */
export type DeviceView = DeviceCodeView | DeviceAnswerView

interface DeviceViewBase extends Pick<ConsentView, 'service' | 'language' | 'resourceOwner'> {
  /** The `action` of the form, sent by `POST` with the `fields`. */
  readonly action: string
  /** The hidden fields, by name. */
  readonly fields: Readonly<Record<string, string>>
}

/** The form for the code: a field `user_code`. Warn of codes that somebody has sent (RFC 8628 5.4). */
export interface DeviceCodeView extends DeviceViewBase {
  readonly step: 'code'
  /** The code of a link, such as `WDJB-MJHT`, to compare with the device; undefined without one. */
  readonly userCode: string | undefined
  /** Why the page appears again: the code is good for nothing, or there were too many wrong codes. */
  readonly problem: 'unknown' | 'too_many' | undefined
  /** Leads to the login of the host, to choose another account. */
  readonly switchAccount: string
}

/** The answer that counts. The next poll of the device gets it. */
export interface DeviceAnswerView extends DeviceViewBase {
  readonly step: 'answer'
  readonly answer: 'approved' | 'denied'
  readonly client: ConsentView['client']
}

const devicePage = (view: DeviceView, locale: PageLocale): string =>
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
