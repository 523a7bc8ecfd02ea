import type { Json } from '../protocol/json'

// This file gives the test kit two kinds of access to the servers of its process: the kit can mint tokens and hear
// refusals. No object that an application holds gives this access. Only the test kit uses this file, and the kit does
// not load in production.

/** The access token that a test asks for. */
export interface MintRequest {
  /** A registered client that is not disabled. */
  readonly clientId: string
  /** The resource owner. Default: none, and the client acts for itself. */
  readonly subject?: string
  /** Scope values, separated by spaces, within the scope of the client. Default: the whole scope of the client. */
  readonly scope?: string
  /** The resources that the token is for, if the server has the option `resources`. Default: the default resource. */
  readonly resource?: string | readonly string[]
}

/** Issues an access token without a token request, and resolves to the members of the token response (RFC 6749 5.1). */
export type Mint = (request: MintRequest) => Promise<Readonly<Record<string, Json>>>

const mints = new WeakMap<object, Mint>()

/** Lets the test kit mint tokens of a server. */
export function letMint(server: object, mint: Mint): void {
  mints.set(server, mint)
}

/** Returns the function that mints tokens of a server; undefined for any other object. */
export function mintOf(server: object): Mint | undefined {
  return mints.get(server)
}

/** The members of a refusal that the test kit needs. */
export interface TappedRefusal {
  /** The value of the header `X-Request-Id` of the response. */
  readonly requestId: string
  /** The error code in the response. */
  readonly code: string
  readonly reason: string
}

let tap: ((refusal: TappedRefusal) => void) | undefined

/**
 * Calls the listener for every refusal in this process. A test sees only the response, which never holds the reason;
 * the request id joins the two. Applications listen to `oauth.events` instead.
 */
export function tapRefusals(listener: (refusal: TappedRefusal) => void): void {
  tap = listener
}

/** Reports a refusal to the test kit, if the kit is loaded. */
export function emitToTap(refusal: TappedRefusal): void {
  tap?.(refusal)
}
