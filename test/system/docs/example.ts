import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundled } from '../../support/bundled'
import { freePort } from '../../support/mcp/free-port'

export const root = join(__dirname, '../../..')
export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Runs a program of the documents in a process of its own, which tells its parent the port at which it listens. */
export function runExample(
  file: string,
  environment: Readonly<Record<string, string>>,
  cwd = root,
  execPath = process.execPath,
): ChildProcess {
  return fork(bundled(join(root, 'docs/examples', file)), {
    cwd,
    execPath,
    env: { ...process.env, ...environment },
    execArgv: ['-r', join(root, 'test/support/tell-port.js')],
    silent: true,
  })
}

/** A program that serves at an issuer of its own. */
export interface Served {
  readonly issuer: string
  readonly stop: () => Promise<void>
}

/** Serves a program of the documents, until the end of the test or of all tests of the file. */
export async function serveExample(
  file: string,
  environment: Readonly<Record<string, string>> = {},
  cwd?: string,
  node?: string,
): Promise<Served> {
  const port = String(await freePort())
  const issuer = `http://localhost:${port}`
  const child = runExample(file, { ISSUER: issuer, PORT: port, ...environment }, cwd, node)
  await once(child, 'message')
  return {
    issuer,
    stop: async () => {
      child.kill()
      await once(child, 'exit')
    },
  }
}
