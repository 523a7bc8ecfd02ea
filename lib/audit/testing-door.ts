/**
 * The two doors by which the test kit reaches the servers of its process. They are kept here, beside the servers: no
 * object that an application holds leads to them. Only the test kit uses them, and it does not load in production.
 */

/** What an access token that a test wants is about. */
export interface MintRequest {
  /** A registered client that is not disabled. */
  readonly clientId: string
  /** The resource owner; left out for a token of the client's own. */
  readonly subject?: string
  /** Space separated, within the scope of the client. Default: the whole scope of the client. */
  readonly scope?: string
}

/** Issues an access token for which there was no token request, and returns the token response (RFC 6749 5.1). */
export type Mint = (request: MintRequest) => Promise<Readonly<Record<string, string | number>>>

const mints = new WeakMap<object, Mint>()

/** Lets the test kit mint tokens of a server. */
export function letMint(server: object, mint: Mint): void {
  mints.set(server, mint)
}

/** What mints tokens of a server; undefined for any other object. */
export function mintOf(server: object): Mint | undefined {
  return mints.get(server)
}

/** A refusal, as far as the test kit needs it. */
export interface TappedRefusal {
  /** The value of the `X-Request-Id` header of the answer. */
  readonly requestId: string
  /** The error code that the answer shows. */
  readonly code: string
  readonly reason: string
}

let tap: ((refusal: TappedRefusal) => void) | undefined

/**
 * Hears every refusal in this process. A test sees only the answer, which never holds the reason; the request id joins
 * the two. An application listens to `oauth.events` instead.
 */
export function tapRefusals(listener: (refusal: TappedRefusal) => void): void {
  tap = listener
}

/** Tells the test kit, where it is loaded. */
export function tellTap(refusal: TappedRefusal): void {
  tap?.(refusal)
}
