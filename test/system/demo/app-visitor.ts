/** A visitor of one app of the demo, without a browser: keeps the cookies of the app. */
export class AppVisitor {
  private cookie = ''

  constructor(private readonly app: string) {}

  /** Sends a form. Resolves to the status, and to where the answer leads. */
  post(path: string, headers: Record<string, string> = {}) {
    return this.visit(new URL(path, this.app), { method: 'POST', headers })
  }

  get(path: string | URL) {
    return this.visit(new URL(path, this.app), { headers: {} })
  }

  /** Opens a page of the app behind all its redirects. */
  async read(path: string | URL): Promise<string> {
    const { location, text } = await this.get(path)
    return location === undefined ? text : this.read(location)
  }

  private async visit(url: URL, { headers, method = 'GET' }: { headers: object; method?: string }) {
    const response = await fetch(url, {
      method,
      headers: { ...headers, cookie: this.cookie },
      redirect: 'manual',
    })
    for (const cookie of response.headers.getSetCookie()) this.cookie = cookie.split(';', 1)[0] ?? ''
    const location = response.headers.get('location')
    return {
      status: response.status,
      location: location === null ? undefined : new URL(location, url),
      text: await response.text(),
    }
  }
}

/** What a page of an app tells at its top. */
export function noticeIn(page: string): string | undefined {
  return /class="notice" role="(?:status|alert)">(.*?)</s.exec(page)?.[1]?.trim()
}
