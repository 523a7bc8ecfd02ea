import { consentFormOf, firstAnswerIn } from '../flows/consent-form'

/** A resource owner who is logged in by a header of the test's host, as a browser that keeps a session would be. */
export const ownerHeaders: Readonly<Record<string, string>> = { 'x-owner': 'alice' }

/**
 * Opens an authorization URL as the browser of a resource owner does, and presses a button of the consent page, with the
 * first answer if the page asks a question. Returns the redirection to the client, which was not followed yet.
 */
export async function decide(
  authorizationUrl: string,
  decision: 'approve' | 'deny' = 'approve',
  headers = ownerHeaders,
): Promise<URL> {
  const page = await fetch(authorizationUrl, { headers, redirect: 'manual' })
  const early = page.headers.get('location')
  if (early !== null) return new URL(early, authorizationUrl)
  const { pathname, search } = new URL(authorizationUrl)
  const html = await page.text()
  const { action, fields } = consentFormOf({ status: page.status, text: html }, pathname + search)
  const answer = await fetch(new URL(action, authorizationUrl), {
    method: 'POST',
    headers,
    body: new URLSearchParams({ ...fields, ...firstAnswerIn(html), decision }),
    redirect: 'manual',
  })
  const location = answer.headers.get('location')
  if (location === null) throw new Error(`No redirection: ${answer.status} ${await answer.text()}`)
  return new URL(location)
}
