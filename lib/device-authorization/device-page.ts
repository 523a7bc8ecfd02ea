import { isDeepStrictEqual } from 'node:util'
import type { Authorization } from '../authorization/authorization'
import { authorizationIdOf } from '../authorization/claim'
import type { Transition } from '../authorization/transition'
import { loginRequestOf, parseRequestedLogin } from '../authorization-endpoint/requested-login'
import { nothingSelected, parseSelection } from '../protocol/selection'
import type { PlugInServer } from '../doors/plug-in'
import { clientViewOf, consentTokenField, scopeViewOf } from '../http/consent'
import type { OwnPage, OwnPageRequest } from '../doors/page-endpoint'
import { throttled } from '../limits/throttle'
import type { Client } from '../protocol/client'
import { isSameText } from '../protocol/credential'
import { type LoginRequest, loginQueryOf, plainLogin } from '../protocol/login-request'
import { OAuthError, Throttled } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { loginOf, type ResourceOwner } from '../protocol/resource-owner'
import {
  type Answer,
  decideDevice,
  demandDeviceLogin,
  enterCode,
  type Entered,
  openFor,
  releaseDevice,
} from './device-decision'
import { devicePage } from './device-pages'
import { deviceCodeGrant, type DeviceTerms } from './device-request'
import type { DeviceView } from './device-view'
import { guessThrottles } from './guesses'
import type { OpenRequest } from './kept-request'
import { parseUserCode, shownCode } from './user-code'

const codeField = 'user_code'
const textField = 'form'

/** RFC 8628 3.3. */
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
  let found: Found | undefined
  try {
    found = userCode === undefined ? undefined : await guess(server, terms, request, userCode)
  } catch (error) {
    if (!(error instanceof Throttled)) throw error
    return show(terms, request, { ...codeViewOf(terms, request), problem: 'too_many' }, error)
  }
  if (found === undefined || userCode === undefined) return showUnknown(terms, request)
  const { authorization, entered: before } = found
  const client = await findClient(server, authorization.clientId)
  if ('answer' in before) return show(terms, request, answerViewOf(request, before.answer, client))
  const login = await lookAt(server, before, client, resourceOwner)
  if (login !== undefined) {
    await server.commit(authorization.id, (current) => demandDeviceLogin(current, server.context()))
    return leadToLogin(server, terms, request, login)
  }
  const transition = enteringAt(server, terms, resourceOwner)
  const entered = await server.commit(authorization.id, transition)
  if (entered === undefined) return showUnknown(terms, request)
  if ('answer' in entered) return show(terms, request, answerViewOf(request, entered.answer, client))
  return show(
    terms,
    request,
    questionViewOf(server, request, { ...entered, client, userCode: shownCode(userCode) }),
  )
}

function showUnknown(terms: DeviceTerms, request: OwnPageRequest) {
  const view = { ...codeViewOf(terms, request), problem: 'unknown' } as const
  return show(terms, request, view, refused('user_code_unknown'))
}

interface Found {
  readonly authorization: Authorization
  readonly entered: Entered
}

const enteringAt =
  (server: PlugInServer, { key }: DeviceTerms, owner: ResourceOwner): Transition<Entered | undefined> =>
  (current) =>
    enterCode(current, owner, { key, requests: server.polledRequests, context: server.context() })

async function guess(
  server: PlugInServer,
  terms: DeviceTerms,
  { resourceOwner, address }: OwnPageRequest,
  userCode: string,
): Promise<Found | undefined> {
  const lookUp = async (): Promise<Found | undefined> => {
    const authorization = await server.find(terms.key.idOf(userCode))
    const result = enteringAt(server, terms, resourceOwner)(authorization)
    const entered = 'refusal' in result ? undefined : result.outcome
    return authorization && entered && { authorization, entered }
  }
  const limits = guessThrottles(terms.guesses, resourceOwner.subject, address)
  const found = await throttled(limits, server.counters, () =>
    lookUp().catch((error: unknown) => (error instanceof OAuthError ? error : Promise.reject(error))),
  )
  if (found instanceof OAuthError) throw found
  return found
}

