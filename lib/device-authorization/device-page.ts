import { loginRequestOf, parseRequestedLogin } from '../authorization-endpoint/requested-login'
import type { PluginServer } from '../doors/plug-in'
import { languageFields, type OwnPage, type OwnPageRequest, pageOf, viewBase } from '../doors/page-endpoint'
import type { FoundRequest } from '../doors/polled-requests'
import { clientViewOf } from '../http/consent'
import { throttled, tooManyFailures, tooManyOfNetwork } from '../limits/counters'
import type { Client } from '../protocol/client'
import { isSameText } from '../protocol/credential'
import { consentTokenField } from '../protocol/owner-question'
import { type LoginRequest, loginQueryOf, plainLogin } from '../protocol/resource-owner'
import { OAuthError, Throttled } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { type DeviceAnswerView, type DeviceCodeView, devicePage, type DeviceView } from './device-pages'
import { deviceCodeGrant, deviceDataIn, type DeviceTerms, type GuessLimits } from './device-request'
import { parseUserCode, shownCode } from './user-code'

const codeField = 'user_code'
const textField = 'form'

type Answer = ReturnType<OwnPage['handle']>

/** RFC 8628 3.3: the consent page, with a code before it. */
export function verificationPage(server: PluginServer, terms: DeviceTerms): OwnPage {
  const page = new VerificationPage(server, terms)
  const handle = (request: OwnPageRequest) => page.handle(request)
  return { kind: 'page', name: 'device', path: terms.pagePath, login: 'required', json: true, handle }
}

class VerificationPage {
  constructor(
    private readonly server: PluginServer,
    private readonly terms: DeviceTerms,
  ) {}

  async handle(request: OwnPageRequest): Answer {
    const { method, parameters } = request
    // Opening a link claims nothing: its sender could wait at the device (RFC 8628 5.4).
    if (method === 'GET') return this.logIn(request) ?? this.show(request, this.codeView(request))
    if (!parameters.mentions(consentTokenField)) return this.enter(request)
    if (parameters.require('decision') !== 'switch') return this.decide(request)
    await this.server.polledRequests.release(request)
    return this.leadToLogin(request, chooseAccount)
  }

  private async enter(request: OwnPageRequest): Answer {
    const { parameters, resourceOwner } = request
    const { key } = this.terms
    // Another site must not skip the owner's comparison of the code.
    if (!isSameText(parameters.get(textField) ?? '', key.formText(resourceOwner.subject)))
      return this.show(request, this.codeView(request), refused('form_cross_site'))
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
    const limits = guessThrottles(this.terms.guesses, resourceOwner.subject, address)
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
      device: { userCode, requestedFrom: data.address, requestedAt: data.at, now: server.now() },
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
    const base = baseOf(request)
    return {
      step: 'code',
      ...base,
      fields: { [textField]: this.terms.key.formText(request.resourceOwner.subject), ...base.fields },
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

const baseOf = (request: OwnPageRequest) => ({
  ...viewBase(request),
  fields: languageFields(request.parameters),
})

const answerViewOf = (
  request: OwnPageRequest,
  answer: DeviceAnswerView['answer'],
  client: Client,
): DeviceView => ({ step: 'answer', ...baseOf(request), answer, client: clientViewOf(client) })

/** RFC 8628 5.1. No count for all owners together: a stranger could lock out everybody. */
const guessThrottles = ({ owner, network }: GuessLimits, subject: string, address: string | undefined) => [
  ...tooManyFailures('user_code_owner_limited', owner, 'device:owner', subject),
  ...tooManyOfNetwork('user_code_network_limited', network, 'device:network', address),
]
