import type { AuthorizationStore } from '../../stores/authorization-store'
import type { ContractRule, UnderTest } from '../rule'

/** A store of authorizations to be put to the test. */
export interface StoreUnderTest extends UnderTest {
  readonly store: AuthorizationStore
}

/** Makes rules about one verb, of which the store alone is enough. */
export function storeRules(about: string) {
  return (
    title: string,
    run: (store: AuthorizationStore) => Promise<void>,
  ): ContractRule<StoreUnderTest> => ({
    title: `${about} ${title}`,
    run: ({ store }) => run(store),
  })
}
