import { loginRequestOf, parseRequestedLogin } from '../authorization-endpoint/requested-login'
import type { PlugInServer } from '../doors/plug-in'
import { type OwnPage, type OwnPageRequest, pageOf } from '../doors/page-endpoint'
import type { FoundRequest } from '../doors/polled-requests'
import { clientViewOf } from '../http/consent'
import { networksOf } from '../limits/network'
import { type FailureThrottle, throttled, tooManyFailures } from '../limits/throttle'
import type { Client } from '../protocol/client'
import { isSameText } from '../protocol/credential'
import { consentTokenField } from '../protocol/owner-question'
import { type LoginRequest, loginQueryOf, plainLogin } from '../protocol/resource-owner'
import { OAuthError, Throttled } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { type DeviceAnswerView, devicePage, type DeviceView } from './device-pages'
import { deviceCodeGrant, deviceDataIn, type DeviceTerms, type GuessLimits } from './device-request'
import { parseUserCode, shownCode } from './user-code'

const codeField = 'user_code'
const textField = 'form'

/** RFC 8628 3.3: the consent page, with a code before it. */
export function verificationPage(server: PlugInServer, terms: DeviceTerms): OwnPage {
  return {
    kind: 'page',
    name: 'device',
    path: terms.pagePath,
    login: 'required',
    json: true,
    async handle(request) {
      const { method, parameters } = request
      // Opening a link claims nothing: its sender could wait at the device (RFC 8628 5.4).
      if (method === 'GET') return logIn(terms, request) ?? show(terms, request, codeViewOf(terms, request))
      if (!parameters.mentions(consentTokenField)) return enter(server, terms, request)
      return parameters.require('decision') === 'switch'
        ? release(server, terms, request)
        : decide(server, terms, request)
    },
  }
}

async function enter(server: PlugInServer, terms: DeviceTerms, request: OwnPageRequest) {
  const { parameters, resourceOwner } = request
  // Another site must not skip the owner's comparison of the code.
  if (!isSameText(parameters.get(textField) ?? '', terms.key.formText(resourceOwner.subject)))
    return show(terms, request, codeViewOf(terms, request), refused('form_cross_site'))
  const userCode = parseUserCode(parameters.get(codeField) ?? '')
  const id = userCode === undefined ? undefined : terms.key.idOf(userCode)
  let found: FoundRequest | undefined
  try {
    found = id === undefined ? undefined : await guess(server, terms, request, id)
  } catch (error) {
    if (!(error instanceof Throttled)) throw error
    return show(terms, request, { ...codeViewOf(terms, request), problem: 'too_many' }, error)
  }
  const entered = found && userCode && (await ask(server, terms, request, found, userCode))
  return entered || showUnknown(terms, request)
}