const lookAt = (
  { polledRequests }: PlugInServer,
  { polled, kept: { loginDemandedAt } }: OpenRequest,
  client: Client,
  owner: ResourceOwner,
) => polledRequests.lookAt(owner, { client, polled, grantType: deviceCodeGrant, loginDemandedAt })

async function decide(server: PlugInServer, terms: DeviceTerms, request: OwnPageRequest) {
  const { parameters, resourceOwner, ownerReadAt } = request
  const { id, consentToken } = formOf(request)
  const approved = isApproval(parameters.require('decision'))
  const selection = approved ? parseSelection(parameters) : nothingSelected
  const login = loginOf(resourceOwner)
  const decision = { consentToken, subject: resourceOwner.subject, login, ownerReadAt, approved }
  const found = await server.find(id)
  if (found === undefined) throw refused('authorization_request_not_open')
  const client = await findClient(server, found.clientId)
  const open = approved ? openFor(found, decision) : undefined
  // The page's session has been checked.
  if (open !== undefined && !isDeepStrictEqual(found.login, login)) {
    const demanded = await lookAt(server, open, client, resourceOwner)
    if (demanded !== undefined) return leadToLogin(server, terms, request, demanded)
  }
  const pageTerms = { requests: server.polledRequests, context: server.context() }
  const answer = await server.commit(id, (current) =>
    decideDevice(current, decision, selection, client, pageTerms),
  )
  return show(terms, request, answerViewOf(request, answer, client))
}

function isApproval(decision: string): boolean {
  if (decision === 'approve') return true
  if (decision === 'deny') return false
  throw refused('decision_unknown/device')
}

async function release(server: PlugInServer, terms: DeviceTerms, request: OwnPageRequest) {
  const { id, consentToken } = formOf(request)
  const { subject } = request.resourceOwner
  await server.commit(id, (current) => releaseDevice(current, { consentToken, subject }))
  return leadToLogin(server, terms, request, chooseAccount)
}

const chooseAccount = { ...plainLogin, selectAccount: true }

function formOf({ parameters }: OwnPageRequest): { readonly id: string; readonly consentToken: string } {
  const consentToken = parameters.require(consentTokenField)
  const id = authorizationIdOf(consentToken)
  if (id === undefined) throw refused('authorization_request_unknown')
  return { id, consentToken }
}

async function findClient(server: PlugInServer, clientId: string): Promise<Client> {
  const client = await server.findClient(clientId)
  if (client === undefined) throw refused('client_unknown')
  if (client.disabled) throw refused('client_disabled')
  return client
}

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

interface Asked extends OpenRequest {
  readonly consentToken: string
  readonly client: Client
  readonly userCode: string
}

function questionViewOf(
  server: PlugInServer,
  request: OwnPageRequest,
  { polled, kept, consentToken, client, userCode }: Asked,
): Extract<DeviceView, { step: 'question' }> {
  const { polledRequests } = server
  const offered = { optional: polledRequests.optionalIn(polled), allowedBefore: [] }
  return {
    step: 'question',
    ...baseOf(request),
    fields: { [consentTokenField]: consentToken, [codeField]: userCode, ...languageOf(request) },
    client: clientViewOf(client),
    userCode,
    scope: polled.scope.map((token) =>
      scopeViewOf(token, polledRequests.describe(token), offered, request.locale),
    ),
    facts: kept.facts,
    requestedFrom: kept.address,
    requestedAt: kept.at,
    now: server.now(),
    manageAt: polledRequests.manageAt,
  }
}

const answerViewOf = (request: OwnPageRequest, answer: Answer, client: Client): DeviceView => ({
  step: 'answer',
  ...baseOf(request),
  answer,
  client: clientViewOf(client),
})

function show(
  { page: render }: DeviceTerms,
  { locale }: OwnPageRequest,
  view: DeviceView,
  refusal?: OAuthError,
): Awaited<ReturnType<OwnPage['handle']>> {
  const problem = refusal === undefined ? {} : { refusal }
  if (render === undefined) return { html: devicePage(view, locale), view, ...problem }
  return { view, ...problem, render: (request, response) => render(request, response, view) }
}
