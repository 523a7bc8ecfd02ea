import type { Polled } from '../authorization/authorization'
import { authorizationIdOf } from '../authorization/claim'
import { nothingSelected, parseSelection } from '../authorization-endpoint/selection'
import type { PlugInServer } from '../config/plug-in'
import { clientViewOf, consentTokenField, scopeViewOf } from '../http/consent'
import type { OwnPage, OwnPageRequest } from '../http/own-page'
import { throttled } from '../limits/throttle'
import type { Client } from '../protocol/client'
import { invalidRequest, OAuthError, Throttled } from '../protocol/oauth-error'
import { type Answer, decideDevice, enterCode, type Entered, releaseDevice } from './device-decision'
import { devicePage } from './device-pages'
import type { DeviceTerms } from './device-terms'
import type { DeviceView } from './device-view'
import { guessThrottles } from './guesses'
import type { KeptRequest } from './kept-request'
import { parseUserCode, shownCode } from './user-code'

const codeField = 'user_code'
const switchField = 'switch_account'

/** The page on which an owner enters a user code, and decides (RFC 8628 3.3). */
export function verificationPage(server: PlugInServer, terms: DeviceTerms): OwnPage {
  return {
    kind: 'page',
    name: 'device',
    path: terms.pagePath,
    login: 'required',
    json: true,
    async handle(request) {
      const { method, parameters } = request
      if (method === 'GET')
        // Opening a link claims nothing: its sender could wait at the device (RFC 8628 5.4).
        return parameters.mentions(switchField)
          ? chooseAccount(terms, request)
          : show(terms, request, codeViewOf(request))
      if (!parameters.mentions(consentTokenField)) return enter(server, terms, request)
      return parameters.require('decision') === 'switch'
        ? release(server, terms, request)
        : decide(server, terms, request)
    },
  }
}

/** Confirms a code: shows the question, the answer of before, or the form again. */
async function enter(server: PlugInServer, terms: DeviceTerms, request: OwnPageRequest) {
  const { parameters } = request
  const userCode = parseUserCode(parameters.get(codeField) ?? '')
  let entered: Entered | undefined
  try {
    entered = userCode === undefined ? undefined : await guess(server, terms, request, userCode)
  } catch (error) {
    if (!(error instanceof Throttled)) throw error
    return show(terms, request, { ...codeViewOf(request), problem: 'too_many' }, error)
  }
  if (entered === undefined || userCode === undefined) {
    const refusal = invalidRequest(
      'user_code_unknown',
      'The user code is not known, has expired or is in use.',
    )
    return show(terms, request, { ...codeViewOf(request), problem: 'unknown' }, refusal)
  }
  if ('answer' in entered)
    return show(
      terms,
      request,
      answerViewOf(request, entered.answer, await findClient(server, entered.clientId)),
    )
  const client = await findClient(server, entered.polled.clientId)
  return show(
    terms,
    request,
    questionViewOf(server, request, { ...entered, client, userCode: shownCode(userCode) }),
  )
}

/** @throws Throttled after too many wrong codes: the store is not asked. */
async function guess(
  server: PlugInServer,
  { key, guesses }: DeviceTerms,
  { resourceOwner, address }: OwnPageRequest,
  userCode: string,
): Promise<Entered | undefined> {
  const limits = guessThrottles(guesses, resourceOwner.subject, address)
  const entered = await throttled(limits, server.counters, () =>
    server
      .commit(key.idOf(userCode), (current) =>
        enterCode(current, resourceOwner, {
          key,
          requests: server.polledRequests,
          context: server.context(),
        }),
      )
      // A store that fails says nothing about the code.
      .catch((error: unknown) => (error instanceof OAuthError ? error : Promise.reject(error))),
  )
  if (entered instanceof OAuthError) throw entered
  return entered
}

