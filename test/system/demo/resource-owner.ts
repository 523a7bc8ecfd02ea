import type { Demo } from '../../../demo/demo'
import { firstAnswerIn } from '../../support/flows/consent-form'

/** A person with a browser: keeps cookies, signs in and gives the first answer where asked, and allows or denies. */
export class ResourceOwner {
  private readonly cookies = new Map<string, string>()

  constructor(private readonly demo: Demo) {}

  /**
   * Follows an authorization request to its end; returns where the client is told the answer. Wants the page, whatever
   * the server remembers.
   *
   * @param answers fields of the form in place of what the page offers first.
   */
  async decide(
    authorizationUrl: string | URL,
    decision: 'approve' | 'deny' = 'approve',
    answers: Readonly<Record<string, string>> = {},
  ): Promise<URL> {
    const url = new URL(authorizationUrl)
    url.searchParams.set('prompt', 'consent')
    const page = await this.open(url)
    const action = page.url
    const form = { ...hiddenFields(page.html), ...firstAnswerIn(page.html), ...answers, decision }
    const { location, status } = await this.send(new URL('?', action), form)
    if (location === undefined) throw new Error(`The decision led to no redirection: ${status}`)
    return new URL(location)
  }

  /** Opens the link of a device, and confirms the code in it: the page with the question. */
  async confirmCode(link: string): Promise<string> {
    const { url, html } = await this.open(new URL(link))
    const user_code = url.searchParams.get('user_code') ?? ''
    return (await this.send(new URL('?', url), { ...hiddenFields(html), user_code })).html
  }

  /** Answers the question about a device: the page that follows. */
  async answerDevice(question: string, decision: 'approve' | 'deny'): Promise<string> {
    const form = { ...hiddenFields(question), ...firstAnswerIn(question), decision }
    return (await this.send(new URL('/device', this.demo.authorizationServer), form)).html
  }

  /** Reads a page of the authorization server. */
  async read(path: string): Promise<string> {
    return (await this.open(new URL(path, this.demo.authorizationServer))).html
  }

  /** Opens a page, signing in on the way if the server asks. */
  private async open(url: URL): Promise<{ readonly url: URL; readonly html: string }> {
    const { location, html } = await this.send(url)
    if (location === undefined) return { url, html }
    const next = new URL(location, url)
    if (next.pathname !== '/login') return this.open(next)
    const { username, password } = this.demo.account
    const return_to = next.searchParams.get('return_to') ?? ''
    const signedIn = await this.send(new URL('/login', url), { username, password, return_to })
    return this.open(new URL(signedIn.location ?? '', url))
  }

  private async send(
    url: URL,
    form?: Record<string, string>,
  ): Promise<{ location: string | undefined; html: string; status: number }> {
    const headers: Record<string, string> = {
      cookie: [...this.cookies].map((pair) => pair.join('=')).join('; '),
    }
    const body = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const response = await fetch(url, { headers, redirect: 'manual', ...body })
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.split(';', 1)[0]?.split(/=(.*)/s) ?? []
      this.cookies.set(name, value)
    }
    const location = response.headers.get('location') ?? undefined
    return { location, html: await response.text(), status: response.status }
  }
}

function hiddenFields(html: string): Record<string, string> {
  const fields = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]))
}
