import type { Store } from '../../../lib/index'

type Verb = 'read' | 'write' | 'remove' | 'add' | 'list'
/** `owner`: every verb on the record of an owner. */
type Part = Verb | 'owner'
export type Trouble = 'fails' | 'hangs'

/** A store that counts its calls for authorizations, and some verbs of which can be made to fail or never to answer. */
export class ObservedStore implements Store {
  /** How often records of owners were read or written. */
  ownerCalls = 0
  readonly calls: Record<Verb, number> = { read: 0, write: 0, remove: 0, add: 0, list: 0 }
  private readonly troubles = new Map<Part, Trouble>()

  constructor(private readonly store: Store) {}

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

  private async pass<T>(verb: Verb, key: string, call: () => Promise<T>): Promise<T> {
    const isOwner = key.startsWith('owner:')
    if (isOwner) this.ownerCalls += 1
    if (key.startsWith('authorization:')) this.calls[verb] += 1
    const trouble = this.troubles.get(verb) ?? (isOwner ? this.troubles.get('owner') : undefined)
    if (trouble === 'fails') throw new Error(`The store cannot ${verb}: connection refused.`)
    if (trouble === 'hangs') return new Promise<T>(() => {})
    return call()
  }
}
