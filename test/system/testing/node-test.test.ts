import { runInNode } from '../../support/stores/node-program'

const over = (store: string) => `
  const { describe, it } = require('node:test')
  const { authorizationStoreContract } = require('./lib/testing')
  const { inMemory } = require('./test/testing/broken-stores')
  const { overwriting } = require('./test/support/stores/broken-stores')
  const open = () => {
    const { store, advance } = inMemory()
    return { store: ${store}, advance }
  }
  authorizationStoreContract('my store', open, { describe, it })
`

test('node:test runs the contract, and it passes over a store that keeps it', () => {
  const { status, output } = runInNode(over('store'))
  expect(output).toMatch(/pass 53$/m)
  expect(output).toMatch(/fail 0$/m)
  expect(status).toBe(0)
})

test('node:test runs the contract, and it fails over a store that does not keep it', () => {
  const { status, output } = runInNode(over('overwriting(store)'))
  expect(output).toContain('is refused where there is a record, and overwrites nothing')
  expect(output).not.toMatch(/fail 0$/m)
  expect(status).toBe(1)
})

test('a store that never answers breaks a rule after half a minute and does not hold up the next', () => {
  const { output } = runInNode(`
    const { mock } = require('node:test')
    mock.timers.enable({ apis: ['setTimeout'] })
    const { checkCounters } = require('./lib/testing')
    const never = () => new Promise(() => {})
    const ticking = setInterval(() => mock.timers.tick(30_000), 5)
    checkCounters(() => ({ counters: { add: never, useOnce: never } }))
      .then((verdicts) => console.log(new Set(verdicts.map(({ problem }) => problem.message))))
      .finally(() => clearInterval(ticking))
  `)
  expect(output).toContain("Set(1) { 'The store took more than 30 seconds.' }\n")
})
