import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundled } from '../../support/bundled'
import { extent } from '../../support/extent'

const root = join(__dirname, '../../..')
const records = extent(6000, 20_000)

// Counts and bytes only: pauses are what `npm run test:memory` measures, on a machine that does nothing else.
test('a full memory store stays within its bound, lets what expired go, and does not grow with traffic', async () => {
  const words = ['--expose-gc', bundled(join(__dirname, 'memory-store.ts')), String(records), '2']
  const { RELIABILITY_REPORT: _theirs, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root, env })
  const seen = JSON.parse(stdout)
  expect(seen).toMatchObject({
    refusedWhenFull: 100,
    replacedAfterExpiry: Math.ceil(records / 3),
    tokensBesideWaiting: true,
  })
  expect(seen.bytesPerRecord).toBeLessThan(2500)
  expect(seen.bytesAfterExpiry).toBeLessThan((seen.bytesPerRecord * seen.records) / 2)
  // Half an hour of records that stay would be some 9 MB; Node's own come and go by less.
  expect(seen.hour.bytesAtEnd).toBeLessThan(seen.hour.bytesAtHalf + 4e6)
})
