import { deny } from '../../lib/authorization/decision'
import { begin } from '../../lib/authorization/commit'
import { createId, secureRandom } from '../../lib/protocol/credential'
import type { AuthorizationStore } from '../../lib/authorization/store'
import { memoryStore } from '../../lib/stores/memory-store'
import { ownWrites } from '../../lib/stores/own-writes'
import {
  activeAuthorization,
  approvedAuthorization,
  pendingAuthorization,
} from '../support/authorization/authorization'
import { noon } from '../support/authorization/issue-context'

const { pending } = pendingAuthorization()
const inMemory = () => memoryStore({ clock: () => noon * 1000 })

describe('ownWrites', () => {
  it.each([pending, approvedAuthorization().approved])(
    'recalls once what was written: $state',
    async (record) => {
      const { store, takeCached } = ownWrites(inMemory())
      await store.save(record, 'r'.repeat(22))
      expect(takeCached(record.id)).toEqual({ authorization: record, revision: 'r'.repeat(22) })
      expect(takeCached(record.id)).toBeUndefined()
    },
  )

  it.each([deny(pending), activeAuthorization().active])(
    'does not keep a record that is not needed next: $state',
    async (record) => {
      const { store, takeCached } = ownWrites(inMemory())
      await store.save(record, 'r'.repeat(22))
      expect(takeCached(record.id)).toBeUndefined()
    },
  )

  it('does not recall what was not written, or removed, or written by a save that failed', async () => {
    const inner = inMemory()
    const { store, takeCached } = ownWrites(inner)
    await begin(inner, pending, secureRandom)
    expect(await store.save(pending, 'r'.repeat(22))).toBe(false)
    expect(takeCached(pending.id)).toBeUndefined()
    await inner.remove(pending.id)
    await store.save(pending, 'r'.repeat(22))
    await store.remove(pending.id)
    expect(takeCached(pending.id)).toBeUndefined()
    const broken: AuthorizationStore = { ...store, save: () => Promise.reject(new Error('Away.')) }
    const { store: unsafe, takeCached: writtenUnsafe } = ownWrites(broken)
    await expect(unsafe.save(pending, 'r'.repeat(22))).rejects.toThrow('Away.')
    expect(writtenUnsafe(pending.id)).toBeUndefined()
  })

  it('keeps the last thousand', async () => {
    const { store, takeCached } = ownWrites(inMemory())
    const records = Array.from({ length: 1001 }, () => ({ ...pending, id: createId(secureRandom) }))
    for (const record of records) await store.save(record, 'r'.repeat(22))
    expect(records.filter(({ id }) => takeCached(id) === undefined)).toEqual(records.slice(0, 1))
  })
})
