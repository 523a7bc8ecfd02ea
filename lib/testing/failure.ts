import { AssertionError } from 'node:assert'
import { tapRefusals, type TappedRefusal } from '../protocol/test-door'

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

/** Among the last 1000 refusals of this process. */
export const refusalBehind = (response: HttpResponse): TappedRefusal | undefined =>
  refusals.get(headerOf(response, 'x-request-id') ?? '')

/** Undefined unless the response has the field exactly once. */
export function headerOf({ headers }: HttpResponse, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Compares no two values: Jest prints them for every operator but `fail`. */
export const failure = (message: string): AssertionError => new AssertionError({ message, operator: 'fail' })

/** @param shown Default: the text of the response, and of a page what a person can read. */
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
