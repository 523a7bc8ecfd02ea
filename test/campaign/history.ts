import type { Act } from './acts'

/** What came of it, as far as the one who asked can know. */
export type Answer =
  /** The form of a question, the code of a decision, the codes of a device, or an access token and its refresh token. */
  | { readonly kind: 'granted'; readonly credentials: readonly string[] }
  /** The presented credential is good. */
  | { readonly kind: 'accepted' }
  /** The presented token is revoked, the registration deleted, or the question answered by no. */
  | { readonly kind: 'done' }
  /** A device must poll again. */
  | { readonly kind: 'pending' }
  /** The presented credential is not good (any more). */
  | { readonly kind: 'refused' }
  /** `temporarily_unavailable`, in the form of its endpoint: it may or may not have happened. */
  | { readonly kind: 'trouble' }
  /** The connection ended before an answer came: it may or may not have happened. Right only where a process died. */
  | { readonly kind: 'unanswered'; readonly what: string }
  /** Anything else: never right. */
  | { readonly kind: 'wrong'; readonly what: string }

/** One request and its answer, as its client saw both. Times are milliseconds of one clock, the client's. */
export interface Attempt {
  /** The authorization that it is about. */
  readonly line: number
  readonly act: Act
  /** The credential that it presents; empty for what begins a line. */
  readonly presented: string
  readonly sentAt: number
  readonly answeredAt: number
  readonly answer: Answer
}

export interface Span {
  readonly from: number
  readonly to: number
}

/**
 * What a fault did to the data: `all` is gone, or `some` of what was acknowledged during the span may be undone, or
 * nothing is lost but a server may be asked that does not hear of changes any more, by whatever `reads`. With `time`, a
 * clock is wrong, and may end what lives.
 */
export interface Loss extends Span {
  readonly of: 'all' | 'some' | 'reads' | 'time'
  /** Whether it spares authorizations: registrations do not wait for replicas. */
  readonly registrationsOnly?: boolean
}

/** Everything that clients recorded, and what was done to the servers meanwhile. */
export interface History {
  readonly attempts: readonly Attempt[]
  readonly losses: readonly Loss[]
  /** Whether nothing breaks: then trouble is a fault, and one of several who race must win. */
  readonly isCalm: boolean
  /** Seconds within which a refresh that is sent again gets the same answer; less what clocks may differ by. */
  readonly grace: number
}

export const grantedBy = ({ answer }: Pick<Attempt, 'answer'>): readonly string[] =>
  answer.kind === 'granted' ? answer.credentials : []

export const succeeded = ({ answer }: Attempt): boolean =>
  answer.kind === 'granted' || answer.kind === 'accepted'

/** Whether the answer to the one had come before the other was sent. */
export const knownBefore = (one: Attempt, other: Attempt): boolean => one.answeredAt <= other.sentAt

export const overlaps = (one: Attempt, { from, to }: Span): boolean =>
  one.sentAt < to && one.answeredAt > from

/** The attempts that have the same key, in the order in which the keys come. */
export function groupsOf(attempts: readonly Attempt[], keyOf: (attempt: Attempt) => unknown): Attempt[][] {
  const groups = new Map<unknown, Attempt[]>()
  for (const attempt of attempts) {
    const group = groups.get(keyOf(attempt))
    if (group === undefined) groups.set(keyOf(attempt), [attempt])
    else group.push(attempt)
  }
  return [...groups.values()]
}
