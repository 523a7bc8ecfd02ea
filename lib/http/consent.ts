import type { Request, Response } from 'express'
import type { Question } from '../authorization-endpoint/authorize'
import { boxOf, choiceField } from '../authorization-endpoint/selection'
import { type Client, isRegisteredByHost } from '../protocol/client'
import { type Text, textIn } from '../protocol/localized-text'
import type { OAuthError } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import type { ScopeDescription } from '../protocol/scope-description'
import { isLoopback, protocolOf } from '../protocol/uri'
import { warnOnce } from '../audit/warning'
import type { ServerContext } from '../server/context'
import { warnOfFormAction } from './form-action'
import { consentPage, type ConsentView, webUrl } from './pages/consent-page'
import { errorPage } from './pages/pages'
import { visibleName } from './pages/visible-text'
import { wantsJson } from './request'
import { errorPageOf, formTargetsOf, privatePage, sendJson, sendJsonError, sendPage } from './response'

/** The name of the form field with the consent token. A consent form sends the fields of its view, and `decision`. */
export const consentTokenField = 'authorization_request'

/** Shows the consent page: of the host, or of the suite. */
export function showConsent(
  { settings }: ServerContext,
  request: Request,
  response: Response,
  question: Question,
): unknown {
  const { consentPage: render, skipConsent, issuer, scopes } = settings
  if (skipConsent !== undefined && process.env['NODE_ENV'] !== 'production') warnOfSkipConsent(question)
  const view = consentViewOf(question, scopes, (text) => textIn(text, ['en']))
  if (wantsJson(request)) return sendView(response, view)
  if (render === undefined) return sendPage(response, 200, consentPage(view), formTargetsOf(view.redirectTo))
  response.status(200).set(privatePage)
  response.once('finish', () => warnOfFormAction(response, view.redirectTo, issuer))
  return render(request, response, view)
}

// No page of another site can read the view: the response has no CORS headers, and JSON runs as no script.
function sendView(response: Response, view: ConsentView): void {
  sendJson(response, 200, view, privatePage)
}

/**
 * Shows an error page to the resource owner, for a request that the server must not redirect (RFC 6749 4.1.2.1). A
 * program that accepts JSON and no page gets the error as JSON, whatever page the host has.
 */
export function showError(
  { settings: { errorPage: render, errorUri } }: ServerContext,
  request: Request,
  response: Response,
  error: OAuthError,
  requestId: string,
): unknown {
  const { code, description } = error
  const { status, headers, isTrouble } = errorPageOf(error)
  response.set(headers)
  if (wantsJson(request))
    return sendJsonError(
      response,
      status,
      { code: codeForProgram(error), description },
      errorUri,
      privatePage,
    )
  const title = isTrouble ? 'This is not possible right now' : 'This request cannot go on'
  const view = { title, message: description, code, requestId }
  if (render === undefined) return sendPage(response, status, errorPage(view))
  response.status(status).set(privatePage)
  return render(request, response, view)
}

// MCP clients ask for JSON before they send their owner here. `invalid_client` tells them that their registration has
// ended, as it does at the token endpoint (RFC 6749 5.2), so that they register again.
function codeForProgram({ code, reason }: OAuthError): string {
  return endedClient.has(reason) ? 'invalid_client' : code
}

const endedClient: ReadonlySet<string> = new Set<Reason>(['client_unknown', 'client_disabled'])

function consentViewOf(
  question: Question,
  descriptions: ReadonlyMap<string, ScopeDescription>,
  pick: (text: Text) => string,
): ConsentView {
  const { client, resourceOwner, scope, optional, facts, redirectUri, switchAccount, consentToken } = question
  const { client_id, client_uri, description, logo_uri, policy_uri, tos_uri } = client
  const client_name = visibleName(client.client_name)
  const unregistered = unregisteredIn(client)
  return {
    // Only the members that a page shows: a host may print or log the whole view.
    client: { client_id, client_name, client_uri, description, logo_uri, policy_uri, tos_uri, unregistered },
    resourceOwner,
    // As `action`, the query alone works behind a proxy that adds a prefix to the path.
    switchAccount: switchAccount === undefined ? undefined : `?${switchAccount}`,
    scope: scope.map((scopeToken) => {
      const { description = scopeToken, group, weight = 'read' } = descriptions.get(scopeToken) ?? {}
      return {
        token: scopeToken,
        description: pick(description),
        group: group === undefined ? undefined : pick(group),
        weight,
        field: optional.includes(scopeToken) ? boxOf(scopeToken) : undefined,
      }
    }),
    ...askedIn(question, pick),
    facts,
    // `?` means the path of the page without its query. It works behind a proxy that adds a prefix to the path.
    action: '?',
    fields: { [consentTokenField]: consentToken },
    redirectTo: redirectUri,
    receiver: receiverOf(redirectUri),
  }
}

/** The question, or why there is nothing to answer it with. */
function askedIn(
  { asked }: Question,
  pick: (text: Text) => string,
): Pick<ConsentView, 'question' | 'obstacle'> {
  if (asked === undefined) return { question: undefined, obstacle: undefined }
  const { text, answers, none = noAnswer } = asked
  if (answers.length === 0) return { question: undefined, obstacle: pick(none) }
  return { question: { text: pick(text), field: choiceField, answers }, obstacle: undefined }
}

const noAnswer = 'You have nothing that this app could get access to.'

function unregisteredIn({ metadataDocument, selfRegistered }: Client): ConsentView['client']['unregistered'] {
  if (metadataDocument !== undefined) return { host: metadataDocument.host }
  return selfRegistered === true ? { host: undefined } : undefined
}

function receiverOf(redirectUri: string): ConsentView['receiver'] {
  const url = webUrl(redirectUri)
  if (url === undefined) return 'app'
  return isLoopback(url.hostname) ? 'device' : 'web'
}

/**
 * Warns if a page appears because the server never asks the option `skipConsent` about this client: a public client on
 * loopback, where another program could pass for it (RFC 8252 8.6). Only a client that the host registered has a cure.
 */
function warnOfSkipConsent({ client, redirectUri }: Question): void {
  if (client.client_type !== 'public' || !isRegisteredByHost(client)) return
  if (receiverOf(redirectUri) !== 'device' || protocolOf(redirectUri) !== 'http:') return
  warnOnce(
    'EAS_SKIP_CONSENT',
    `The consent page appears because the server does not ask skipConsent about ${client.client_id}: the client is public, and its redirection URI is plain HTTP on loopback, where another program could take its place. Give a single-page app an https redirection URI, in development too, such as https://localhost:5173/callback. Register a web application as confidential. A native application always sees the page.`,
  )
}
