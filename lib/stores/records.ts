import { type Authorization, expiryOf } from '../authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../authorization/codec'
import { type AuthorizationStore, decorate, type StoredAuthorization } from '../authorization/store'
import type { Counters } from '../limits/counters'
import { BoundedMap } from '../primitives/maps'
import { createId, digest, secureRandom } from '../protocol/credential'
import type { TimelyStore } from '../store/deadline'
import type { Store, StoredValue } from '../store/store'

const recordKey = (id: string) => `authorization:${id}`

// Reads find only the records of this issuer, and callers read before they remove. Default: of all.
export function authorizationsIn(
  store: TimelyStore,
  clock: () => number,
  issuerDigest?: string,
): AuthorizationStore {
  const { peek, confirmAbsent } = store
  const isOwn = ({ authorization }: StoredAuthorization) =>
    issuerDigest === undefined || authorization.issuerDigest === issuerDigest
  const own = (found: StoredAuthorization | undefined) =>
    found !== undefined && isOwn(found) ? found : undefined
  // What the store peeks at stays the same object until it changes.
  const decoded = new WeakMap<StoredValue, StoredAuthorization>()
  const recall = (id: string, found: StoredValue): StoredAuthorization => {
    const known = decoded.get(found) ?? decode(id, found)
    decoded.set(found, known)
    return known
  }
  return {
    find: (id) => store.readAs(recordKey(id), (found) => own(found && decode(id, found))),
    save: (authorization, version, expected) =>
      store.write(recordKey(authorization.id), encodeAuthorization(authorization), {
        version,
        expected,
        // No point in time: the clocks of process and database may differ.
        seconds: Math.max(0.001, expiryOf(authorization) - clock() / 1000),
      }),
    remove: (id) => store.remove(recordKey(id)),
    getCached:
      peek &&
      ((id) => {
        const found = peek.call(store, recordKey(id))
        return own(found && recall(id, found))
      }),
    confirmAbsent:
      confirmAbsent &&
      (async (id) => {
        if (await confirmAbsent.call(store, recordKey(id))) return true
        const found = await store.read(recordKey(id))
        return found !== undefined && !isOwn(decode(id, found))
      }),
  }
}

const decode = (id: string, { value, version }: StoredValue): StoredAuthorization => ({
  authorization: decodeAuthorization(id, value),
  revision: version,
})

// A single use is a record that nobody reads: of all creates at an issuer, one succeeds. Failed attempts
// count for all issuers, which share the clients and their secrets. `countUse` throws if a share is used up.
export function countersIn(
  store: Pick<Store, 'add' | 'write'>,
  issuerDigest = '',
  countUse?: (share: string) => void,
): Counters {
  return {
    add: (key, amount, seconds) => store.add(nameOf(key), amount, seconds),
    async useOnce(key, seconds, share) {
      if (share !== undefined) countUse?.(share)
      const name = nameOf(`${issuerDigest}:${key}`)
      return store.write(`use:${name}`, '1', { version: createId(secureRandom), seconds })
    },
  }
}

const documentKey = (key: string) => `document:${nameOf(key)}`

export const documentsIn = (store: Store) => ({
  find: async (key: string): Promise<string | undefined> => (await store.read(documentKey(key)))?.value,
  // Another process that writes at the same time may win.
  async keep(key: string, text: string, seconds: number): Promise<void> {
    const expected = (await store.read(documentKey(key)))?.version
    await store.write(documentKey(key), text, { version: createId(secureRandom), expected, seconds })
  },
})

export type Documents = ReturnType<typeof documentsIn>

// Keys are printable ASCII; hosts and strangers choose names.
export const nameOf = (name: string): string =>
  /^[\x20-\x7d][\x20-\x7e]{0,499}$/.test(name) ? name : `~${digest(name)}`

// Tuning: a code flow in one process sends 3 commands to Redis, not 5 (2026-11-22, docs/evidence.md). Can go
// whenever two more reads are acceptable.

const maximumCached = 1000

export type NoteUse = (authorization: Authorization) => Promise<void> | undefined

// The last 1000 requests and codes that this process wrote. A note leaves in the same turn as the record: Redis gets
// both in one packet. A failed note takes nothing away.
export function ownWrites(store: AuthorizationStore, notes: readonly NoteUse[]) {
  const written = new BoundedMap<StoredAuthorization>(maximumCached)
  const saveNoting: AuthorizationStore['save'] = (authorization, revision, expected) => {
    const saved = store.save(authorization, revision, expected)
    if (notes.length === 0) return saved
    const noted = notes.flatMap((note) => note(authorization)?.catch(() => undefined) ?? [])
    return noted.length === 0 ? saved : Promise.all([saved, ...noted]).then(([isSaved]) => isSaved)
  }
  return {
    // Another process may have changed the record: only a save with the same expected revision may rest on it.
    takeCached: (id: string): StoredAuthorization | undefined => {
      const stored = written.get(id)
      written.delete(id)
      return stored
    },
    store: decorate(store, {
      save(authorization, revision, expected) {
        const { id, state } = authorization
        written.delete(id)
        const saved = saveNoting(authorization, revision, expected)
        if (state === 'active') return saved
        // Only then: who decides reads the record here.
        return saved.then((isDone) => {
          if (isDone) written.set(id, { authorization, revision })
          return isDone
        })
      },
      remove(id) {
        written.delete(id)
        return store.remove(id)
      },
    }),
  }
}

export const isUse = (
  authorization: Authorization,
): authorization is Extract<Authorization, { state: 'approved' | 'active' }> =>
  authorization.state === 'approved' || authorization.state === 'active'
