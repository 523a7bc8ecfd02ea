import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OptionsReader } from '../../../lib/primitives/options-reader'
import { largestMembers, longestValues, parametersAtMost } from '../../../lib/protocol/parameters'
import { readIssueLimits } from '../../../lib/limits/issue-limits'
import { usualSingleUses } from '../../../lib/limits/single-use-limit'

const page = readFileSync(join(__dirname, '../../../docs/bounds.md'), 'utf8')

test('the page of bounds names the longest value of each parameter, as the code has it', () => {
  const [parameters = ''] = page.split('## Registrations')
  const rows = [...parameters.matchAll(/^\| `(\w+)` +\| (\d+) +\|$/gm)].map(([, name, most]) => [
    name,
    Number(most),
  ])
  expect(rows).toEqual([...longestValues])
})

test('the page of bounds names the size of each member of a registration, as the code has it', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (\d+) (?:characters|entries)/gm)].map(([, name, most]) => [
    name,
    Number(most),
  ])
  expect(rows).toEqual(largestMembers)
})

test('the page of bounds says how many parameters there may be', () => {
  expect(page).toContain(`may have ${parametersAtMost} parameters each`)
})

test('the page of bounds names the shares of one client and one owner by default, as the code has them', () => {
  const { client, owner } = readIssueLimits(new OptionsReader({}, ''), 'issuing')
  expect([client, owner, usualSingleUses].map((limit) => limit?.seconds)).toEqual([60, 60, 60])
  expect(page).toContain(`tokens to one client: ${spaced(client?.attempts)} a minute`)
  expect(page).toContain(`tokens for one resource owner at one client: ${spaced(owner?.attempts)} a minute`)
  expect(page).toContain(`single uses of one client: ${spaced(usualSingleUses.attempts)} a minute`)
})

const spaced = (number = 0) => String(number).replace(/(?=(?:\d{3})+$)(?!^)/g, ' ')
