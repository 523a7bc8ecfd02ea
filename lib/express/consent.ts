import type { Request, Response } from 'express'
import type { Question } from '../authorization-endpoint/authorize'
import { Throttled, type OAuthError } from '../protocol/oauth-error'
import { handleField } from './decision'
import { warnOfFormAction } from './form-action'
import { formTargetsOf, privatePage, sendPage } from './page-response'
import { consentPage, type ConsentView } from './pages/consent-page'
import { errorPage, type ErrorView } from './pages/error-page'

type Render<View> = (request: Request, response: Response, view: View) => unknown

/** Puts the question to the resource owner, on the suite's own page or on the host's. */
export function consentRenderer(
  descriptions: ReadonlyMap<string, string>,
  render: Render<ConsentView> | undefined,
  issuer: string,
): Render<Question> {
  return (request, response, question) => {
    const view = consentViewOf(question, descriptions)
    if (render === undefined)
      return sendPage(response, 200, consentPage(view), formTargetsOf(view.redirectTo))
    response.status(200).set(privatePage)
    response.once('finish', () => warnOfFormAction(response, view.redirectTo, issuer))
    return render(request, response, view)
  }
}

/** Tells the resource owner of a request that cannot go on and must not be redirected (RFC 6749 4.1.2.1). */
export function errorRenderer(
  render: Render<ErrorView> | undefined,
): (request: Request, response: Response, error: OAuthError, requestId: string) => unknown {
  return (request, response, error, requestId) => {
    const { code, description } = error
    const throttled = error instanceof Throttled
    const busy = code === 'temporarily_unavailable'
    const title = busy ? 'This is not possible right now' : 'This request cannot go on'
    const view = { title, message: description, code, requestId }
    const status = throttled ? 429 : busy ? 503 : 400
    if (busy) response.setHeader('Retry-After', throttled ? String(error.retryAfter) : '1')
    if (render === undefined) return sendPage(response, status, errorPage(view))
    response.status(status).set(privatePage)
    return render(request, response, view)
  }
}

function consentViewOf(question: Question, descriptions: ReadonlyMap<string, string>): ConsentView {
  const { client, resourceOwner, scope, redirectUri, handle } = question
  const { client_id, client_name, client_uri, description, logo_uri, policy_uri, tos_uri } = client
  return {
    // No more of the registration than a page shows: a host may print or log the whole view.
    client: { client_id, client_name, client_uri, description, logo_uri, policy_uri, tos_uri },
    resourceOwner,
    scope: scope.map((scopeToken) => ({
      token: scopeToken,
      description: descriptions.get(scopeToken) ?? scopeToken,
    })),
    // The same path without its query, under whatever prefix a proxy may have put before it.
    action: '?',
    fields: { [handleField]: handle },
    redirectTo: redirectUri,
  }
}
