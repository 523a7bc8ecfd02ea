import { describe, it } from 'node:test'
import { memoryStore } from 'express-authorization-server'
import { storeContract } from 'express-authorization-server/testing'

function open() {
  let ahead = 0
  return {
    store: memoryStore({ clock: () => Date.now() + ahead }), // your store
    advance: (seconds: number) => void (ahead += seconds * 1000), // or nothing: then the tests wait
    close: () => {}, // or nothing
  }
}

storeContract('my store keeps the contract', open, { describe, it })
