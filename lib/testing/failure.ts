import { AssertionError } from 'node:assert'
import { headerOf, type HttpResponse, refusalBehind } from './refusals'

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

export function withoutEntities(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
