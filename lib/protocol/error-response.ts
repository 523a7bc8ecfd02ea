import type { OAuthError } from './oauth-error'

/**
 * The HTTP status of an error response: the status of the error itself, or else of its reason or of its code.
 *
 * @param ofEndpoint statuses of reasons and of codes at one endpoint. They win over the usual ones.
 */
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

/** The headers that an error gives its response, whatever the endpoint. */
export function headersOf({ code, headers }: OAuthError): Record<string, string> {
  return code === 'temporarily_unavailable' ? { 'Retry-After': '1', ...headers } : { ...headers }
}

/** The parts of an error that the client gets. */
export interface ErrorText {
  readonly code: string
  readonly description: string
}

/**
 * The members of an error response (RFC 6749 4.1.2.1 and 5.2, RFC 6750 3), for every place that carries an error.
 *
 * @param errorUri the URL of the page that explains each code under its name; undefined if the host has none.
 */
export function errorMembers(
  { code, description }: ErrorText,
  errorUri: string | undefined,
): Record<string, string> {
  const members = { error: code, error_description: description }
  return errorUri === undefined ? members : { ...members, error_uri: `${errorUri}#${code}` }
}
