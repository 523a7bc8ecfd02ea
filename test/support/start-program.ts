import { spawn } from 'node:child_process'
import { bundled } from './bundled'
import { outputOf } from './program-output'

/**
 * Starts a module as a program, which gets its plan as its only argument.
 *
 * @param environment variables beside those of the tests.
 */
export async function startProgram(
  module: string,
  plan: object,
  node = process.execPath,
  environment: NodeJS.ProcessEnv = {},
) {
  const words = ['--expose-gc', bundled(module, 'bundled'), JSON.stringify(plan)]
  const env = { ...process.env, ...environment }
  const child = spawn(node, words, { env, stdio: ['pipe', 'pipe', 'pipe'] })
  const output = outputOf(child, 'The program')
  const [, port] = await output.until(/^port (\d+)$/m)
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    /** Whether it lives, as far as is known. */
    isAlive: () => child.exitCode === null && child.signalCode === null,
    /** All that it wrote, such as why it crashed. */
    output: output.text,
    /** Kills it in the middle of whatever it does. */
    kill: async () => {
      child.kill('SIGKILL')
      await output.ended()
    },
    /** Resolves to its exit code, or to the signal that ended it. */
    terminate: async () => {
      child.kill('SIGTERM')
      await output.ended()
      return child.exitCode ?? child.signalCode
    },
  }
}

/** A program of the tests in a process of its own, which listens at a port that it has printed. */
export type RunningProgram = Awaited<ReturnType<typeof startProgram>>
