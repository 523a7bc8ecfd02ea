// A store on SQLite in a process of its own: Node 20, which runs the tests, has no SQLite. Calls come as messages.
import { sqliteStore } from '../../../lib/paths/sqlite'
import type { Call, Reply } from './sqlite-process'

const [, , path = ''] = process.argv
let ahead = 0
const store = sqliteStore({ path, clock: () => Date.now() + ahead })

const verbs: Readonly<Record<string, unknown>> = {
  ...store,
  advance(seconds: number) {
    ahead += seconds * 1000
  },
  /** The turns of the event loop that so many reads in a row take, with work between them. */
  async turns(reads: number) {
    let [turns, isOver] = [0, false]
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    for (let read = 0; read < reads; read++) {
      const reading = store.read('any')
      await Promise.resolve()
      // The reply arrives meanwhile.
      for (const start = performance.now(); performance.now() - start < 5;);
      await reading
    }
    isOver = true
    return turns
  },
  detach() {
    setImmediate(() => process.disconnect())
  },
  /** The thread that starts next ends as soon as it runs. */
  crash() {
    process.once('worker', (worker) => void worker.once('online', () => worker.terminate()))
  },
}

async function answer({ id, verb, words }: Call): Promise<Reply> {
  try {
    const perform = verbs[verb]
    if (typeof perform !== 'function') throw new Error(`The store has no ${verb}.`)
    return { id, result: await Reflect.apply(perform, store, words) }
  } catch (error) {
    return { id, result: undefined, failure: String(error) }
  }
}

process.on('message', (call: Call) => void answer(call).then((reply) => process.send?.(reply)))
