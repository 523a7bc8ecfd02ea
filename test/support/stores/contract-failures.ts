import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(__dirname, '../../..')
const suite = join(__dirname, 'broken-stores-contract.ts')

interface Result {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
    }[]
  }[]
}

/** Runs the contract over every broken store, in a Jest of its own: the rules that each store breaks, under its name. */
export function contractFailures(): ReadonlyMap<string, readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'broken-stores-'))
  const outputFile = join(directory, 'result.json')
  const choice = ['--selectProjects', 'express 5', '--testMatch', suite]
  const words = [require.resolve('jest/bin/jest'), ...choice, '--json', '--outputFile', outputFile]
  try {
    spawnSync(process.execPath, words, { cwd: root })
    return failuresIn(JSON.parse(readFileSync(outputFile, 'utf8')))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function failuresIn({ testResults }: Result): ReadonlyMap<string, readonly string[]> {
  const failures = new Map<string, string[]>()
  for (const { ancestorTitles, title, status } of testResults.flatMap((file) => file.assertionResults)) {
    const [store = ''] = ancestorTitles
    const broken = failures.get(store) ?? []
    failures.set(store, status === 'failed' ? [...broken, title] : broken)
  }
  return failures
}
