import type { OAuthError } from '../protocol/oauth-error'
import { type Reason, unexpected } from '../protocol/refusals'
import { errorKindOf } from '../pages/error-kind'
import { errorPage, type ErrorView, wayBackTo } from '../pages/pages'
import type { PageLocale } from '../pages/texts/locale'
import type { Asked } from './asked'
import { leavesBody, wantsJson } from './request'
import { errorPageOf, privatePage, sendJsonError, sendPage } from './response'

/**
 * RFC 6749 4.1.2.1. A refusal gets a page, and JSON for a program that accepts no page, whatever page the host has; a
 * failure of the server goes to the host's error handling.
 */
export function showError(asked: Asked, thrown: unknown): unknown {
  const { server, request, response } = asked
  const { errorPage: render, errorUri, pageLocales } = server.settings
  const error = unexpected(thrown)
  const requestId = server.audit.reportError(asked, error)
  if (error.code === 'server_error') throw error.cause ?? error
  if (leavesBody(error) && !response.headersSent) response.setHeader('Connection', 'close')
  const { status, headers, isTrouble } = errorPageOf(error)
  response.set(headers)
  if (wantsJson(request)) {
    const told = { code: codeForProgram(error), description: error.description }
    return sendJsonError(response, status, told, errorUri, privatePage)
  }
  const { locale } = asked
  const view = errorViewOf(error, isTrouble, requestId, wayBackTo(asked.askingClient), locale)
  if (render === undefined) return sendPage(response, status, errorPage(view, locale), pageLocales)
  response.status(status).set(privatePage)
  return render(request, response, view)
}

function errorViewOf(
  { code, description, reason }: OAuthError,
  isTrouble: boolean,
  requestId: string,
  wayBack: ErrorView['wayBack'],
  { tag, dir, service, texts: { error } }: PageLocale,
): ErrorView {
  const title = isTrouble ? error.troubleTitle : error.refusedTitle
  return {
    title,
    ...error.explanations[errorKindOf(reason, isTrouble)],
    message: description,
    code,
    requestId,
    wayBack,
    service,
    language: { tag, dir },
  }
}

// MCP clients ask for JSON before they send their owner here. `invalid_client` makes them register again, as
// at the token endpoint (RFC 6749 5.2).
const codeForProgram = ({ code, reason }: OAuthError): string =>
  endedClient.has(reason) ? 'invalid_client' : code

const endedClient: ReadonlySet<string> = new Set<Reason>(['client_unknown', 'client_disabled'])
