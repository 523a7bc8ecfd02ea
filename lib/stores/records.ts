import { expiryOf } from '../authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../authorization/codec'
import type { AuthorizationStore, StoredAuthorization } from '../authorization/store'
import type { Counters } from '../limits/counters'
import { createId, digest, secureRandom } from '../protocol/credential'
import type { TimelyStore } from '../store/deadline'
import type { Store, StoredValue } from '../store/store'

const recordKey = (id: string) => `authorization:${id}`

/**
 * Each authorization is one record, which ends with its last credential.
 *
 * @param issuerDigest reads find only the records of this issuer. Callers read before they remove. Default: of all.
 */
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

/**
 * A single use is a record that nobody reads: of all creates, one succeeds.
 *
 * @param issuerDigest a key is good once at each issuer. Failed attempts count for all issuers together: they share the
 * clients and their secrets.
 * @param countUse throws if a share is used up.
 */
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

/** Documents of other servers, which can be fetched again. */
export interface Documents {
  find(key: string): Promise<string | undefined>
  /** Another process that writes at the same time may win. */
  keep(key: string, text: string, seconds: number): Promise<void>
}

const documentKey = (key: string) => `document:${nameOf(key)}`

export function documentsIn(store: Store): Documents {
  return {
    find: (key) => store.read(documentKey(key)).then((found) => found?.value),
    async keep(key, text, seconds) {
      const expected = (await store.read(documentKey(key)))?.version
      await store.write(documentKey(key), text, { version: createId(secureRandom), expected, seconds })
    },
  }
}

/** Keys are printable ASCII; names may hold what hosts and strangers choose. */
export const nameOf = (name: string): string =>
  /^[\x20-\x7d][\x20-\x7e]{0,499}$/.test(name) ? name : `~${digest(name)}`
