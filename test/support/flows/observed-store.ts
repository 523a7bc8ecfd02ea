import type { AuthorizationIndex, ConsentStore, Storage, Store } from '../../../lib/index'

type Verb = 'read' | 'write' | 'remove' | 'add' | 'list'
type Part = Verb | 'index' | 'consents'
type WholeStore = Store & { readonly index: AuthorizationIndex; readonly consents: ConsentStore }
export type Trouble = 'fails' | 'hangs'

/** A store that counts its calls for authorizations, and some verbs of which can be made to fail or never to answer. */
export class ObservedStore implements Storage {
  /** How often the index was called. */
  indexCalls = 0
  readonly calls: Record<Verb, number> = { read: 0, write: 0, remove: 0, add: 0, list: 0 }
  private readonly troubles = new Map<Part, Trouble>()

  readonly index: AuthorizationIndex
  readonly consents: ConsentStore

  constructor(private readonly store: WholeStore) {
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
        return (...given: unknown[]) => this.pass(part, '', async () => Reflect.apply(verb, target, given))
      },
    })
  }

  begin(trouble: Trouble, ...verbs: readonly Part[]): void {
    for (const verb of verbs) this.troubles.set(verb, trouble)
  }

  recover(): void {
    this.troubles.clear()
  }

  read: Store['read'] = (key) => this.pass('read', key, () => this.store.read(key))

  write: Store['write'] = (key, ...words) => this.pass('write', key, () => this.store.write(key, ...words))

  remove: Store['remove'] = (key) => this.pass('remove', key, () => this.store.remove(key))

  add: Store['add'] = (key, ...words) => this.pass('add', key, () => this.store.add(key, ...words))

  list: Store['list'] = (kind) => this.pass('list', '', () => this.store.list(kind))

  private async pass<T>(verb: Part, key: string, call: () => Promise<T>): Promise<T> {
    if (verb === 'index') this.indexCalls += 1
    else if (verb !== 'consents' && key.startsWith('authorization:')) this.calls[verb] += 1
    const trouble = this.troubles.get(verb)
    if (trouble === 'fails') throw new Error(`The store cannot ${verb}: connection refused.`)
    if (trouble === 'hangs') return new Promise<T>(() => {})
    return call()
  }
}
