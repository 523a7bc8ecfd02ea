import type { ClientRegistration } from '../../lib/protocol/client'
import type { ClientRegistry } from '../../lib/clients/client-store'
import { random22 } from '../../lib/testing/example-records'
import { oneMore, registration } from '../../lib/testing/client-registry-rules'

const renamed = (current: ClientRegistration) => ({ ...current, client_id: 'another' })

/** What our own registries keep beyond the contract, for speed and against accidents. */
export function clientObjectsContract(title: string, open: () => ClientRegistry): void {
  describe(title, () => {
    let clients: ClientRegistry
    beforeEach(() => {
      clients = open()
    })

    it('returns the same object as long as nothing was changed, so that it is parsed once', async () => {
      const id = random22()
      await clients.add(registration(id))
      const found = await clients.find(id)
      expect(await clients.find(id)).toBe(found)
      await clients.update(id, (same) => same)
      expect(await clients.find(id)).toBe(found)
      const changed = await clients.update(id, oneMore)
      expect(changed).not.toBe(found)
      expect(await clients.find(id)).toBe(changed)
    })

    it('gives out frozen registrations', async () => {
      const id = random22()
      await clients.add(registration(id))
      const found = await clients.find(id)
      expect(() => Object.assign(found ?? {}, { scope: 'everything' })).toThrow(TypeError)
      expect(() => Object.assign(found?.redirect_uris ?? [], ['https://thief.example/'])).toThrow(TypeError)
    })

    it('refuses a change of the identifier as a RangeError', async () => {
      const id = random22()
      await clients.add(registration(id))
      await expect(clients.update(id, renamed)).rejects.toThrow(RangeError)
    })
  })
}
