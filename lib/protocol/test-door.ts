import type { Json } from './json'

// For the test kit, which does not load in production. No object of an application gives this access.

export interface MintRequest {
  /** Registered and not disabled. */
  readonly clientId: string
  /** The resource owner. Default: the client acts for itself. */
  readonly subject?: string
  /** Space separated. Default: the whole scope of the client. */
  readonly scope?: string
  /** With the option `resources`. Default: the default resource. */
  readonly resource?: string | readonly string[]
}

/** RFC 6749 5.1. */
export type Mint = (request: MintRequest) => Promise<Readonly<Record<string, Json>>>

const mints = new WeakMap<object, Mint>()

export function letMint(server: object, mint: Mint): void {
  mints.set(server, mint)
}

export const mintOf = (server: object): Mint | undefined => mints.get(server)

export interface TappedRefusal {
  readonly requestId: string
  readonly code: string
  readonly reason: string
}

let tap: ((refusal: TappedRefusal) => void) | undefined

/** A response never holds the reason; the request id joins the two. */
export function tapRefusals(listener: (refusal: TappedRefusal) => void): void {
  tap = listener
}

export function emitToTap(refusal: TappedRefusal): void {
  tap?.(refusal)
}
