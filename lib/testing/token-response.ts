import { AssertionError } from 'node:assert'
import { isRecord, isText } from '../protocol/configuration'

/** A token response (RFC 6749 5.1). */
export interface ReceivedTokenResponse {
  readonly access_token: string
  readonly token_type: string
  /** Seconds. */
  readonly expires_in: number
  /** Space separated. */
  readonly scope: string
  /** Where the client may refresh. */
  readonly refresh_token?: string
  /** What a token type adds, such as the key of `mac`. */
  readonly [member: string]: string | number | undefined
}

/** @throws AssertionError when it is no token response. */
export function tokenResponseOf(body: unknown): ReceivedTokenResponse {
  if (isTokenResponse(body)) return body
  throw new AssertionError({ message: 'The answer is no token response (RFC 6749 5.1).' })
}

function isTokenResponse(body: unknown): body is ReceivedTokenResponse {
  return (
    isRecord(body) &&
    isText(body['access_token']) &&
    isText(body['token_type']) &&
    typeof body['expires_in'] === 'number' &&
    isText(body['scope'])
  )
}
