import { AssertionError } from 'node:assert'
import { tapRefusals, type TappedRefusal } from '../audit/testing-door'

/** What `expectRefused()` needs of a response of supertest. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** A request without a token is no event, and its answer has no error (RFC 6750 3.1): the answer itself tells. */
const noToken = { code: undefined, reason: 'token_missing' } as const

const remembered = 1000
const refusals = new Map<string, TappedRefusal>()

tapRefusals((refusal) => {
  refusals.delete(refusal.requestId)
  refusals.set(refusal.requestId, refusal)
  for (const oldest of refusals.keys())
    if (refusals.size > remembered) refusals.delete(oldest)
    else break
})

/**
 * Fails unless the suite refused this request for this reason, and the answer says so as the RFCs want it: a status that
 * is no success, the error code in the challenge, the JSON or the redirect, and a challenge with 401.
 *
 * An answer never holds its reason. The suite notes it under the request id, which the answer carries in `X-Request-Id`;
 * the server must run in the process of the test, and the last 1000 refusals are known.
 *
 * @param response of supertest.
 * @param reason a word of `docs/errors.md`, such as `token_invalid`.
 * @throws AssertionError
 */
export function expectRefused(response: HttpResponse, reason: string): void {
  const refusal = refusalOf(response)
  if (refusal.reason !== reason)
    throw new AssertionError({
      message: `The request was refused for the reason ${refusal.reason}, and not for ${reason}.`,
      actual: refusal.reason,
      expected: reason,
      operator: 'strictEqual',
    })
  const shown = errorShownBy(response)
  if (shown !== undefined && shown !== refusal.code)
    throw new AssertionError({
      message: `The request was refused with ${refusal.code}, but the answer shows ${shown}.`,
      actual: shown,
      expected: refusal.code,
      operator: 'strictEqual',
    })
  if (response.status === 401 && headerOf(response, 'www-authenticate') === undefined)
    fail(response, 'The answer 401 has no WWW-Authenticate header (RFC 9110 11.6.1)')
}

function refusalOf(
  response: HttpResponse,
): Pick<TappedRefusal, 'reason'> & { readonly code: string | undefined } {
  const { status } = response
  if (status < 300) return fail(response, 'The request was not refused')
  const refusal = refusals.get(headerOf(response, 'x-request-id') ?? '')
  if (refusal !== undefined && (status >= 400 || errorShownBy(response) !== undefined)) return refusal
  if (status === 401 && isBareChallenge(headerOf(response, 'www-authenticate'))) return noToken
  return fail(response, 'The request was not refused by the authorization server or a guard of this process')
}

const isBareChallenge = (challenge: string | undefined): boolean =>
  challenge?.includes('realm="oauth"') === true && !challenge.includes('error=')

function fail({ status }: HttpResponse, message: string): never {
  throw new AssertionError({ message: `${message}: the status is ${status}.`, actual: status })
}

/** The error code, where the answer has one: in JSON (RFC 6749 5.2), a challenge (RFC 6750 3) or a redirect (4.1.2.1). */
function errorShownBy(response: HttpResponse): string | undefined {
  const { body } = response
  if (typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string')
    return body.error
  const [, challenged] = /\berror="([^"]*)"/.exec(headerOf(response, 'www-authenticate') ?? '') ?? []
  return challenged ?? errorInRedirect(headerOf(response, 'location'))
}

function errorInRedirect(location: string | undefined): string | undefined {
  const [, parameters = ''] = location?.split(/[?#](.*)/s) ?? []
  return new URLSearchParams(parameters.replace('#', '&')).get('error') ?? undefined
}

function headerOf({ headers }: HttpResponse, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
