import type { ObservedStore } from './observed-store'

/** Lets each read and write of keys that begin so fail, until the returned function is called. */
export function failAt(store: ObservedStore, start: string): () => void {
  const { read, write } = store
  const fail = async () => Promise.reject(new Error('The store is away.'))
  store.read = (key) => (key.startsWith(start) ? fail() : read(key))
  store.write = (key, ...words) => (key.startsWith(start) ? fail() : write(key, ...words))
  return () => void Object.assign(store, { read, write })
}
