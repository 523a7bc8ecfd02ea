import { setImmediate } from 'node:timers/promises'
import type { AuthorizationStore } from '../../../lib/index'
import type { Chance } from '../../support/chance'

/** Puts a store far away: each call waits before it is carried out, and its answer on the way back. */
export function waitingStore(store: AuthorizationStore, chance: Chance): AuthorizationStore {
  const pass = async <T>(call: () => Promise<T>): Promise<T> => {
    await someTurns(chance)
    const answer = await call()
    await someTurns(chance)
    return answer
  }
  return {
    find: (id) => pass(() => store.find(id)),
    save: (authorization, revision, expected) => pass(() => store.save(authorization, revision, expected)),
    remove: (id) => pass(() => store.remove(id)),
  }
}

async function someTurns(chance: Chance): Promise<void> {
  for (let turns = chance.below(8); turns > 0; turns--) await setImmediate()
}
