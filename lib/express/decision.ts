import type { Request, Response } from 'express'
import { decide } from '../authorization-endpoint/decide'
import { invalidRequest } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { sendPage } from './page-response'
import { answeredPage } from './pages/answered-page'
import { answeredViewOf } from './answered-view'
import { answerClient, ownerOf, type AuthorizationHttp } from './authorization-edge'

/** What a consent form sends: the fields of its view, and `decision`. */
export const handleField = 'authorization_request'

/** Whether a form is a resource owner's decision, and not a client's request. */
export function isDecision(form: Parameters): boolean {
  return form.mentions(handleField)
}

/** Carries out a decision of the resource owner who is logged in. @throws OAuthError that is for the owner. */
export async function takeDecision(
  edge: AuthorizationHttp,
  request: Request,
  response: Response,
  form: Parameters,
): Promise<void> {
  requireSameOrigin(request, edge.endpoint.issuer)
  const handle = form.require(handleField)
  edge.reports.note(request, { shown: handle })
  const approved = isApproval(form.require('decision'))
  const owner = await ownerOf(edge, request)
  if (owner === undefined) throw invalidRequest('owner_not_logged_in', 'Nobody is logged in any more.')
  const decision = { handle, approved, subject: owner.subject }
  const outcome = await decide(edge.endpoint, decision, edge.reports.witness(request))
  if (outcome.kind === 'refused') throw outcome.error
  if (outcome.kind === 'done') return sendPage(response, 200, answeredPage(answeredViewOf(outcome.client)))
  answerClient(edge, request, response, outcome)
}

function isApproval(decision: string): boolean {
  if (decision === 'approve') return true
  if (decision === 'deny') return false
  throw invalidRequest('decision_unknown', 'The decision must be approve or deny.')
}

// Besides the handle, which another site cannot know: browsers say where a form was sent from. `Origin` is for those that
// send no `Sec-Fetch-Site`; alone it would not do, because a page with `no-referrer`, helmet's default, sends `null` even
// to itself.
function requireSameOrigin({ headers }: Request, issuer: string): void {
  const { 'sec-fetch-site': site, origin } = headers
  const isOwn =
    site === undefined
      ? origin === undefined || origin === 'null' || origin === new URL(issuer).origin
      : site === 'same-origin' || site === 'none'
  if (!isOwn) throw invalidRequest('decision_cross_site', 'The decision was not sent from the consent page.')
}
