import type { Json } from './json'

// Lets the test kit mint tokens and hear refusals of the servers in its process. No object of an application
// gives this access, and the kit does not load in production.

export interface MintRequest {
  /** Registered and not disabled. */
  readonly clientId: string
  /** The resource owner. Default: the client acts for itself. */
  readonly subject?: string
  /** Space separated, within the scope of the client. Default: its whole scope. */
  readonly scope?: string
  /** The resources that the token is for, with the option `resources`. Default: the default resource. */
  readonly resource?: string | readonly string[]
}

/** Resolves to the members of a token response (RFC 6749 5.1). */
export type Mint = (request: MintRequest) => Promise<Readonly<Record<string, Json>>>

const mints = new WeakMap<object, Mint>()

export function letMint(server: object, mint: Mint): void {
  mints.set(server, mint)
}

export const mintOf = (server: object): Mint | undefined => mints.get(server)

export interface TappedRefusal {
  /** The `X-Request-Id` of the response. */
  readonly requestId: string
  readonly code: string
  readonly reason: string
}

let tap: ((refusal: TappedRefusal) => void) | undefined

/**
 * For every refusal in this process. A response never holds the reason; the request id joins the two.
 * Applications listen to `oauth.events`.
 */
export function tapRefusals(listener: (refusal: TappedRefusal) => void): void {
  tap = listener
}

export function emitToTap(refusal: TappedRefusal): void {
  tap?.(refusal)
}
