import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bundled } from './bundled'
import { within } from './wait-until'

export interface Finished {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

const main = join(__dirname, '../../lib/command-line/main.ts')

/** Runs the command in a process of its own. */
export async function commandLine(
  words: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const { STORE_URL: _ours, ...inherited } = process.env
  const child = spawn(process.execPath, [bundled(main), ...words], {
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = [child.stdout, child.stderr].map(async (stream) => {
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    return text
  })
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  const status = await within(`the command ${words.join(' ')} has ended`, closed)
  return { status, stdout: (await stdout) ?? '', stderr: (await stderr) ?? '' }
}
