import request from 'supertest'

/** A page at which a user agent has arrived. */
export interface Page {
  readonly url: URL
  readonly status: number
  readonly text: string
}

/** What a person writes into fields, and the values of the buttons that a person presses, by the names of the inputs. */
export type Answers = Readonly<Record<string, string>>

/** The owner signs in, and approves. */
export const approving: Answers = { username: 'alice', decision: 'approve' }

/** The owner presses the button of the page that asks before a logout. */
export const loggingOut: Answers = { decision: 'log_out' }

const redirectsAtMost = 20
const formsAtMost = 5

/** A browser without a window: keeps cookies, follows redirects, and sends the forms of pages. */
export class UserAgent {
  // Some applications send only browsers to a login.
  private readonly agent = request.agent('').set('Accept', 'text/html, */*')

  /** Opens a page, and sends the form of each page that has one. Arrives at a page without a form. */
  async visit(start: string, answers: Answers = approving): Promise<Page> {
    let page = await this.open(new URL(start))
    for (let forms = 0; page.text.includes('<form'); forms += 1) {
      if (forms === formsAtMost) throw new Error(`The forms do not end: ${page.url.href}`)
      page = await this.submit(page, answers)
    }
    return page
  }

  /** Opens a page. Follows redirects, and sends no form. */
  async open(start: URL): Promise<Page> {
    return this.arrive(start, await this.agent.get(start.href))
  }

  private async submit({ url, text }: Page, answers: Answers): Promise<Page> {
    const [, action = '', rest = ''] = /<form[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/s.exec(text) ?? []
    const inputs = [...rest.matchAll(/<(?:input|button)[^>]*>/g)].map(([tag]) => attributesOf(tag))
    const fields = inputs.flatMap(({ type, name = '', value = '' }) =>
      type === 'hidden' ? [[name, value]] : name in answers ? [[name, answers[name] ?? '']] : [],
    )
    const target = new URL(unescaped(action), url)
    const form = new URLSearchParams(Object.fromEntries(fields))
    return this.arrive(target, await this.agent.post(target.href).send(form.toString()))
  }

  private async arrive(from: URL, response: request.Response): Promise<Page> {
    let [url, answer] = [from, response]
    for (let redirects = 0; answer.status >= 300 && answer.status < 400; redirects += 1) {
      if (redirects === redirectsAtMost) throw new Error(`The redirects do not end: ${url.href}`)
      url = new URL(answer.get('Location') ?? '', url)
      answer = await this.agent.get(url.href)
    }
    return { url, status: answer.status, text: answer.text }
  }
}

const attributesOf = (tag: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...tag.matchAll(/([a-z-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, unescaped(value)]),
  )

const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
