import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rules } from '../../../lib/command-line/lint/lint'

const page = readFileSync(join(__dirname, '../../../docs/lint.md'), 'utf8')

test('the page of lint has every rule as it is in the code, in its order, and no other', () => {
  const table = page.slice(page.indexOf('\n## Rules'))
  const rows = Array.from(table.matchAll(/^\| `.*\|$/gm), ([row]) =>
    row.split('|').map((cell) => cell.trim()),
  )
  expect(rows).toEqual(
    rules.map(({ id, severity, why, cure, source }) => ['', `\`${id}\``, severity, why, cure, source, '']),
  )
})
