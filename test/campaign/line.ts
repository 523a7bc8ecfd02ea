import type { Act } from './acts'
import { grantedBy, knownBefore, type Attempt } from './history'

/** What ends a line once it is answered, and perhaps when it is not. */
const endings: ReadonlySet<Act> = new Set<Act>(['revoke', 'revokeOwn', 'unregister', 'deny'])
const uses: ReadonlySet<Act> = new Set<Act>(['decide', 'deny', 'redeem', 'refresh', 'poll', 'allow'])

/** One authorization as its clients saw it: which attempt brought which credential, and what may have ended it. */
export class Line {
  private readonly origins = new Map<string, Attempt>()
  private readonly presentations = new Map<string, Attempt[]>()

  /** @param grace seconds within which a refresh token may come again. */
  constructor(
    readonly attempts: readonly Attempt[],
    private readonly grace: number,
  ) {
    for (const attempt of attempts) {
      for (const credential of grantedBy(attempt)) this.keepOrigin(credential, attempt)
      const others = this.presentations.get(attempt.presented)
      if (others === undefined) this.presentations.set(attempt.presented, [attempt])
      else others.push(attempt)
    }
  }

  // The same pair may come several times: it is known from the first time on.
  private keepOrigin(credential: string, attempt: Attempt): void {
    const before = this.origins.get(credential)
    if (before === undefined || attempt.answeredAt < before.answeredAt) this.origins.set(credential, attempt)
  }

  /** The attempt whose answer was the first to bring this credential. */
  originOf(credential: string): Attempt | undefined {
    return this.origins.get(credential)
  }

  /** Every attempt to turn this credential into others. */
  usesOf(credential: string): readonly Attempt[] {
    return (this.presentations.get(credential) ?? []).filter(({ act }) => uses.has(act))
  }

  /** The uses that brought something. */
  winsOf(credential: string): readonly Attempt[] {
    return this.usesOf(credential).filter(({ answer }) => answer.kind === 'granted')
  }

  /** The refresh tokens that came for this one. */
  private successorsOf(refreshToken: string): readonly string[] {
    return this.winsOf(refreshToken).flatMap((win) => grantedBy(win).slice(1))
  }

  /** An attempt after whose answer no credential of the line is good: a revocation, or a replay that was refused. */
  isEnd(attempt: Attempt): boolean {
    const { act, answer, presented } = attempt
    if (endings.has(act)) return answer.kind === 'done'
    if (answer.kind !== 'refused') return false
    if (act === 'redeem') return this.winsOf(presented).some((win) => knownBefore(win, attempt))
    return act === 'refresh' && this.isRotatedOut(attempt)
  }

  /** Whether the presented refresh token was one that a client, as far as it could know, must not use any more. */
  isRotatedOut(attempt: Attempt): boolean {
    const wins = this.winsOf(attempt.presented).filter((win) => win !== attempt)
    if (this.grace <= 0) return wins.some((win) => knownBefore(win, attempt))
    const successors = wins.flatMap((win) => grantedBy(win).slice(1))
    return successors.some((next) => this.winsOf(next).some((win) => knownBefore(win, attempt)))
  }

  /** An attempt that may have ended the line, now or, if its answer was trouble, at any time since. */
  mayEnd(attempt: Attempt): boolean {
    const { act, presented } = attempt
    // Of a question that was approved, a late no ends nothing.
    if (endings.has(act)) return act !== 'deny' || attempt.answer.kind !== 'refused'
    if (act === 'redeem')
      return this.winsOf(presented).some((win) => win !== attempt && attempt.answeredAt > win.sentAt)
    return act === 'refresh' && this.mayBeReuse(attempt)
  }

  /** Whether a server may take the refresh for a reuse: the grace has passed, or the successor was used, perhaps. */
  mayBeReuse(attempt: Attempt): boolean {
    const others = this.usesOf(attempt.presented).filter((use) => use !== attempt)
    if (this.grace <= 0) return others.some((use) => use.sentAt < attempt.answeredAt)
    const first = Math.min(attempt.sentAt, ...others.map(({ sentAt }) => sentAt))
    // Servers count whole seconds.
    if (attempt.answeredAt - first >= (this.grace - 1) * 1000) return true
    const successors = this.successorsOf(attempt.presented)
    return successors.some((next) => this.usesOf(next).some((use) => use.sentAt < attempt.answeredAt))
  }
}
