export { storeFrom } from './store-from'
export type { Count, Store, StoredValue, StoreWarning, WriteTerms } from '../../store/store'
