import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundled } from '../../support/bundled'

const root = join(__dirname, '../../..')

/** What Jest prints for a test file. */
function printedBy(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'jest-output-'))
  try {
    writeFileSync(join(folder, 'host.test.js'), source)
    const words = ['--rootDir', folder, '--config', '{"transform":{}}', '--no-cache', '--no-color', '-i']
    const jest = join(root, 'node_modules/jest/bin/jest.js')
    return spawnSync(process.execPath, [jest, ...words], { cwd: root, encoding: 'utf8' }).stderr
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('Jest prints what went wrong, and no comparison of undefined with undefined', () => {
  const printed = printedBy(`
    const { approve, expectRefused } = require(${JSON.stringify(bundled(join(root, 'lib/testing/index.ts')))})
    const answering = (response) => {
      const sent = Promise.resolve({ headers: {}, body: {}, ...response })
      for (const name of ['query', 'set', 'type', 'send']) sent[name] = () => sent
      return sent
    }
    const follow = (page, token) =>
      approve(
        { get: () => answering(page), post: () => answering(token) },
        { clientId: 'album', redirectUri: 'https://album.example/callback' },
      )
    test('no redirect', () => follow({ status: 404, text: 'Cannot GET /authorize' }))
    test('no field', () => follow({ status: 200, text: '<p>Log in' }))
    test('no refusal', () => expectRefused({ status: 200, headers: {} }, 'token_invalid'))
  `)
  expect(printed).toContain('The answer was 404: Cannot GET /authorize')
  expect(printed).toContain('must have view.fields')
  expect(printed).toContain('The request was not refused: the status is 200.')
  expect(printed).toContain('3 failed')
  expect(printed).not.toContain('undefined')
})
