import { deny } from '../../lib/authorization/answer'
import { begin } from '../../lib/authorization/commit'
import { createId, secureRandom } from '../../lib/protocol/credential'
import type { AuthorizationStore } from '../../lib/stores/authorization-store'
import { memoryStore } from '../../lib/stores/memory-store'
import { recentlyWritten } from '../../lib/stores/recently-written'
import {
  activeAuthorization,
  approvedAuthorization,
  pendingAuthorization,
} from '../support/authorization/authorization'
import { noon } from '../support/authorization/circumstances'

const { pending } = pendingAuthorization()
const inMemory = () => memoryStore({ clock: () => noon * 1000 })

describe('recentlyWritten', () => {
  it.each([pending, approvedAuthorization().approved])(
    'recalls once what was written: $state',
    async (record) => {
      const { store, justWritten } = recentlyWritten(inMemory())
      await store.save(record, 'r'.repeat(22))
      expect(justWritten(record.id)).toEqual({ authorization: record, revision: 'r'.repeat(22) })
      expect(justWritten(record.id)).toBeUndefined()
    },
  )

  it.each([deny(pending), activeAuthorization().active])(
    'does not justWritten what nobody is about to ask for: $state',
    async (record) => {
      const { store, justWritten } = recentlyWritten(inMemory())
      await store.save(record, 'r'.repeat(22))
      expect(justWritten(record.id)).toBeUndefined()
    },
  )

  it('does not justWritten what was not written, or removed, or written by a save that failed', async () => {
    const inner = inMemory()
    const { store, justWritten } = recentlyWritten(inner)
    await begin(inner, pending, secureRandom)
    expect(await store.save(pending, 'r'.repeat(22))).toBe(false)
    expect(justWritten(pending.id)).toBeUndefined()
    await inner.remove(pending.id)
    await store.save(pending, 'r'.repeat(22))
    await store.remove(pending.id)
    expect(justWritten(pending.id)).toBeUndefined()
    const broken: AuthorizationStore = { ...store, save: () => Promise.reject(new Error('Away.')) }
    const { store: unsafe, justWritten: writtenUnsafe } = recentlyWritten(broken)
    await expect(unsafe.save(pending, 'r'.repeat(22))).rejects.toThrow('Away.')
    expect(writtenUnsafe(pending.id)).toBeUndefined()
  })

  it('keeps the last thousand', async () => {
    const { store, justWritten } = recentlyWritten(inMemory())
    const records = Array.from({ length: 1001 }, () => ({ ...pending, id: createId(secureRandom) }))
    for (const record of records) await store.save(record, 'r'.repeat(22))
    expect(records.filter(({ id }) => justWritten(id) === undefined)).toEqual(records.slice(0, 1))
  })
})
