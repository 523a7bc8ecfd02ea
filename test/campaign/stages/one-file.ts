import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireNode } from '../../support/nodes'
import type { StorePlan } from '../../support/store-plan'
import type { Stage } from './stage'

// Node 20, which runs the campaign, has no SQLite.
const opening = `const { DatabaseSync } = require('node:sqlite')
const [, path, milliseconds] = process.argv
const database = new DatabaseSync(path, { timeout: 5000 })
`
const emptying = `${opening}
try { database.exec('begin immediate; delete from records; delete from counts; commit') } catch (error) {
  if (!error.message.includes('no such table')) throw error
}`
const locking = `${opening}database.exec('begin immediate')
console.log('locked')
setTimeout(() => database.exec('commit'), Number(milliseconds))`

/** A file of SQLite, which two processes have open. */
export class OneFile implements Stage {
  readonly ways = [[], []] as const
  private readonly folder = mkdtempSync(join(tmpdir(), 'sqlite-'))
  private runs = 0

  static async start(): Promise<OneFile> {
    return new OneFile()
  }

  private get path(): string {
    return join(this.folder, `${this.runs}.db`)
  }

  /** A file of its own for each run. */
  plansFor(): readonly [StorePlan, StorePlan] {
    this.runs += 1
    const plan = { sqlite: this.path }
    return [plan, plan]
  }

  async isWhole(): Promise<void> {}

  /** Another program deletes all rows. */
  async empty(): Promise<void> {
    this.run(emptying)
  }

  /** Another program keeps writers away for so many milliseconds. */
  async lock(milliseconds: number): Promise<void> {
    const child = spawn(requireNode(24), ['--no-warnings', '-e', locking, this.path, String(milliseconds)])
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  }

  async moveAway(): Promise<void> {
    renameSync(this.path, `${this.path}.away`)
  }

  async moveBack(): Promise<void> {
    renameSync(`${this.path}.away`, this.path)
  }

  async stop(): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true })
  }

  private run(program: string): void {
    execFileSync(requireNode(24), ['--no-warnings', '-e', program, this.path])
  }
}
