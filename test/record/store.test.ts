import type { Authorization } from '../../lib/authorization/authorization'
import { type AuthorizationStore, decorate, type StoredAuthorization } from '../../lib/authorization/store'
import { threeVersions } from '../../lib/testing/example-records'

describe('decorate', () => {
  // The fields are private to the class: a verb fails on any other object.
  class Host implements AuthorizationStore {
    readonly #kept = new Map<string, StoredAuthorization>()

    async find(id: string) {
      return this.#kept.get(id)
    }

    async save(authorization: Authorization, revision: string) {
      this.#kept.set(authorization.id, { authorization, revision })
      return true
    }

    async remove(id: string) {
      this.#kept.delete(id)
    }
  }

  class CachingHost extends Host {
    readonly #absent = true

    getCached() {
      return this.#absent ? undefined : record
    }

    async confirmAbsent() {
      return this.#absent
    }
  }

  const [record] = threeVersions()
  const { authorization, revision } = record

  it('replaces verbs, and runs all others on the store itself', async () => {
    const host = new CachingHost()
    const store = decorate(decorate(host, { remove: async () => {} }), { getCached: () => record })
    await store.save(authorization, revision)
    await store.remove(authorization.id)
    expect(await store.find(authorization.id)).toEqual(record)
    expect(store.getCached?.('an id')).toBe(record)
    expect(await store.confirmAbsent?.('an id')).toBe(true)
    expect(await host.find(authorization.id)).toEqual(record)
  })

  it('adds no optional verb that the store lacks', () => {
    const store = decorate(new Host(), { getCached: () => record, confirmAbsent: async () => true })
    expect([store.getCached, store.confirmAbsent]).toEqual([undefined, undefined])
  })
})
