import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundled } from '../../support/bundled'
import { within } from '../../support/wait-until'

export interface DemoProcess {
  /** What it prints once it has started. */
  readonly printed: string
  /** Ends it as Ctrl+C does. */
  interrupt(): Promise<DemoEnd>
}

export interface DemoEnd {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const root = join(__dirname, '../../..')

/** The words with which `npm run demo` starts it. */
export const asWritten: readonly string[] = ['-r', 'esbuild-register', 'demo/start.ts']

/** Runs the demo until it has printed everything. @param words how Node is called. Default: with the demo as one file. */
export async function startDemoProcess(
  environment: Record<string, string>,
  words?: readonly string[],
  node?: string,
): Promise<DemoProcess> {
  const { child, end, output } = spawnDemo(environment, words, node)
  const started = new Promise<void>((resolve) => {
    child.stdout.on('data', () => output.stdout.includes('Ctrl+C') && resolve())
  })
  await within('the demo has started', Promise.race([started, end]), () => output.stdout + output.stderr)
  if (child.exitCode !== null) throw new Error(`The demo did not start: ${output.stderr}`)
  return {
    printed: output.stdout,
    interrupt: () => {
      child.kill('SIGINT')
      return within('the demo has ended', end, () => output.stdout + output.stderr)
    },
  }
}

/** Runs a demo that is expected to end by itself. */
export function runDemoProcess(environment: Record<string, string>): Promise<DemoEnd> {
  const { end, output } = spawnDemo(environment)
  return within('the demo has ended', end, () => output.stdout + output.stderr)
}

function spawnDemo(
  environment: Record<string, string>,
  words: readonly string[] = [bundled(join(root, 'demo/start.ts'))],
  node = process.execPath,
) {
  const { STORE_URL: _theirs, PORT: _port, NODE_ENV: _test, ...inherited } = process.env
  const child = spawn(node, words, {
    cwd: root,
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  const end = once(child, 'close').then((): DemoEnd => ({ code: child.exitCode, ...output }))
  return { child, end, output }
}
