import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { longestValues, parametersAtMost } from '../../lib/protocol/bounds'

const page = readFileSync(join(__dirname, '../../docs/bounds.md'), 'utf8')

test('the page of bounds names the longest value of each parameter, as the code has it', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (\d+) +\|$/gm)].map(([, name, most]) => [
    name,
    Number(most),
  ])
  expect(rows).toEqual([...longestValues])
})

test('the page of bounds says how many parameters there may be', () => {
  expect(page).toContain(`may have ${parametersAtMost} parameters each`)
})
