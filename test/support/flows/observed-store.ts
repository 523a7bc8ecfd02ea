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
    const { index, consents } = store
    const pass = <T>(call: () => Promise<T>) => this.pass('index', call)
    this.index = {
      add: (...given) => pass(() => index.add(...given)),
      list: (...given) => pass(() => index.list(...given)),
      remove: (...given) => pass(() => index.remove(...given)),
      mark: (...given) => pass(() => index.mark(...given)),
      revokeClient: (...given) => pass(() => index.revokeClient(...given)),
      revokedBefore: (...given) => pass(() => index.revokedBefore(...given)),
    }
    const passConsent = <T>(call: () => Promise<T>) => this.pass('consents', call)
    this.consents = {
      find: (...given) => passConsent(() => consents.find(...given)),
      list: (...given) => passConsent(() => consents.list(...given)),
      remember: (...given) => passConsent(() => consents.remember(...given)),
      forget: (...given) => passConsent(() => consents.forget(...given)),
    }
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
