import { createHmac, randomUUID } from 'node:crypto'

/** What a client has of a token response of the type mac. */
export interface MacTokens {
  readonly access_token: string
  readonly mac_key: string
  readonly mac_algorithm: string
}

/** What a client signs; everything has a usual value. */
export interface SignedParts {
  readonly method?: string
  readonly target?: string
  readonly host?: string
  readonly port?: string
  readonly nonce?: string
  /** Milliseconds since the epoch: the form with `ts`. */
  readonly ts?: number
  /** Seconds since the key came: the form without `ts`. */
  readonly age?: number
  readonly ext?: string
}

/** The attributes of a signed request, as a client of its own making computes them: by the drafts, not by the suite. */
export function macAttributes(tokens: MacTokens, parts: SignedParts = {}): Record<string, string> {
  const { method = 'GET', target = '/photos', host = 'api.example.com', port = '443', ext = '' } = parts
  const { ts = Date.now(), age, nonce: random = randomUUID() } = parts
  const nonce = age === undefined ? random : `${age}:${random}`
  const time = String(Math.floor(ts / 1000))
  const lines =
    age === undefined
      ? `${time}\n${nonce}\n${method}\n${target}\n${host}\n${port}\n${ext}\n`
      : `${nonce}\n${method}\n${target}\n${host}\n${port}\n\n${ext}\n`
  const hash = tokens.mac_algorithm === 'hmac-sha-1' ? 'sha1' : 'sha256'
  const mac = createHmac(hash, tokens.mac_key).update(lines).digest('base64')
  return {
    id: tokens.access_token,
    ...(age === undefined ? { ts: time } : {}),
    nonce,
    ...(ext === '' ? {} : { ext }),
    mac,
  }
}

export function macHeader(tokens: MacTokens, parts: SignedParts = {}): string {
  return headerOf(macAttributes(tokens, parts))
}

export function headerOf(attributes: Readonly<Record<string, string>>): string {
  const quoted = Object.entries(attributes).map(([name, value]) => `${name}="${value}"`)
  return `MAC ${quoted.join(', ')}`
}
