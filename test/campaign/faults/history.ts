/** What is asked of a server. */
export type Act =
  | 'ask'
  | 'decide'
  | 'redeem'
  | 'refresh'
  | 'guard'
  | 'introspect'
  | 'revoke'
  /** A client gets a token for itself. */
  | 'grant'
  /** It revokes it. */
  | 'revokeOwn'
  /** A client exchanges the presented access token. */
  | 'exchange'
  /** A client registers itself, reads its registration, gets a token for itself, and deletes its registration. */
  | 'register'
  | 'configure'
  | 'authenticate'
  | 'unregister'

/** What came of it, as far as the one who asked can know. */
export type Answer =
  /** The consent form of a question, the code of a decision, or an access token and its refresh token. */
  | { readonly kind: 'granted'; readonly credentials: readonly string[] }
  /** The presented token is good. */
  | { readonly kind: 'accepted' }
  /** The presented token is revoked. */
  | { readonly kind: 'done' }
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
  /** The credential that it presents; empty for a question. */
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
 * What the fault did to the data: `all` is gone, or `some` of what was acknowledged during the span may be undone, or
 * nothing is lost but `news`: a server may be asked meanwhile that does not hear of changes any more, by what only
 * guards. With `reads`, it may be asked by whatever does not write. With `time`, a clock is wrong, and may end what lives.
 */
export interface Loss extends Span {
  readonly of: 'all' | 'some' | 'news' | 'reads' | 'time'
  /** Whether it spares authorizations. */
  readonly registrationsOnly?: boolean
}

/** Everything that a client of the servers recorded, and what was done to them meanwhile. */
export interface History {
  readonly attempts: readonly Attempt[]
  /** From the beginning of each fault until everything worked again. */
  readonly faults: readonly Span[]
  readonly losses: readonly Loss[]
  /** When the machine was too busy with something else to answer anything. */
  readonly standstills: readonly Span[]
  /** Seconds within which a refresh that is sent again gets the same answer. */
  readonly grace: number
  /** Seconds within which every request must be answered. */
  readonly bound: number
}

export const grantedBy = ({ answer }: Pick<Attempt, 'answer'>): readonly string[] =>
  answer.kind === 'granted' ? answer.credentials : []

/** Whether the answer to the one had come before the other was sent. */
export const knownBefore = (one: Attempt, other: Attempt): boolean => one.answeredAt <= other.sentAt

export const overlaps = (one: Attempt, { from, to }: Span): boolean =>
  one.sentAt < to && one.answeredAt > from

/** How much of the span the others cover together, in milliseconds. */
export function coveredOf({ from, to }: Span, others: readonly Span[]): number {
  let covered = 0
  let seenTo = from
  for (const other of others.toSorted((one, next) => one.from - next.from)) {
    const end = Math.min(other.to, to)
    covered += Math.max(0, end - Math.max(other.from, seenTo))
    seenTo = Math.max(seenTo, end)
  }
  return covered
}

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
