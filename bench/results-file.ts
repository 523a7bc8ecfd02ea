import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Extras, Results } from './report'

/** Everything that a whole run found out. */
export interface Run {
  readonly results: readonly Results[]
  readonly extras: Extras
}

const place = join(__dirname, 'built', 'results.json')

/** Keeps a run, so that `npm run bench -- --from FILE` can print its tables and draw its plot again. Returns the file. */
export function keepRun(run: Run): string {
  writeFileSync(
    place,
    JSON.stringify(run, (_key, value: unknown) => (value instanceof Map ? { map: [...value] } : value)),
  )
  return place
}

export function readRun(file: string): Run {
  return JSON.parse(readFileSync(file, 'utf8'), (_key, value) =>
    typeof value === 'object' && Array.isArray(value?.map) ? new Map(value.map) : value,
  )
}
