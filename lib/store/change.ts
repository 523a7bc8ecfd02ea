import { setTimeout as pause } from 'node:timers/promises'
import { Lines } from '../primitives/concurrency'
import { createId, secureRandom } from '../protocol/credential'
import { refused } from '../protocol/refusals'
import type { Store } from './store'

// Without `write`, the record stays as it is.
interface Change<Outcome> {
  readonly write?: { readonly value: string; readonly seconds?: number | undefined } | undefined
  readonly outcome: Outcome
}

type Decide<Outcome> = (value: string | undefined) => Change<Outcome> | Promise<Change<Outcome>>

const rounds = 16
// Milliseconds, at most; doubles with each round.
const firstPause = 2

// For a record that many write at once: the writers of this process wait for each other, and pause after a conflict
// with another. `decide` may run again.
export function changeRecord<Outcome>(store: Store, key: string, decide: Decide<Outcome>): Promise<Outcome> {
  const line = lines.get(store) ?? new Lines()
  lines.set(store, line)
  return line.take(key, () => change(store, key, decide))
}

const lines = new WeakMap<Store, Lines>()

async function change<Outcome>(store: Store, key: string, decide: Decide<Outcome>): Promise<Outcome> {
  for (let round = 0; round < rounds; round++) {
    const found = await store.read(key)
    const { write, outcome } = await decide(found?.value)
    if (write === undefined) return outcome
    const version = createId(secureRandom)
    const terms = { version, expected: found?.version, seconds: write.seconds }
    // A failed write may have lost only its reply. The second one succeeds only in that case.
    const isWritten = await store.write(key, write.value, terms).catch(async (error: unknown) => {
      if (await store.write(key, write.value, { ...terms, expected: version }).catch(() => false)) return true
      throw error
    })
    if (isWritten) return outcome
    await pause(Math.random() * firstPause * 2 ** Math.min(round, 5))
  }
  throw refused('record_contended')
}
