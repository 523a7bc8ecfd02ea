import type {
  AuthorizationIndex,
  AuthorizationStore,
  ConsentStore,
  Counters,
  KeyStore,
} from '../../../lib/index'

type Verb = 'find' | 'save' | 'remove'
type Part = Verb | 'index' | 'consents'
type CountedStore = AuthorizationStore & {
  readonly counters: Counters
  readonly keys: KeyStore
  readonly index: AuthorizationIndex
  readonly consents: ConsentStore
}
export type Trouble = 'fails' | 'hangs'

/** A store that counts its calls, and some verbs of which can be made to fail or never to answer. */
export class ObservedStore implements AuthorizationStore {
  /** How often the index was called. */
  indexCalls = 0
  readonly calls: Record<Verb, number> = { find: 0, save: 0, remove: 0 }
  private readonly troubles = new Map<Part, Trouble>()

  readonly counters: Counters
  readonly keys: KeyStore
  readonly index: AuthorizationIndex
  readonly consents: ConsentStore

  constructor(private readonly store: CountedStore) {
    this.counters = store.counters
    this.keys = store.keys
    this.index = this.observed('index', store.index)
    this.consents = this.observed('consents', store.consents)
  }

  /** A part each of whose verbs counts and fails as one. */
  private observed<Kept extends object>(part: Part, kept: Kept): Kept {
    return new Proxy(kept, {
      get: (target, name) => {
        const verb: unknown = Reflect.get(target, name)
        // Where it is, and why it cannot be reached, would name the store behind it.
        if (typeof verb !== 'function' || name === 'obstacle') return undefined
        return (...given: unknown[]) => this.pass(part, async () => Reflect.apply(verb, target, given))
      },
    })
  }

  begin(trouble: Trouble, ...verbs: readonly Part[]): void {
    for (const verb of verbs) this.troubles.set(verb, trouble)
  }

  recover(): void {
    this.troubles.clear()
  }

  find: AuthorizationStore['find'] = (id) => this.pass('find', () => this.store.find(id))

  save: AuthorizationStore['save'] = (authorization, revision, expected) =>
    this.pass('save', () => this.store.save(authorization, revision, expected))

  remove: AuthorizationStore['remove'] = (id) => this.pass('remove', () => this.store.remove(id))

  private async pass<T>(verb: Part, call: () => Promise<T>): Promise<T> {
    if (verb === 'index') this.indexCalls += 1
    else if (verb !== 'consents') this.calls[verb] += 1
    const trouble = this.troubles.get(verb)
    if (trouble === 'fails') throw new Error(`The store cannot ${verb}: connection refused.`)
    if (trouble === 'hangs') return new Promise<T>(() => {})
    return call()
  }
}
