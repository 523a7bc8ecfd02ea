import type { Response } from 'express'
import { warnOnce } from '../audit/warning'
import { destination } from '../pages/consent-page'
import { en } from '../pages/texts/locale'
import type { Exchange } from './edge'
import { formActionOf, formTargetsOf } from './response'

/**
 * A host's policy, such as helmet's `form-action 'self'`, may block the redirect to the client silently.
 *
 * @param redirectTo where the form of the page ends; undefined if it ends at this server.
 */
export function warnOfOwnPage({ server, response }: Exchange, redirectTo: string | undefined): void {
  const { popups, issuer } = server.settings
  if (popups) warnIfCut(response, 'the page of the option pages.consent')
  if (redirectTo === undefined || !blocksForm(response, redirectTo, issuer)) return
  warnOnce(
    'EAS_FORM_ACTION',
    `The page of the option pages.consent has a Content-Security-Policy that blocks the redirect to ${destination(redirectTo, en.common.appOnDevice)}: send the page with ${formActionOf(formTargetsOf(redirectTo))}.`,
  )
}

/**
 * Without a consent page, the login page's policy counts. The server does not see it, but one middleware
 * often sets both.
 */
export function warnOfLoginFormAction({ server, request, response }: Exchange, location: string): void {
  // From a page of the host.
  if (request.headers['sec-fetch-site'] !== 'same-origin') return
  if (!blocksForm(response, location, server.settings.issuer)) return
  warnOnce(
    'EAS_FORM_ACTION',
    `The login leads to ${destination(location, en.common.appOnDevice)} without a consent page, and the Content-Security-Policy of this server blocks that redirect after a form: send the page of the login, and the authorization endpoint, with ${formActionOf(formTargetsOf(location))}.`,
    'login',
  )
}

function blocksForm(response: Response, uri: string, issuer: string): boolean {
  const header = response.getHeader('Content-Security-Policy') ?? []
  // Each header, and each part between commas, is a policy. All must allow.
  const policies = [header].flat().join(',').split(',')
  return !policies.every((policy) => mayEndAt(policy, uri, issuer))
}

/** CSP 3: after redirects, paths do not count; `default-src` never does. */
function mayEndAt(policy: string, uri: string, issuer: string): boolean {
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

// CSP 3 6.7.2.8: http allows https, too.
const isScheme = (scheme: string, { protocol }: URL) =>
  scheme === protocol || (scheme === 'http:' && protocol === 'https:')
const portOf = ({ protocol, port }: Pick<URL, 'protocol' | 'port'>) =>
  port || (protocol === 'https:' ? '443' : '80')

const opener = 'Cross-Origin-Opener-Policy'
// HTML 7.1.3: a browser cuts a popup from its opener at the first response, or redirect, with another policy.
const keeps = 'unsafe-none'

export function keepOpener({ server, response }: Exchange): void {
  if (server.settings.popups) response.setHeader(opener, keeps)
}

/** The server does not see the login page's policy, but one middleware often sets both. */
export function warnOfLoginOpener({ server, request, response }: Exchange): void {
  // From a page of the host.
  if (!server.settings.popups || request.headers['sec-fetch-site'] !== 'same-origin') return
  warnIfCut(response, 'the page of the login, and the authorization endpoint,')
}

function warnIfCut(response: Response, page: string): void {
  const policy = response.getHeader(opener)
  if (policy === undefined || policy === keeps) return
  warnOnce(
    'EAS_OPENER_POLICY',
    `A middleware of this server sends ${opener}: ${String(policy)}, which cuts a popup from the client that opened it, although pages.popups is set: send ${page} without it.`,
    page,
  )
}
