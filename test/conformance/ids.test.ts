import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const requirements = readFileSync(join(__dirname, '../../docs/requirements.md'), 'utf8')
const required = [...requirements.matchAll(/^\| ([A-Z]{3}-\d+) /gm)].map(([, id]) => id)

const named = readdirSync(__dirname)
  .filter((file) => file.endsWith('.test.ts'))
  .flatMap((file) => {
    const source = readFileSync(join(__dirname, file), 'utf8')
    return [...source.matchAll(/['"`]\[([^\]'"`]*)\] /g)].map(([, id]) => ({ file, id }))
  })

test('each requirement stands in the list once', () => {
  expect(required.length).toBeGreaterThan(0)
  expect(required).toEqual([...new Set(required)])
})

test('each title names a requirement that the list has', () => {
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter(({ id }) => !required.includes(id))).toEqual([])
})
