import type { Response } from 'express'
import { warnOnce } from '../warning'
import { formActionOf, formTargetsOf } from './page-response'
import { destination } from './pages/web-link'

/**
 * Warns when a page of the host's has been sent whose policy (such as helmet's default `form-action 'self'`) keeps the
 * resource owner from returning to the client: the browser would drop the redirect without a word.
 */
export function warnOfFormAction(response: Response, redirectTo: string, issuer: string): void {
  const header = response.getHeader('Content-Security-Policy') ?? []
  // Each header, and each part of one behind a comma, is a policy, and all of them hold.
  const policies = [header].flat().join(',').split(',')
  if (policies.every((policy) => mayEndAt(policy, redirectTo, issuer))) return
  warnOnce(
    'EAS_FORM_ACTION',
    `The page of the option consentPage has a Content-Security-Policy that keeps browsers from returning to ${destination(redirectTo)}: send it with ${formActionOf(formTargetsOf(redirectTo))}.`,
  )
}

/**
 * Whether a policy (CSP 3) lets a form of this server end up at a URI, after redirects, for which paths do not count. A
 * policy without the directive lets it end anywhere, whatever `default-src` says; of two, the first counts.
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

// CSP 3 6.7.2.8: what is allowed over http is allowed over https.
const isScheme = (scheme: string, { protocol }: URL) =>
  scheme === protocol || (scheme === 'http:' && protocol === 'https:')
const portOf = ({ protocol, port }: Pick<URL, 'protocol' | 'port'>) =>
  port || (protocol === 'https:' ? '443' : '80')
