import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireProgram, redisProgram } from './program'
import { isPortTaken, outputOf } from './program-output'
import { watch } from './watchdog'

export interface RedisProcess {
  port: number
  /** Where it runs; gone when it has stopped. */
  directory: string
  kill(signal: NodeJS.Signals): Promise<void>
  stop(): Promise<void>
}

export interface RedisProcessPlan {
  port?: number | undefined
  configuration?: string
  extraArguments: readonly string[]
  readyWhen: RegExp
}

export async function startRedisProcess(plan: RedisProcessPlan): Promise<RedisProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startAt(plan.port ?? anyPort(), plan)
    } catch (error) {
      if (!isPortTaken(error) || plan.port !== undefined || attempt === 20) throw error
    }
  }
}

// Below the range from which systems take ports for outgoing connections, and so is the port of a cluster's bus,
// which is 10000 higher.
function anyPort(): number {
  return randomInt(11_000, 22_000)
}

async function startAt(port: number, plan: RedisProcessPlan): Promise<RedisProcess> {
  const program = requireProgram(redisProgram)
  const directory = mkdtempSync(join(tmpdir(), 'redis-'))
  const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const words = [...fixed, ...plan.extraArguments]
  if (plan.configuration !== undefined) {
    writeFileSync(join(directory, 'redis.conf'), plan.configuration)
    words.unshift('redis.conf')
  }
  // Piped, never inherited: a process left behind would keep the pipe of whoever reads our output open.
  const child = spawn(program, words, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
  const watchdog = child.pid === undefined ? undefined : watch(child.pid, directory)
  const output = outputOf(child, 'The Redis server')
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    child.ref()
    child.kill(signal)
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await output.ended()
  }
  const stop = async (): Promise<void> => {
    // Nothing is to be saved, and a paused process takes no other signal.
    await kill('SIGKILL')
    watchdog?.dismiss()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await output.until(plan.readyWhen)
  } catch (error) {
    await stop()
    throw error
  }
  // A test that forgets to stop it must not keep its worker from exiting.
  child.unref()
  for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref()
  return { port, directory, kill, stop }
}
