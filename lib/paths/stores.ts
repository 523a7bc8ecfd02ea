export { storeFrom } from '../stores/from/store-from'
