import { active, approved, denied, everyKind, inSeconds, pending } from './examples'
import type { StoreUnderTest } from './store-under-test'
import { find, save, version } from './version'

// Enough for a slow database to save a few records, and little enough to be waited for.
const soon = 5
const pastSoon = 6

export function expiryRules(underTest: () => StoreUnderTest): void {
  it.each(everyKind)(
    'finds a record until its last credential dies, and not after: %s',
    async (_kind, make) => {
      const { store } = underTest()
      const [mortal, lasting] = [version(make(inSeconds(soon))), version(make(inSeconds(600)))]
      await save(store, mortal)
      await save(store, lasting)
      expect(await find(store, mortal)).toEqual(mortal)
      await underTest().advance(pastSoon)
      expect(await find(store, mortal)).toBeUndefined()
      expect(await find(store, lasting)).toEqual(lasting)
    },
  )

  it('follows the record that was saved last, be it for longer or for shorter', async () => {
    const { store } = underTest()
    const extended = version(approved(inSeconds(soon)))
    const shortened = version(pending(inSeconds(600)))
    await save(store, extended)
    await save(store, shortened)
    const longer = version(active(inSeconds(600), { id: extended.authorization.id }))
    await save(store, longer, extended)
    await save(store, version(denied(inSeconds(soon), { id: shortened.authorization.id })), shortened)
    await underTest().advance(pastSoon)
    expect(await find(store, longer)).toEqual(longer)
    expect(await find(store, shortened)).toBeUndefined()
  })

  it('makes an expired record one that is not there: it cannot be replaced, and may be created', async () => {
    const { store } = underTest()
    const expired = version(approved(inSeconds(soon)))
    await save(store, expired)
    await underTest().advance(pastSoon)
    const next = version(active(inSeconds(600), { id: expired.authorization.id }))
    expect(await save(store, next, expired)).toBe(false)
    expect(await find(store, next)).toBeUndefined()
    expect(await save(store, next)).toBe(true)
    expect(await find(store, next)).toEqual(next)
  })
}
