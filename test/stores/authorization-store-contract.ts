import { expiryRules } from './contract/expiry-rules'
import { findRules } from './contract/find-rules'
import { raceRules } from './contract/race-rules'
import { removeRules } from './contract/remove-rules'
import { saveRules } from './contract/save-rules'
import type { StoreUnderTest } from './contract/store-under-test'

/**
 * What every `AuthorizationStore` has to keep, as a suite of tests. `open` is called before each test. No two tests
 * use the same id, so one database may serve them all.
 */
export function authorizationStoreContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(name, () => {
    let opened: StoreUnderTest
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    describe('find', () => findRules(() => opened.store))
    describe('save', () => saveRules(() => opened.store))
    describe('remove', () => removeRules(() => opened.store))
    describe('expiry', () => expiryRules(() => opened))
    describe('races', () => raceRules(() => opened.store))
  })
}
