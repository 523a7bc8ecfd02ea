import { carryRequestId } from '../audit/audit-log'
import { requestNotOpen } from '../authorization/requested'
import type { Redirection } from '../authorization-endpoint/authorization-response'
import { authorize, type AuthorizationOutcome } from '../authorization-endpoint/authorize'
import { decide, type DecisionOutcome, findAskingClient } from '../authorization-endpoint/decide'
import { longestQuery } from '../authorization-endpoint/open-request'
import { answeredPage, continuePage, insecureRedirectPage, unverifiedPage } from '../pages/pages'
import { submitScriptSource } from '../pages/html'
import { type Eventual, isLater } from '../primitives/concurrency'
import { isInsecure } from '../protocol/redirect-uri'
import { refused } from '../protocol/refusals'
import { loginOf } from '../protocol/resource-owner'
import { consentTokenField, decisionIn } from '../protocol/owner-question'
import type { Asked, Row } from './asked'
import type { Edge } from './edge'
import { keepOpener, warnOfLoginFormAction, warnOfLoginOpener } from './host-policies'
import { anyPage, isFromOwnSite, repeatByGet } from './page'
import { hasJson, wantsJson } from './request'
import { errorPageOf, formTargetsOf, privatePage, redirectTo, sendJson, sendPage } from './response'

type Outcome = AuthorizationOutcome | DecisionOutcome

/** RFC 6749 3.1. */
export function authorizationRow({ settings, networkLimits }: Edge): Row<Outcome> {
  return {
    ...anyPage,
    name: 'authorization',
    path: settings.paths.authorization,
    methods: ['GET', 'POST'],
    body: 'fields',
    limit: networkLimits.authorization,
    service: 'told',
    handle: (asked) => (isDecision(asked) ? takeDecision(asked) : takeRequest(asked)),
    write: lead,
  }
}

const isDecision = ({ method, parameters }: Asked): boolean =>
  method === 'POST' && parameters.mentions(consentTokenField)

function takeRequest(asked: Asked): Eventual<Outcome> {
  const { request, parameters, method } = asked
  // Another site must neither read the view nor leave a record in the store.
  if (method === 'GET' && wantsJson(request) && !isFromOwnSite(asked))
    throw refused('decision_cross_site/json')
  if (method === 'POST') {
    // RFC 6749 3.1 and appendix B: a client's request is a form.
    if (hasJson(request)) throw refused('body_type')
    // A host's page that sends only its buttons: a client's request has `client_id`, and may have an ignored
    // `decision` (RFC 6749 3.1).
    if (parameters.mentions('decision') && !parameters.mentions('client_id'))
      throw refused('decision_fields_missing')
    if (isRepeatedByGet(asked)) {
      keepOpener(asked)
      repeatByGet(asked)
      return { kind: 'answered' }
    }
  }
  asked.claimedClientId = parameters.peek('client_id')
  asked.parametersReplaced(parameters)
  warnOfLoginOpener(asked)
  return authorize(openOrClosing(asked), parameters, asked, asked.onCommitted)
}

// A cross-site form carries no `SameSite=Lax` cookie: the owner would have to log in again.
const isRepeatedByGet = ({ request, parameters }: Asked) =>
  request.headers['sec-fetch-site'] === 'cross-site' &&
  parameters.mentions('client_id') &&
  parameters.format().length <= longestQuery

async function takeDecision(asked: Asked): Promise<Outcome> {
  const { server, parameters } = asked
  if (!isFromOwnSite(asked)) throw refused('decision_cross_site')
  asked.parametersReplaced(parameters)
  asked.shown = parameters.peek(consentTokenField)
  const form = decisionIn(parameters)
  const ownerReadAt = server.now()
  const found = asked.findOwner()
  const owner = isLater(found) ? await found : found
  if (owner === undefined) {
    // The page leads back to the client, to begin again.
    asked.clientFound(await findAskingClient(server, form.consentToken, asked))
    throw refused('owner_not_logged_in')
  }
  const decision = {
    ...form,
    subject: owner.subject,
    login: loginOf(owner),
    ownerReadAt,
    finder: asked,
  }
  return decide(openOrClosing(asked), decision, asked.onCommitted)
}

const openOrClosing = ({ server, isOpen }: Asked): Edge =>
  isOpen ? server : { ...server, requireService: () => Promise.reject(refused('closing')) }

/** A page warns before plain HTTP, and before a stranger to whom the owner has not agreed to go. */
function lead(asked: Asked, outcome: Outcome): void {
  const { server, request, response } = asked
  const { audit, settings } = server
  if (outcome.kind === 'answered' || outcome.kind === 'login') return
  const inJson = isDecision(asked) && wantsJson(request)
  if (outcome.kind === 'done') {
    if (inJson) throw requestNotOpen()
    const page = answeredPage(outcome.client, asked.locale)
    return sendPage(response, 200, page, settings.pageLocales)
  }
  const { location, fields, error, clientId } = outcome
  // The login's policy applies to redirects, not to a form of another page.
  if (fields === undefined && !isDecision(asked)) warnOfLoginFormAction(asked, location)
  // The host's page failed after its headers: only its error handling can act.
  if (error !== undefined && response.headersSent) throw error
  asked.clientId = clientId
  const requestId = error === undefined ? audit.reportSuccess(asked) : audit.reportError(asked, error)
  // A script that followed a redirect would use up the client's code.
  if (inJson) {
    carryRequestId(response, requestId)
    const way = fields === undefined ? { redirect_to: location } : { post_to: location, fields }
    return sendJson(response, 200, way, privatePage)
  }
  keepOpener(asked)
  const page = pageBefore(asked, outcome)
  if (page === undefined) return redirectTo(response, location, requestId)
  carryRequestId(response, requestId)
  response.set(page.headers ?? {})
  const targets = fields && formTargetsOf(location)
  sendPage(response, page.status ?? 200, page.html, settings.pageLocales, targets, page.scriptSource)
}

function pageBefore(asked: Asked, { location, fields, error, asksOwner, redirectBy }: Redirection) {
  const approved = error === undefined
  const way = { location, fields }
  // RFC 6749 3.1.2.1. The URI may have slipped past registration.
  if (isInsecure(location)) return { html: insecureRedirectPage({ ...way, granted: approved }, asked.locale) }
  if (asksOwner === true && !approved) {
    const { status, headers, isTrouble } = errorPageOf(error)
    // Trouble keeps its status, because the request may succeed later.
    const html = unverifiedPage({ ...way, isRefused: !isTrouble }, asked.locale)
    return isTrouble ? { html, status, headers } : { html }
  }
  if (fields === undefined && redirectBy === 'location') return undefined
  const html = continuePage({ ...way, approved }, asked.locale)
  return fields === undefined ? { html } : { html, scriptSource: submitScriptSource }
}
