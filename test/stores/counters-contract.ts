import { randomUUID } from 'node:crypto'
import type { Counters } from '../../lib/stores/counters'

export interface CountersUnderTest {
  readonly counters: Counters
  /** Lets this time pass, by the clock of the store. */
  advance(seconds: number): void | Promise<void>
  close(): Promise<void>
}

/** What all `Counters` have to keep, as a suite of tests. */
export function countersContract(name: string, open: () => Promise<CountersUnderTest>): void {
  describe(name, () => {
    let opened: CountersUnderTest
    let key: string
    beforeEach(async () => {
      opened = await open()
      key = randomUUID()
    })
    afterEach(() => opened.close())
    const add = (amount: 1 | -1 = 1, seconds = 60) => opened.counters.add(key, amount, seconds)
    const spend = (seconds = 60) => opened.counters.spend(key, seconds)

    it('counts up, each key for itself, and tells the seconds that are left', async () => {
      expect(await add()).toEqual({ count: 1, secondsLeft: 60 })
      expect(await add()).toMatchObject({ count: 2 })
      expect(await opened.counters.add(`${key}:other`, 1, 60)).toMatchObject({ count: 1 })
    })

    it('takes back what was added, and never counts below 0', async () => {
      await add()
      await add()
      expect(await add(-1)).toMatchObject({ count: 1 })
      expect(await add(-1)).toEqual({ count: 0, secondsLeft: 0 })
      expect(await add(-1)).toEqual({ count: 0, secondsLeft: 0 })
      expect(await add()).toEqual({ count: 1, secondsLeft: 60 })
    })

    it('begins anew after its seconds, counted from the first addition', async () => {
      await add(1, 2)
      await opened.advance(1)
      expect(await add(1, 2)).toEqual({ count: 2, secondsLeft: 1 })
      await opened.advance(1.1)
      expect(await add(1, 2)).toEqual({ count: 1, secondsLeft: 2 })
    })

    it('gives each of 50 parallel additions a count of its own', async () => {
      const counts = await Promise.all(Array.from({ length: 50 }, () => add()))
      expect(counts.map(({ count }) => count).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 50 }, (_, index) => index + 1),
      )
    })

    it('lets a key be spent once', async () => {
      expect([await spend(), await spend(), await spend()]).toEqual([true, false, false])
      expect(await opened.counters.spend(`${key}:other`, 60)).toBe(true)
    })

    it('lets one of 50 parallel calls spend a key', async () => {
      const spent = await Promise.all(Array.from({ length: 50 }, () => spend()))
      expect(spent.filter(Boolean)).toHaveLength(1)
    })

    it('forgets a spent key after its seconds, and not before', async () => {
      await spend(2)
      await opened.advance(1)
      expect(await spend(2)).toBe(false)
      await opened.advance(1.1)
      expect(await spend(2)).toBe(true)
    })

    it('keeps counts and spent keys apart', async () => {
      await add()
      expect(await spend()).toBe(true)
      expect(await add()).toMatchObject({ count: 2 })
    })

    it.each(['__proto__', 'constructor', '', 'ü:{tag} \u0000'])(
      'takes the key %j like any other',
      async (odd) => {
        key += odd
        expect(await add()).toMatchObject({ count: 1 })
        expect(await spend()).toBe(true)
        expect(await spend()).toBe(false)
      },
    )
  })
}
