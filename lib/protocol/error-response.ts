import type { OAuthError } from './oauth-error'

export function statusOf(
  { status, reason, code }: OAuthError,
  ofEndpoint: Readonly<Record<string, number>> = {},
): number {
  if (status !== undefined) return status
  const known = [reason, code].find((name) => Object.hasOwn(ofEndpoint, name))
  const own = known === undefined ? undefined : ofEndpoint[known]
  return own ?? usualStatus.get(code) ?? 400
}

const usualStatus: ReadonlyMap<string, number> = new Map([
  ['invalid_client', 401],
  ['invalid_token', 401],
  ['server_error', 500],
  ['temporarily_unavailable', 503],
])

export const headersOf = ({ code, headers }: OAuthError): Record<string, string> =>
  code === 'temporarily_unavailable' ? { 'Retry-After': '1', ...headers } : { ...headers }

export interface ErrorText {
  readonly code: string
  readonly description: string
}

/**
 * RFC 6749 4.1.2.1 and 5.2, RFC 6750 3: for every place that carries an error.
 *
 * @param errorUri the page that explains each code; undefined if the host has none.
 */
export function errorMembers(
  { code, description }: ErrorText,
  errorUri: string | undefined,
): Record<string, string> {
  const members = { error: code, error_description: description }
  return errorUri === undefined ? members : { ...members, error_uri: `${errorUri}#${code}` }
}
