import type { Request, Response } from 'express'
import type { Question } from '../authorization-endpoint/authorize'
import type { Client } from '../protocol/client'
import { type OAuthError, Throttled } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import { isLoopback } from '../protocol/uri'
import { warnOnce } from '../audit/warning'
import { handleField } from './authorization-endpoint'
import { consentPage, type ConsentView, destination, webUrl } from './pages/consent-page'
import { errorPage, type ErrorView } from './pages/pages'
import { formActionOf, formTargetsOf, privatePage, sendJsonError, sendPage } from './response'

type Render<View> = (request: Request, response: Response, view: View) => unknown

/** Makes a function that shows a consent page: of the host, or of the suite. */
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

/**
 * Makes a function that shows an error page to the resource owner, for a request that the server must not redirect
 * (RFC 6749 4.1.2.1). A program that accepts JSON and no page gets the error as JSON, whatever page the host has.
 *
 * @param errorUri the URL of the page of the host that explains each code; undefined if the host has none.
 */
export function errorRenderer(
  render: Render<ErrorView> | undefined,
  errorUri: string | undefined,
): (request: Request, response: Response, error: OAuthError, requestId: string) => unknown {
  return (request, response, error, requestId) => {
    const { code, description } = error
    const throttled = error instanceof Throttled
    const busy = code === 'temporarily_unavailable'
    const status = throttled ? 429 : busy ? 503 : 400
    if (busy) response.setHeader('Retry-After', throttled ? String(error.retryAfter) : '1')
    if (acceptsOnlyJson(request))
      return sendJsonError(
        response,
        status,
        { code: codeForProgram(error), description },
        errorUri,
        privatePage,
      )
    const title = busy ? 'This is not possible right now' : 'This request cannot go on'
    const view = { title, message: description, code, requestId }
    if (render === undefined) return sendPage(response, status, errorPage(view))
    response.status(status).set(privatePage)
    return render(request, response, view)
  }
}

// A browser accepts HTML, and a request without `Accept` accepts everything.
const acceptsOnlyJson = (request: Request): boolean =>
  request.accepts('html') === false && request.accepts('json') !== false

// MCP clients ask for JSON before they send their owner here. `invalid_client` tells them that their registration has
// ended, as it does at the token endpoint (RFC 6749 5.2), so that they register again.
function codeForProgram({ code, reason }: OAuthError): string {
  return endedClient.has(reason) ? 'invalid_client' : code
}

const endedClient: ReadonlySet<string> = new Set<Reason>(['client_unknown', 'client_disabled'])

function consentViewOf(question: Question, descriptions: ReadonlyMap<string, string>): ConsentView {
  const { client, resourceOwner, scope, facts, redirectUri, handle } = question
  const { client_id, client_name, client_uri, description, policy_uri, tos_uri } = client
  const unregistered = unregisteredIn(client)
  // The logo of a stranger could pass for one that the owner trusts, and would tell the stranger who is at the page.
  const logo_uri = unregistered === undefined ? client.logo_uri : undefined
  return {
    // Only the members that a page shows: a host may print or log the whole view.
    client: { client_id, client_name, client_uri, description, logo_uri, policy_uri, tos_uri, unregistered },
    resourceOwner,
    scope: scope.map((scopeToken) => ({
      token: scopeToken,
      description: descriptions.get(scopeToken) ?? scopeToken,
    })),
    facts,
    // `?` means the path of the page without its query. It works behind a proxy that adds a prefix to the path.
    action: '?',
    fields: { [handleField]: handle },
    redirectTo: redirectUri,
    receiver: receiverOf(redirectUri),
  }
}

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
 * Warns if the Content-Security-Policy of the host's page (such as helmet's default `form-action 'self'`) blocks the
 * redirect to the client. A browser drops such a redirect without a message.
 */
export function warnOfFormAction(response: Response, redirectTo: string, issuer: string): void {
  const header = response.getHeader('Content-Security-Policy') ?? []
  // Each header, and each part of a header between commas, is a policy. A form must satisfy all of them.
  const policies = [header].flat().join(',').split(',')
  if (policies.every((policy) => mayEndAt(policy, redirectTo, issuer))) return
  warnOnce(
    'EAS_FORM_ACTION',
    `The page of the option consentPage has a Content-Security-Policy that blocks the redirect to ${destination(redirectTo)}: send the page with ${formActionOf(formTargetsOf(redirectTo))}.`,
  )
}

/**
 * Whether a policy (CSP 3) lets a form of this server end at a URI after redirects. After a redirect, paths do not
 * count. A policy without `form-action` allows every URI, whatever `default-src` says. The first `form-action` of a
 * policy counts.
 */
export function mayEndAt(policy: string, uri: string, issuer: string): boolean {
  const directives = policy.split(';').map((directive) => directive.trim().toLowerCase().split(/\s+/))
  const sources = directives.find(([name]) => name === 'form-action')?.slice(1)
  return sources === undefined || sources.some((source) => allows(source, new URL(uri), new URL(issuer)))
}

const schemeSource = /^[a-z][a-z0-9+.-]*:$/
const hostSource = /^(?:([a-z][a-z0-9+.-]*:)\/\/)?(\*\.)?([^/:*']+)(?::(\d+|\*))?(?:\/.*)?$/

function allows(source: string, target: URL, issuer: URL): boolean {
  if (source === "'self'") return target.origin === issuer.origin
  if (source === '*') return /^https?:$/.test(target.protocol)
  if (schemeSource.test(source)) return isScheme(source, target)
  const [, scheme = issuer.protocol, wild, host, port] = hostSource.exec(source) ?? []
  if (host === undefined || !isScheme(scheme, target)) return false
  const isHost = wild === undefined ? host === target.hostname : target.hostname.endsWith(`.${host}`)
  return (
    isHost && (port === '*' || portOf(target) === (port ?? portOf({ protocol: target.protocol, port: '' })))
  )
}

// CSP 3 6.7.2.8: a source that allows http allows https, too.
const isScheme = (scheme: string, { protocol }: URL) =>
  scheme === protocol || (scheme === 'http:' && protocol === 'https:')
const portOf = ({ protocol, port }: Pick<URL, 'protocol' | 'port'>) =>
  port || (protocol === 'https:' ? '443' : '80')
