import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { outcomeIn } from './outcome'
import { placeOf } from './place'

const parts = ['lib', 'test', 'demo', 'docs', 'package.json', 'tsconfig.json', 'jest.config.ts', 'README.md']

/** A copy of the project in which the code may be broken. */
export class Copy {
  private readonly sources: ReadonlyMap<string, string>

  private constructor(private readonly root: string) {
    this.sources = librarySources(root)
  }

  static of(project: string): Copy {
    const root = mkdtempSync(join(tmpdir(), 'mutations-'))
    for (const part of parts) cpSync(join(project, part), join(root, part), { recursive: true })
    symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'))
    return new Copy(root)
  }

  remove(): void {
    rmSync(this.root, { recursive: true })
  }

  /** Breaks a declaration of lib/; returns what undoes it, or undefined where the text is not found. */
  mutate(declaration: string, text: string, replacement: string): (() => void) | undefined {
    const place = placeOf(this.sources, declaration, text)
    const source = place && this.sources.get(place.file)
    if (place === undefined || source === undefined) return undefined
    const path = join(this.root, place.file)
    writeFileSync(path, source.slice(0, place.start) + replacement + source.slice(place.end))
    return () => writeFileSync(path, source)
  }

  /** The outcome of the tests in these files; of those under the id, if there is one. */
  async outcomeOf(files: readonly string[], id?: string): Promise<string> {
    const named = id === undefined ? [] : ['-t', `\\[(?:[^\\]]*, )?${id}[,\\]]`]
    // Broken code may leave something open, which would keep the process for ever.
    const quietly = ['--json', '--silent', '--ci', '--forceExit']
    const words = [...files, ...named, ...quietly]
    const jest = join(this.root, 'node_modules/jest/bin/jest.js')
    const child = spawn(process.execPath, [jest, ...words], { cwd: this.root })
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    child.stderr.resume()
    await once(child, 'close')
    return outcomeIn(printed, this.root)
  }
}

/** The texts of lib/ by their paths from the root of a project. */
export function librarySources(root: string): ReadonlyMap<string, string> {
  const files = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  return new Map(
    files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [join('lib', file), readFileSync(join(root, 'lib', file), 'utf8')]),
  )
}
