import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const parts = ['lib', 'test', 'docs', 'package.json', 'tsconfig.json', 'jest.config.ts', 'README.md']

/** A copy of the project in which the code may be broken. */
export class Copy {
  private constructor(private readonly root: string) {}

  static of(project: string): Copy {
    const root = mkdtempSync(join(tmpdir(), 'mutations-'))
    for (const part of parts) cpSync(join(project, part), join(root, part), { recursive: true })
    symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'))
    return new Copy(root)
  }

  remove(): void {
    rmSync(this.root, { recursive: true })
  }

  /** Replaces a text that stands in a file exactly once; returns what undoes it, or undefined where it does not. */
  mutate(file: string, text: string, replacement: string): (() => void) | undefined {
    const path = join(this.root, file)
    const source = readFileSync(path, 'utf8')
    const [before, after, more] = source.split(text)
    if (before === undefined || after === undefined || more !== undefined) return undefined
    writeFileSync(path, before + replacement + after)
    return () => writeFileSync(path, source)
  }

  /** `red` where a test fails, of those under the id if there is one, `green` where all pass, else why nothing can be said. */
  async outcomeOf(files: readonly string[], id?: string): Promise<string> {
    const named = id === undefined ? [] : ['-t', `\\[(?:[^\\]]*, )?${id}[,\\]]`]
    // Broken code may leave something open, which would keep the process for ever.
    const quietly = ['--json', '--silent', '--ci', '--forceExit']
    const words = [...files, '--selectProjects', 'express 5', ...named, ...quietly]
    const jest = join(this.root, 'node_modules/jest/bin/jest.js')
    const child = spawn(process.execPath, [jest, ...words], { cwd: this.root })
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    child.stderr.resume()
    await once(child, 'close')
    const [line = '{}'] = /^\{.*\}$/m.exec(printed) ?? []
    const { numFailedTests = 0, numPassedTests = 0 } = JSON.parse(line)
    if (numFailedTests > 0) return 'red'
    return numPassedTests > 0 ? 'green' : 'no test ran'
  }
}
