import { decodeAuthorization, encodeAuthorization } from '../../../lib/authorization/codec'
import type { AuthorizationStore } from '../../../lib/authorization/store'
import type { Turn } from './scheduler'

/** The outcome of one call to a store on a bad network. */
export type CallOutcome =
  | 'served'
  | 'applied, reply lost, sent again'
  | 'applied, then rejected'
  | 'rejected'
  | 'rejected, applied late'

/** What a caller sees of a store that did not answer. */
export class StoreTrouble extends Error {}

/**
 * A store behind a bad network: each call waits its turn on the way there and on the way back, so that others come
 * between, and meets the next outcome of the plan; when the plan is at its end, every call is served.
 */
export class UnreliableStore implements AuthorizationStore {
  /** Every record that a caller tried to save, as a store would keep it. */
  readonly texts: string[] = []
  /** Calls that write. */
  writes = 0
  /** Whether the last of them was acknowledged. */
  acknowledged = false

  constructor(
    private readonly inner: AuthorizationStore,
    private readonly turn: Turn,
    private readonly outcomes: Iterator<CallOutcome>,
  ) {}

  find: AuthorizationStore['find'] = (id) => this.call('find', () => this.inner.find(id))

  save: AuthorizationStore['save'] = (authorization, revision, expected) => {
    const text = encodeAuthorization(authorization)
    this.texts.push(text)
    return this.write(() =>
      this.call('save', () =>
        this.inner.save(decodeAuthorization(authorization.id, text), revision, expected),
      ),
    )
  }

  remove: AuthorizationStore['remove'] = (id) => {
    return this.write(() => this.call('remove', () => this.inner.remove(id)))
  }

  private async write<Reply>(write: () => Promise<Reply>): Promise<Reply> {
    this.writes++
    this.acknowledged = false
    const reply = await write()
    this.acknowledged = reply !== false
    return reply
  }

  private async call<Reply>(verb: string, apply: () => Promise<Reply>): Promise<Reply> {
    const next = this.outcomes.next()
    const outcome = next.done === true ? 'served' : next.value
    await this.turn(`${verb}, ${outcome}`)
    if (outcome === 'rejected, applied late') void this.turn(`${verb}, applied late`).then(apply)
    if (outcome === 'rejected' || outcome === 'rejected, applied late') throw new StoreTrouble('Not reached.')
    const reply = await apply()
    await this.turn(`${verb}, reply`)
    if (outcome === 'applied, then rejected') throw new StoreTrouble('The reply is lost.')
    if (outcome !== 'applied, reply lost, sent again') return reply
    const second = await apply()
    await this.turn(`${verb}, reply to the second`)
    return second
  }
}
