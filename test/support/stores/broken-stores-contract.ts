import { memoryStore } from '../../../lib/stores/memory-store'
import { authorizationStoreContract } from '../../stores/authorization-store-contract'
import { faults } from './broken-stores'

/** The contract over every broken store, and over a sound one: a suite that is to fail, run by the test of the tests. */
for (const { name, plant } of [{ name: 'sound', plant: <T>(store: T): T => store }, ...faults])
  authorizationStoreContract(name, async () => {
    let ahead = 0
    const store = plant(memoryStore({ clock: () => Date.now() + ahead }))
    const advance = (seconds: number): void => {
      ahead += seconds * 1000
    }
    return { store, advance, close: async () => {} }
  })