/** Carries out the decision of the owner. */
async function decide(server: PlugInServer, terms: DeviceTerms, request: OwnPageRequest) {
  const { parameters, resourceOwner, ownerReadAt } = request
  const { id, consentToken } = formOf(request)
  const approved = isApproval(parameters.require('decision'))
  const selection = approved ? parseSelection(parameters) : nothingSelected
  const decision = { consentToken, subject: resourceOwner.subject, ownerReadAt, approved }
  const found = await server.find(id)
  if (found === undefined)
    throw invalidRequest('authorization_request_not_open', 'The authorization request is not open any more.')
  const client = await findClient(server, found.clientId)
  const pageTerms = { requests: server.polledRequests, context: server.context() }
  const answer = await server.commit(id, (current) =>
    decideDevice(current, decision, selection, client, pageTerms),
  )
  return show(terms, request, answerViewOf(request, answer, client))
}

function isApproval(decision: string): boolean {
  if (decision === 'approve') return true
  if (decision === 'deny') return false
  throw invalidRequest('decision_unknown', 'The decision must be approve, deny or switch.')
}

/** Opens the request for another account of the same person, and leads to the login. */
async function release(server: PlugInServer, terms: DeviceTerms, request: OwnPageRequest) {
  const { id, consentToken } = formOf(request)
  const { subject } = request.resourceOwner
  await server.commit(id, (current) => releaseDevice(current, { consentToken, subject }))
  const { pathname } = new URL(server.urlOf(terms.pagePath))
  return { redirect: `${pathname}${switchQuery(request)}` }
}

function formOf({ parameters }: OwnPageRequest): { readonly id: string; readonly consentToken: string } {
  const consentToken = parameters.require(consentTokenField)
  const id = authorizationIdOf(consentToken)
  if (id === undefined)
    throw invalidRequest('authorization_request_unknown', 'The authorization request is not known.')
  return { id, consentToken }
}

/** @throws OAuthError on a page, if the client does not exist any more or is disabled. */
async function findClient(server: PlugInServer, clientId: string): Promise<Client> {
  const client = await server.findClient(clientId)
  if (client === undefined) throw invalidRequest('client_unknown', 'The client is not known here.')
  if (client.disabled) throw invalidRequest('client_disabled', 'The client is not known here.')
  return client
}

function chooseAccount({ pagePath }: DeviceTerms, request: OwnPageRequest) {
  const query = queryOf(request, {}).toString()
  return { chooseAccount: query === '' ? pagePath : `${pagePath}?${query}` }
}

const switchQuery = (request: OwnPageRequest) => `?${queryOf(request, { [switchField]: 'yes' }).toString()}`

/** A link to this page, with the code and the language that the request has. */
function queryOf({ parameters }: OwnPageRequest, fields: Readonly<Record<string, string>>): URLSearchParams {
  const query = new URLSearchParams(fields)
  const userCode = parseUserCode(parameters.peek(codeField) ?? '')
  if (userCode !== undefined) query.set(codeField, shownCode(userCode))
  const languages = parameters.peek('ui_locales')
  if (languages !== undefined) query.set('ui_locales', languages)
  return query
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
    // `?` means the path of the page without its query. It works behind a proxy that adds a prefix to the path.
    action: '?',
    fields: languageOf(request),
  }
}

function codeViewOf(request: OwnPageRequest): Extract<DeviceView, { step: 'code' }> {
  const userCode = parseUserCode(request.parameters.peek(codeField) ?? '')
  return {
    step: 'code',
    ...baseOf(request),
    userCode: userCode && shownCode(userCode),
    problem: undefined,
    switchAccount: switchQuery(request),
  }
}

interface Asked {
  readonly polled: Polled
  readonly kept: KeptRequest
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

/** @param refusal why the page appears again; it is the event, the status and the headers of the response. */
function show(
  { page: render }: DeviceTerms,
  { locale }: OwnPageRequest,
  view: DeviceView,
  refusal?: OAuthError,
): Awaited<ReturnType<OwnPage['handle']>> {
  const refused = refusal === undefined ? {} : { refusal }
  if (render === undefined) return { html: devicePage(view, locale), view, ...refused }
  return { view, ...refused, render: (request, response) => render(request, response, view) }
}
