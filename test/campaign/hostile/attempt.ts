import type { Message } from './message'
import type { Answer } from './wire'

/** Which answers and which codes an endpoint knows. */
export type Endpoint = 'authorize' | 'token' | 'revoke' | 'introspect' | 'photos' | 'metadata'

/** A valid request, and what the oracle must know of it. */
export interface Attempt {
  readonly kind: string
  readonly endpoint: Endpoint
  readonly message: Message
  /** Parameters without which, or with another value of which, it must not win. */
  readonly decisive: Readonly<Record<string, string>>
  /** What decides when it is there at all. */
  readonly decisiveIfSent?: Readonly<Record<string, string>>
  /** Headers that must be there once and say this. */
  readonly decisiveHeaders: Readonly<Record<string, string>>
  /** Whether other clients may ask the same, so that their credentials are as good. */
  readonly anyClient: boolean
  /** Whether method, target and host are signed. */
  readonly signed: boolean
  /** What no answer may show. */
  readonly secrets: readonly string[]
  /** Whether it must fail once it is used up. */
  readonly once: boolean
  /** A token that dies with a revocation, and this request with it. */
  readonly dies: string | undefined
  /** Whether this answer gives what was asked for. */
  readonly won: (answer: Answer) => boolean
}
