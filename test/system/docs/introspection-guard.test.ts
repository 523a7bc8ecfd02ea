import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIntrospectionGuard } from '../../../lib/index'

const page = readFileSync(join(__dirname, '../../../docs/introspection-guard.md'), 'utf8')
const ofEveryGuard = ['guards', 'implies', 'cors', 'errorUri', 'explainRefusals', 'closeDeadline', 'clock']

test('the page of guards by introspection has a row for every option, and names the others', () => {
  const make = () => Reflect.apply(createIntrospectionGuard, undefined, [{ unknown: 1 }])
  const [, known = ''] = /known names are ([\w, ]+)/.exec(thrownBy(make)) ?? []
  const rows = Array.from(page.matchAll(/^\| `(\w+)` /gm), ([, name = '']) => name)
  expect([...rows, ...ofEveryGuard].toSorted()).toEqual(known.split(', ').toSorted())
  for (const name of ofEveryGuard) expect(page).toContain(`\`${name}\``)
})

function thrownBy(make: () => unknown): string {
  try {
    make()
  } catch (error) {
    return String(error)
  }
  return ''
}
