import { commit } from '../../../lib/authorization/commit'
import { type IssueContext, type Transition, unrestricted } from '../../../lib/authorization/transition'
import type { Lifetimes } from '../../../lib/authorization/lifetimes'
import { OAuthError } from '../../../lib/protocol/oauth-error'
import { memoryStore } from '../../../lib/stores/memory-store'
import { pendingAuthorization } from './authorization'
import { countedRandom, noon, ownIssuer, tokenTypes } from './issue-context'
import type { Move, Work } from './moves'
import { type ConsentForm, type Ending, transitionOf } from './transition-of'
import type { Turn } from './scheduler'
import { type CallOutcome, StoreTrouble, UnreliableStore } from './unreliable-store'

/** A moment: turns order the moves of all workers, and the clock moves when a worker waits. */
export interface Moment {
  readonly turn: number
  readonly now: number
}

/** A move that was made: what was presented, when, and how it ended. */
export interface Operation {
  readonly move: Move
  readonly presented: string
  readonly began: Moment
  readonly ended: Moment
  readonly ending: Ending
  /** Calls by which it wrote, or tried to. */
  readonly writes: number
  /** Whether the last of them was acknowledged. */
  readonly acknowledged: boolean
}

/** One authorization, many workers, a moving clock and a bad network. */
export class Simulation {
  readonly operations: Operation[] = []
  /** Every code, access token and refresh token that was ever made, delivered or not. */
  readonly made = new Set<string>()
  /** Every record that a worker tried to save, as a store would keep it. */
  readonly texts: string[] = []
  private readonly random = countedRandom()
  private readonly form: ConsentForm
  private now = noon
  // Behind the time that its clock reads.
  readonly records = memoryStore({ clock: () => this.now * 1000 })
  private turns = 0

  constructor(
    private readonly turn: Turn,
    private readonly outcomes: Iterator<CallOutcome>,
    readonly lifetimes: Lifetimes,
  ) {
    this.form = pendingAuthorization({ tokenType: 'stamped' }, this.context())
  }

  get id(): string {
    return this.form.pending.id
  }

  context(): IssueContext {
    const { now, random, lifetimes } = this
    return {
      now,
      issuerDigest: ownIssuer,
      random,
      lifetimes,
      tokenTypes,
      countIssue: () => {},
      restrict: unrestricted,
    }
  }

  /** Alice is shown the consent form, and these moves are made, one by one and without any trouble. */
  async begin(setup: Work): Promise<void> {
    await this.records.save(this.form.pending, 'first revision')
    for (const move of setup) await this.make(move, async () => {}, [].values())
  }

  /** One worker's moves, each when its turn comes; a persistent worker repeats a move until it gets an answer. */
  async work(name: string, moves: Work, persistent: boolean): Promise<void> {
    const turn: Turn = (label) => this.turn(`${name}: ${label}`)
    for (const move of moves) {
      await turn(JSON.stringify(move))
      await (persistent ? this.insist(move, turn) : this.make(move, turn, this.outcomes))
    }
  }

  private async insist(move: Move, turn: Turn): Promise<void> {
    const ending = await this.make(move, turn, this.outcomes)
    if (ending?.kind === 'trouble') await this.insist(move, turn)
  }

  private async make(move: Move, turn: Turn, outcomes: Iterator<CallOutcome>): Promise<Ending | undefined> {
    const presented = this.presentedBy(move)
    if (presented === undefined) return undefined
    const store = new UnreliableStore(this.records, turn, outcomes)
    const began = this.moment()
    const ending = await this.endingOf(move, presented, store)
    const { writes, acknowledged } = store
    this.operations.push({ move, presented, began, ended: this.moment(), ending, writes, acknowledged })
    this.texts.push(...store.texts)
    return ending
  }

  private moment(): Moment {
    return { turn: this.turns++, now: this.now }
  }

  /** What a move shows to the server; undefined if there is none yet. */
  private presentedBy(move: Move): string | undefined {
    const endings = this.operations.map(({ ending }) => ending)
    if (move.move === 'redeem')
      return endings.flatMap((ending) => (ending.kind === 'code' ? ending.code : []))[0]
    if (move.move !== 'refresh') return ''
    const tokens = endings.flatMap((ending) =>
      ending.kind === 'tokens' ? (ending.issued.refreshToken ?? []) : [],
    )
    return tokens.at(move.token % Math.max(1, tokens.length))
  }

  private async endingOf(move: Move, presented: string, store: UnreliableStore): Promise<Ending> {
    if (move.move === 'wait') {
      this.now += move.seconds
      return { kind: 'done' }
    }
    const transition = transitionOf(move, presented, this.form, this.context())
    try {
      return await commit(store, this.id, this.watched(transition), this.random)
    } catch (error) {
      if (error instanceof OAuthError) return { kind: 'refused', reason: error.reason }
      if (error instanceof StoreTrouble) return { kind: 'trouble' }
      throw error
    }
  }

  /** Keeps what a transition makes, even if no client gets it. */
  private watched(transition: Transition<Ending>): Transition<Ending> {
    return (current) => {
      const step = transition(current)
      if ('refusal' in step) return step
      if (step.outcome.kind === 'code') this.made.add(step.outcome.code)
      if (step.outcome.kind === 'tokens')
        for (const token of [step.outcome.issued.accessToken, step.outcome.issued.refreshToken])
          if (token !== undefined) this.made.add(token)
      return step
    }
  }
}
