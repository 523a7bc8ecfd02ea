import type { AuthorizationStore } from '../../../lib/stores/authorization-store'
import { random22 } from './examples'
import { swapCase } from './find-rules'
import { find, save, threeVersions } from './version'

export function saveRules(store: () => AuthorizationStore): void {
  describe('without an expected revision', () => {
    it('creates the record', async () => {
      const [first] = threeVersions()
      expect(await save(store(), first)).toBe(true)
      expect(await find(store(), first)).toEqual(first)
    })

    it('is refused where there is a record, and overwrites nothing', async () => {
      const [first, second] = threeVersions()
      await save(store(), first)
      expect(await save(store(), second)).toBe(false)
      expect(await find(store(), first)).toEqual(first)
    })

    it('resolves to true when it is repeated, and changes nothing', async () => {
      const [first] = threeVersions()
      await save(store(), first)
      expect(await save(store(), first)).toBe(true)
      expect(await find(store(), first)).toEqual(first)
    })

    it('is refused when it is repeated after another writer moved the record on', async () => {
      const [first, second] = threeVersions()
      await save(store(), first)
      await save(store(), second, first)
      expect(await save(store(), first)).toBe(false)
      expect(await find(store(), first)).toEqual(second)
    })
  })

  describe('with an expected revision', () => {
    it('replaces the record that has it', async () => {
      const [first, second, third] = threeVersions()
      await save(store(), first)
      expect(await save(store(), second, first)).toBe(true)
      expect(await find(store(), first)).toEqual(second)
      expect(await save(store(), third, second)).toBe(true)
      expect(await find(store(), first)).toEqual(third)
    })

    it.each([
      ['one that never was', random22],
      ['the right one in the other letter case', swapCase],
      ['the beginning of the right one', (revision: string) => revision.slice(0, -1)],
      ['an empty one', () => ''],
    ])('is refused where the record has another, and changes nothing: %s', async (_which, wrong) => {
      const [first, second] = threeVersions()
      await save(store(), first)
      const { authorization, revision } = second
      expect(await store().save(authorization, revision, wrong(first.revision))).toBe(false)
      expect(await find(store(), first)).toEqual(first)
    })

    it('is refused where another writer was first, and changes nothing', async () => {
      const [first, second, third] = threeVersions()
      await save(store(), first)
      await save(store(), second, first)
      expect(await save(store(), third, first)).toBe(false)
      expect(await find(store(), first)).toEqual(second)
    })

    it('is refused where there never was a record, and creates none', async () => {
      const [first, second] = threeVersions()
      expect(await save(store(), second, first)).toBe(false)
      expect(await find(store(), first)).toBeUndefined()
    })

    it('is refused where the record was removed, and does not bring it back', async () => {
      const [first, second] = threeVersions()
      await save(store(), first)
      await store().remove(first.authorization.id)
      expect(await save(store(), second, first)).toBe(false)
      expect(await find(store(), first)).toBeUndefined()
    })

    it('resolves to true when it is repeated, and changes nothing', async () => {
      const [first, second] = threeVersions()
      await save(store(), first)
      await save(store(), second, first)
      expect(await save(store(), second, first)).toBe(true)
      expect(await find(store(), first)).toEqual(second)
    })

    it('is refused when it is repeated after another writer moved the record on', async () => {
      const [first, second, third] = threeVersions()
      await save(store(), first)
      await save(store(), second, first)
      await save(store(), third, second)
      expect(await save(store(), second, first)).toBe(false)
      expect(await find(store(), first)).toEqual(third)
    })

    it('is refused when it is repeated after the record was removed', async () => {
      const [first, second] = threeVersions()
      await save(store(), first)
      await save(store(), second, first)
      await store().remove(first.authorization.id)
      expect(await save(store(), second, first)).toBe(false)
      expect(await find(store(), first)).toBeUndefined()
    })
  })
  describe('repeated on condition that it was done: its own revision is the expected one', () => {
    it('resolves to true where it was, and changes nothing', async () => {
      const [first, second] = threeVersions()
      await save(store(), first)
      await save(store(), second, first)
      expect(await save(store(), second, second)).toBe(true)
      expect(await find(store(), first)).toEqual(second)
    })

    it('is refused where it was not, and brings nothing about', async () => {
      const [first, second] = threeVersions()
      expect(await save(store(), first, first)).toBe(false)
      expect(await find(store(), first)).toBeUndefined()
      await save(store(), first)
      expect(await save(store(), second, second)).toBe(false)
      expect(await find(store(), first)).toEqual(first)
    })

    it('is refused after the record was removed, and does not bring it back', async () => {
      const [first] = threeVersions()
      await save(store(), first)
      await store().remove(first.authorization.id)
      expect(await save(store(), first, first)).toBe(false)
      expect(await find(store(), first)).toBeUndefined()
    })
  })
}
