import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { authorizationStoreRules } from '../../../lib/testing/index'
import * as kit from '../../../lib/testing/index'
import { runInNode } from '../../support/stores/node-program'

const docs = join(__dirname, '../../../docs')
const page = readFileSync(join(docs, 'stores.md'), 'utf8')
const example = (name: string) => readFileSync(join(docs, 'examples', name), 'utf8')

test('the contract on the page of stores is the file that the tests run, and its tests pass', () => {
  expect(page).toContain(`\`\`\`ts\n${example('store-contract.ts')}\`\`\``)
  const { status, output } = runInNode("require('./docs/examples/store-contract')")
  expect(output).toContain(`pass ${authorizationStoreRules.length}\n`)
  expect(status).toBe(0)
})

test('the pages of stores and of testing name everything that the kit exports', () => {
  const named = Array.from(page.matchAll(/`(\w+(?:Contract|Rules)|check\w+)`/g), ([, name = '']) => name)
  const others = Object.keys(kit).filter((name) => !named.includes(name))
  const testing = readFileSync(join(docs, 'testing.md'), 'utf8')
  expect(Object.keys(kit)).toEqual(expect.arrayContaining(named))
  expect(others.toSorted()).toEqual(['approve', 'expectRefused', 'mintToken', 'testClock'])
  for (const name of others) expect(testing).toContain(`${name}(`)
})

test('no file of the store on PostgreSQL has 150 lines', () => {
  for (const part of ['store', 'counters', 'index', 'client-marks', 'keys', 'consents', 'clients', 'rows']) {
    const name = `postgres-${part}.ts`
    expect(page).toContain(`(examples/${name})`)
    expect(example(name).split('\n').length).toBeLessThan(150)
  }
})
