import type { Page } from 'playwright-core'
import { startDemo, type Demo } from '../../../demo/demo'
import { press } from '../../support/browser/follow'
import { freePorts } from './free-ports'

/** Starts the demo at any free ports. */
export const openDemo = (storeUrl?: string): Promise<Demo> =>
  startDemo({ ports: freePorts, ...(storeUrl !== undefined && { storeUrl }) })

/** A visitor of one app of the demo, without a browser: keeps the cookies of the app. */
export class AppVisitor {
  /** The cookie of the session. */
  session = ''

  constructor(private readonly app: string) {}

  /** Sends a form. Resolves to the status, and to where the answer leads. */
  post(path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) {
    return this.visit(new URL(path, this.app), { method: 'POST', headers, body: new URLSearchParams(form) })
  }

  get(path: string | URL) {
    return this.visit(new URL(path, this.app), {})
  }

  /** Opens a page of the app behind all its redirects. */
  async read(path: string | URL): Promise<string> {
    const { location, text } = await this.get(path)
    return location === undefined ? text : this.read(location)
  }

  /** Presses the button that leads to Lumen: where that is. */
  async depart(path = '/connect'): Promise<URL> {
    const { location } = await this.post(path)
    if (location === undefined) throw new Error(`${path} leads nowhere.`)
    return location
  }

  private async visit(
    url: URL,
    { headers = {}, ...init }: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
  ) {
    const sent = { ...headers, cookie: this.session }
    const response = await fetch(url, { ...init, headers: sent, redirect: 'manual' })
    for (const cookie of response.headers.getSetCookie()) this.session = cookie.split(';', 1)[0] ?? ''
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

/** Signs in at Lumen. */
export async function signIn(page: Page, { account }: Demo): Promise<void> {
  await page.getByLabel('Name').fill(account.username)
  await page.getByLabel('Password').fill(account.password)
  await press(page, 'Sign in')
}

/** Chooses a workspace on the consent page, and allows. */
export async function allow(page: Page, workspace = 'Travels'): Promise<void> {
  await page.getByLabel(workspace).check()
  await press(page, 'Allow')
}
