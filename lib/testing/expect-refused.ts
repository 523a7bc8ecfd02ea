import { AssertionError } from 'node:assert'
import { type TappedRefusal, tapRefusals } from '../protocol/test-door'

const remembered = 1000
const refusals = new Map<string, TappedRefusal>()

tapRefusals((refusal) => {
  refusals.delete(refusal.requestId)
  refusals.set(refusal.requestId, refusal)
  for (const oldest of refusals.keys())
    if (refusals.size > remembered) refusals.delete(oldest)
    else break
})

/** What the kit needs of a supertest response. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

// Of the last 1000 of this process.
const refusalBehind = (response: HttpResponse): TappedRefusal | undefined =>
  refusals.get(headerOf(response, 'x-request-id') ?? '')

function headerOf({ headers }: HttpResponse, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

// Compares no two values: Jest prints them for every operator but `fail`.
export const failure = (message: string): AssertionError => new AssertionError({ message, operator: 'fail' })

export function unexpectedResponse(
  response: HttpResponse & { readonly text: string },
  message: string,
  shown = isPage(response) ? readableText(response.text) : response.text,
): AssertionError {
  const refusal = refusalBehind(response)
  const why = refusal === undefined ? '' : ` The server refused the request for the reason ${refusal.reason}.`
  return failure(`${message}. The answer was ${response.status}: ${shown.slice(0, 500)}${why}`)
}

const isPage = (response: HttpResponse): boolean =>
  headerOf(response, 'content-type')?.startsWith('text/html') === true

const unseen = /<(head|style|script|template)\b[\s\S]*?<\/\1\s*>|<!--[\s\S]*?-->/gi

function readableText(page: string): string {
  const text = page.replaceAll(unseen, ' ').replaceAll(/<[^>]*>/g, ' ')
  return withoutEntities(text).replaceAll(/\s+/g, ' ').trim()
}

export const withoutEntities = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

// RFC 6750 3.1: a request without a token gets no error code, and emits no event.
const noToken = { code: undefined, reason: 'token_missing' } as const

/**
 * Asserts that the suite refused this request for this reason, and that the response follows the RFCs: its status, the
 * error code in the challenge, the JSON or the redirect, and a challenge with 401. The server must run in the process
 * of the test, which remembers 1000 refusals.
 *
 * @param reason of `docs/errors.md`, such as `token_invalid`.
 * @throws AssertionError if the suite did not, or if the response is wrong.
 */
export function expectRefused(response: HttpResponse, reason: string): void {
  const refusal = refusalOf(response)
  if (refusal.reason !== reason)
    throw different(
      `The request was refused for the reason ${refusal.reason}, and not for ${reason}.`,
      refusal.reason,
      reason,
    )
  const shown = errorShownBy(response)
  if (shown !== undefined && shown !== refusal.code)
    throw different(
      `The request was refused with ${refusal.code}, but the answer shows ${shown}.`,
      shown,
      refusal.code,
    )
  if (response.status === 401 && headerOf(response, 'www-authenticate') === undefined)
    fail(response, 'The answer 401 has no WWW-Authenticate header (RFC 9110 11.6.1)')
}

const different = (message: string, actual: string, expected: string | undefined) =>
  new AssertionError({ message, actual, expected, operator: 'strictEqual' })

function refusalOf(
  response: HttpResponse,
): Pick<TappedRefusal, 'reason'> & { readonly code: string | undefined } {
  const { status } = response
  if (status < 300) return fail(response, 'The request was not refused')
  const refusal = refusalBehind(response)
  if (refusal !== undefined && (status >= 400 || errorShownBy(response) !== undefined)) return refusal
  if (status === 401 && isBareChallenge(headerOf(response, 'www-authenticate'))) return noToken
  return fail(response, 'The request was not refused by the authorization server or a guard of this process')
}

const isBareChallenge = (challenge: string | undefined): boolean =>
  challenge?.includes('realm="oauth"') === true && !challenge.includes('error=')

function fail({ status }: HttpResponse, message: string): never {
  throw failure(`${message}: the status is ${status}.`)
}

// RFC 6749 5.2, RFC 6750 3, RFC 6749 4.1.2.1
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
