import type { ClientRegistration } from '../../lib/protocol/client'
import type { ClientRegistry } from '../../lib/stores/client-registry'
import { random22 } from './contract/examples'

const registration = (client_id: string, bend: Partial<ClientRegistration> = {}): ClientRegistration => ({
  client_id,
  client_type: 'public',
  redirect_uris: ['https://client.example/callback'],
  scope: 'a',
  ...bend,
})

const described = (description: string) => (current: ClientRegistration) => ({ ...current, description })
const oneMore = (current: ClientRegistration) => described(`${current.description ?? ''}x`)(current)

/** What every `ClientRegistry` has to keep, as a suite of tests. Each test opens one that is empty. */
export function clientRegistryContract(title: string, open: () => ClientRegistry): void {
  describe(title, () => {
    let clients: ClientRegistry
    beforeEach(() => {
      clients = open()
    })

    it('finds what was added, under its exact identifier, and nothing else', async () => {
      const id = random22()
      expect(await clients.add(registration(id))).toBe(true)
      expect(await clients.find(id)).toEqual(registration(id))
      for (const other of ['', id.toLowerCase(), `${id} `, 'constructor', '__proto__'])
        expect(await clients.find(other)).toBeUndefined()
    })

    it.each(['__proto__', 'constructor', 'toString', ' ', 'ä:*', 'x'.repeat(500)])(
      'takes any text as an identifier: %p',
      async (id) => {
        expect(await clients.add(registration(id))).toBe(true)
        expect((await clients.find(id))?.client_id).toBe(id)
        expect(await clients.update(id, described('there'))).toHaveProperty('description', 'there')
        expect((await clients.list()).map(({ client_id }) => client_id)).toEqual([id])
      },
    )

    it('[REG-1] refuses an identifier that exists and overwrites nothing, not even by an equal registration', async () => {
      const id = random22()
      await clients.add(registration(id))
      expect(await clients.add(registration(id, { scope: 'b' }))).toBe(false)
      expect(await clients.add(registration(id))).toBe(false)
      expect(await clients.find(id)).toEqual(registration(id))
    })

    it('[REG-1] lets one of 50 parallel additions of an identifier succeed, and keeps its registration', async () => {
      const id = random22()
      const rivals = Array.from({ length: 50 }, (_, n) => registration(id, { description: `rival ${n}` }))
      const successes = await Promise.all(rivals.map((rival) => clients.add(rival)))
      const winners = rivals.filter((_, n) => successes[n])
      expect(winners).toHaveLength(1)
      expect(await clients.find(id)).toEqual(winners[0])
    })

    it('[REG-1] lets one of 50 parallel additions succeed although all are equal', async () => {
      const id = random22()
      const additions = Array.from({ length: 50 }, () => clients.add(registration(id)))
      expect((await Promise.all(additions)).filter(Boolean)).toHaveLength(1)
    })

    it('replaces a registration by what a change makes of it', async () => {
      const id = random22()
      await clients.add(registration(id))
      const changed = registration(id, { description: 'new' })
      expect(await clients.update(id, described('new'))).toEqual(changed)
      expect(await clients.find(id)).toEqual(changed)
    })

    it('changes nothing of a client that is not there, and makes none', async () => {
      const id = random22()
      const change = jest.fn(oneMore)
      expect(await clients.update(id, change)).toBeUndefined()
      expect(change).not.toHaveBeenCalled()
      expect(await clients.find(id)).toBeUndefined()
    })

    it('loses none of 50 parallel changes', async () => {
      const id = random22()
      await clients.add(registration(id))
      await Promise.all(Array.from({ length: 50 }, () => clients.update(id, oneMore)))
      expect((await clients.find(id))?.description).toBe('x'.repeat(50))
    })

    it('keeps changes of other clients apart', async () => {
      const ids = Array.from({ length: 10 }, random22)
      await Promise.all(ids.map((id) => clients.add(registration(id))))
      await Promise.all(ids.map((id) => clients.update(id, described(id))))
      const found = await Promise.all(ids.map((id) => clients.find(id)))
      expect(found.map((client) => client?.description)).toEqual(ids)
    })

    it('lets through what a change throws, and writes nothing', async () => {
      const id = random22()
      await clients.add(registration(id))
      const refusal = new Error('no')
      const change = () => {
        throw refusal
      }
      await expect(clients.update(id, change)).rejects.toBe(refusal)
      expect(await clients.find(id)).toEqual(registration(id))
    })

    it('refuses a change of the identifier', async () => {
      const [id, other] = [random22(), random22()]
      await clients.add(registration(id))
      await expect(clients.update(id, () => registration(other))).rejects.toThrow(RangeError)
      expect(await clients.list()).toEqual([registration(id)])
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

    it('gives out nothing through which the registration could be changed', async () => {
      const id = random22()
      const redirect_uris = ['https://client.example/callback']
      await clients.add(registration(id, { redirect_uris }))
      redirect_uris.push('https://thief.example/')
      const found = await clients.find(id)
      expect(() => Object.assign(found ?? {}, { scope: 'everything' })).toThrow(TypeError)
      expect(() => Object.assign(found?.redirect_uris ?? [], ['https://thief.example/'])).toThrow(TypeError)
      expect(await clients.find(id)).toEqual(registration(id))
    })

    it('lists every client, in the order of their identifiers', async () => {
      expect(await clients.list()).toEqual([])
      for (const id of ['b', 'a', 'B', 'ä', 'c']) await clients.add(registration(id))
      expect((await clients.list()).map(({ client_id }) => client_id)).toEqual(['B', 'a', 'b', 'c', 'ä'])
    })
  })
}
