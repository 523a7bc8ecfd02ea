import type { Store } from '../../../lib/index'

type Verb = 'read' | 'write' | 'remove' | 'add'
const verbs: ReadonlySet<PropertyKey> = new Set<Verb>(['read', 'write', 'remove', 'add'])
const isVerb = (name: PropertyKey): name is Verb => verbs.has(name)

/** Before a verb reaches the database, or before its answer reaches the process. */
export type Moment = 'before' | 'after'

/** A store whose process dies at a step of its own. */
export function mortalStore(store: Store) {
  let left = Infinity
  let at: Moment = 'before'
  const step = (moment: Moment) => {
    if (moment === at && --left === 0) process.kill(process.pid, 'SIGKILL')
  }
  const mortal = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (!isVerb(name)) return member.bind(target)
      return async (...given: readonly unknown[]) => {
        step('before')
        const answer: unknown = await Reflect.apply(member, target, given)
        step('after')
        return answer
      }
    },
  })
  /** From now on. */
  const dieAt = (nth: number, moment: Moment) => {
    left = nth
    at = moment
  }
  return { mortal, dieAt }
}
