import type { Store } from '../../../lib/index'
import { but } from './but'

/** Before a verb reaches the database, or before its answer reaches the process. */
export type Moment = 'before' | 'after'

/** A store whose process dies at a step of its own. */
export function mortalStore(store: Store) {
  let left = Infinity
  let at: Moment = 'before'
  const step = (moment: Moment) => {
    if (moment === at && --left === 0) process.kill(process.pid, 'SIGKILL')
  }
  const dying =
    <Given extends readonly unknown[], Answer>(verb: (...given: Given) => Promise<Answer>) =>
    async (...given: Given) => {
      step('before')
      const answer = await verb(...given)
      step('after')
      return answer
    }
  const mortal = but(store, {
    read: dying((...given: Parameters<Store['read']>) => store.read(...given)),
    write: dying((...given: Parameters<Store['write']>) => store.write(...given)),
    remove: dying((...given: Parameters<Store['remove']>) => store.remove(...given)),
    add: dying((...given: Parameters<Store['add']>) => store.add(...given)),
  })
  /** From now on. */
  const dieAt = (nth: number, moment: Moment) => {
    left = nth
    at = moment
  }
  return { mortal, dieAt }
}
