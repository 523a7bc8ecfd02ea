import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative, sep } from 'node:path'
import { transformSync } from 'esbuild'
import { instrument, journalName } from './instrument'
import { Journal } from './journal'

const lib = join(__dirname, '../../../lib') + sep

/** Instruments each file of the library as it is loaded; what is loaded already stays as it is. */
export function instrumentLibrary(): Journal {
  const journal = new Journal()
  Reflect.set(globalThis, journalName, journal)
  const { extensions } = createRequire(__filename)
  const load = extensions['.ts']
  extensions['.ts'] = (module, file) => {
    if (!file.startsWith(lib)) return load?.(module, file)
    const common = { target: 'node20', sourcefile: file } as const
    const { code: written } = transformSync(readFileSync(file, 'utf8'), { ...common, loader: 'ts' })
    // Instrumented before it becomes CommonJS: the accessors that esbuild writes for exports are no functions of the library.
    const { code } = transformSync(instrument(written, relative(lib, file)), {
      ...common,
      loader: 'js',
      format: 'cjs',
    })
    const compile: unknown = Reflect.get(module, '_compile')
    if (typeof compile !== 'function') throw new TypeError('This Node compiles modules in another way.')
    Reflect.apply(compile, module, [code, file])
  }
  return journal
}
