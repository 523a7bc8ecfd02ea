import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isRecord } from '../protocol/configuration'

/** What a file of configuration holds, unproven. */
export interface Configuration {
  readonly options: unknown
  /** JSON: it cannot hold a store, nor any function. */
  readonly plain: boolean
}

/** Loads options from a module or from JSON. What the module does when it is loaded, it does. */
export async function loadConfiguration(file: string): Promise<Configuration> {
  const path = resolve(file)
  if (path.endsWith('.json')) {
    const options: unknown = JSON.parse(await readFile(path, 'utf8'))
    return { options: isRecord(options) ? { resourceOwner: nobody, ...options } : options, plain: true }
  }
  const module: unknown = await import(pathToFileURL(path).href)
  const found = exported(module)
  return { options: typeof found === 'function' ? await found() : found, plain: false }
}

const nobody = () => undefined

// A CommonJS module is the default of what import() finds, and may have a default of its own in there.
function exported(value: unknown, depth = 0): unknown {
  if (!isRecord(value) || depth > 2) return value
  const inner = value['options'] ?? value['default']
  return inner === undefined ? value : exported(inner, depth + 1)
}
