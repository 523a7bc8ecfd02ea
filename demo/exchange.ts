import { isRecord } from '../lib/primitives/values'
import { shortened } from './app-page'
import { basic } from './connection'

/** One request of an attack with its answer, and what they mean. */
export interface Exchange {
  /** The request, line by line, with credentials shortened. */
  readonly sent: readonly string[]
  /** The answer: its status, and the rest line by line. */
  readonly status: string
  readonly answered: readonly string[]
  readonly isRefused: boolean
  readonly title: string
  readonly why: string
  /** The rule that Lumen follows. */
  readonly clause: { readonly name: string; readonly url: string }
}

/** What a page tells about a request. */
export type Meaning = Pick<Exchange, 'title' | 'why'> & {
  /** A section of an RFC, such as `[6749, '4.1.2']`. */
  readonly clause: readonly [rfc: number, section: string]
}

/** An answer that came back. */
export interface Answer {
  readonly status: number
  /** The texts of its JSON object. */
  readonly members: Readonly<Record<string, string>>
  /** What to show of it, with what it means. */
  tell(meaning: Meaning): Exchange
}

interface Attempt {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** A client with its secret, or an access token. */
  readonly as: { readonly client: readonly [id: string, secret: string] } | { readonly token: string }
  readonly form?: Readonly<Record<string, string>>
}

/** Sends a request, and keeps it with its answer for the page. */
export async function send({ method, url, as, form }: Attempt): Promise<Answer> {
  const authorization = 'token' in as ? `Bearer ${as.token}` : basic(...as.client)
  const response = await fetch(url, {
    method,
    headers: { authorization },
    ...(form && { body: new URLSearchParams(form) }),
  })
  const body: unknown = JSON.parse(await response.text())
  const members = Object.fromEntries(
    Object.entries(isRecord(body) ? body : {}).map(([name, value]) => [name, String(value)]),
  )
  const sent = [
    `${method} ${new URL(url).pathname}`,
    `Authorization: ${'token' in as ? `Bearer ${shortened(as.token)}` : basicShown(as.client)}`,
    ...Object.entries(form ?? {}).map(([name, value]) => `${name}=${shown(name, value)}`),
  ]
  const answered = [
    ...headersShown.flatMap((name) => {
      const value = response.headers.get(name)
      return value === null ? [] : [`${name}: ${value}`]
    }),
    ...(Array.isArray(body)
      ? [`${body.length} photos`]
      : Object.entries(members).map(([name, value]) => `${name}: ${shown(name, value)}`)),
  ]
  return {
    status: response.status,
    members,
    tell: ({ clause: [rfc, section], ...meaning }) => ({
      ...meaning,
      sent,
      status: `${response.status} ${response.statusText}`,
      answered,
      isRefused: !response.ok,
      clause: {
        name: `RFC ${rfc}, section ${section}`,
        url: `https://www.rfc-editor.org/rfc/rfc${rfc}#section-${section}`,
      },
    }),
  }
}

const headersShown = ['WWW-Authenticate', 'Retry-After']
const credentials = new Set(['code', 'code_verifier', 'access_token', 'refresh_token'])

const shown = (name: string, value: string) => (credentials.has(name) ? shortened(value) : value)

// The header has both in base64, which is no secret writing.
const basicShown = ([id, secret]: readonly [string, string]) =>
  `Basic base64(${id}:${secret.length > 20 ? shortened(secret) : secret})`