/** Undefined if another owner was faster. */
async function ask(
  server: PlugInServer,
  terms: DeviceTerms,
  request: OwnPageRequest,
  found: FoundRequest,
  code: string,
) {
  const { authorization } = found.found
  if (found.answer !== undefined) {
    const client = await server.findClient(authorization.clientId)
    if (client === undefined) throw refused('client_unknown')
    return show(terms, request, answerViewOf(request, found.answer, client))
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
  return 'login' in entered ? leadToLogin(server, terms, request, entered.login) : entered.page
}

function showUnknown(terms: DeviceTerms, request: OwnPageRequest) {
  const view = { ...codeViewOf(terms, request), problem: 'unknown' } as const
  return show(terms, request, view, refused('user_code_unknown'))
}

async function guess(
  server: PlugInServer,
  { guesses }: DeviceTerms,
  { resourceOwner, address }: OwnPageRequest,
  id: string,
): Promise<FoundRequest | undefined> {
  const limits = guessThrottles(guesses, resourceOwner.subject, address)
  // A store in trouble is no wrong code.
  const find = () =>
    server.polledRequests
      .find(id, resourceOwner)
      .catch((error: unknown) => (error instanceof OAuthError ? error : Promise.reject(error)))
  const found = await throttled(limits, server.counters, find)
  if (found instanceof OAuthError) throw found
  return found
}

async function decide(server: PlugInServer, terms: DeviceTerms, request: OwnPageRequest) {
  const decided = await server.polledRequests.decide(request, deviceCodeGrant)
  return 'login' in decided
    ? leadToLogin(server, terms, request, decided.login)
    : show(terms, request, answerViewOf(request, decided.answer, decided.client))
}

async function release(server: PlugInServer, terms: DeviceTerms, request: OwnPageRequest) {
  await server.polledRequests.release(request)
  return leadToLogin(server, terms, request, chooseAccount)
}

const chooseAccount = { ...plainLogin, selectAccount: true }

function logIn({ pagePath }: DeviceTerms, request: OwnPageRequest) {
  const requested = parseRequestedLogin(request.parameters)
  const asked = loginRequestOf(requested, requested?.prompts.has('login') === true)
  if (!asked.again && !asked.selectAccount) return undefined
  const query = queryOf(request, {})
  return { logIn: { ...asked, returnTo: query === '' ? pagePath : `${pagePath}?${query}` } }
}

function leadToLogin(
  server: PlugInServer,
  { pagePath }: DeviceTerms,
  request: OwnPageRequest,
  login: LoginRequest,
) {
  const { pathname } = new URL(server.urlOf(pagePath))
  return { redirect: `${pathname}${loginLink(request, login)}` }
}

const loginLink = (request: OwnPageRequest, login: LoginRequest) =>
  `?${queryOf(request, loginQueryOf(login))}`

function queryOf(request: OwnPageRequest, fields: Readonly<Record<string, string>>): string {
  const userCode = codeIn(request)
  const code = userCode === undefined ? {} : { [codeField]: userCode }
  return new URLSearchParams({ ...code, ...fields, ...languageOf(request) }).toString()
}

function codeIn({ parameters }: OwnPageRequest): string | undefined {
  const userCode = parseUserCode(parameters.peek(codeField) ?? '')
  return userCode && shownCode(userCode)
}

function languageOf({ parameters }: OwnPageRequest): Readonly<Record<string, string>> {
  const languages = parameters.peek('ui_locales')
  return languages === undefined ? {} : { ui_locales: languages }
}

function baseOf(request: OwnPageRequest) {
  const { tag, dir, service } = request.locale
  const { subject, name } = request.resourceOwner
  return {
    service,
    language: { tag, dir },
    resourceOwner: { subject, name },
    // Works behind a proxy that prefixes the path.
    action: '?',
    fields: languageOf(request),
  }
}

function codeViewOf({ key }: DeviceTerms, request: OwnPageRequest): Extract<DeviceView, { step: 'code' }> {
  const base = baseOf(request)
  return {
    step: 'code',
    ...base,
    fields: { [textField]: key.formText(request.resourceOwner.subject), ...base.fields },
    userCode: codeIn(request),
    problem: undefined,
    switchAccount: loginLink(request, chooseAccount),
  }
}

const answerViewOf = (
  request: OwnPageRequest,
  answer: DeviceAnswerView['answer'],
  client: Client,
): DeviceView => ({ step: 'answer', ...baseOf(request), answer, client: clientViewOf(client) })

function show(
  { page }: DeviceTerms,
  { locale }: OwnPageRequest,
  view: DeviceView,
  refusal?: OAuthError,
): Awaited<ReturnType<OwnPage['handle']>> {
  return { ...pageOf(view, page, (shown) => devicePage(shown, locale)), ...(refusal && { refusal }) }
}

/** RFC 8628 5.1. No count for all owners together: a stranger could lock out everybody. */
function guessThrottles(
  { owner, network }: GuessLimits,
  subject: string,
  address: string | undefined,
): readonly FailureThrottle[] {
  return [
    ...tooManyFailures('user_code_owner_limited', owner, 'device:owner', subject),
    ...networksOf(address).flatMap((counted) =>
      tooManyFailures(
        'user_code_network_limited',
        network && { ...network, attempts: network.attempts * counted.factor },
        'device:network',
        counted.network,
      ),
    ),
  ]
}
