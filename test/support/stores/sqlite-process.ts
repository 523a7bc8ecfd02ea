import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Store } from '../../../lib/index'
import { bundled } from '../bundled'
import { requireNode } from '../nodes'

export interface Call {
  readonly id: number
  readonly verb: string
  readonly words: readonly unknown[]
}

export interface Reply<Result = unknown> {
  readonly id: number
  readonly result: Result
  readonly failure?: string
}

export interface StoreProcess extends Store {
  advance(seconds: number): Promise<void>
  /** The thread that starts next ends as it starts. */
  crash(): Promise<void>
  turns(reads: number): Promise<number>
  /** Nothing keeps it alive then, but the store. */
  detach(): Promise<void>
  readonly pid: number | undefined
  kill(): Promise<void>
  /** Resolves to what it wrote, once it has ended. */
  ended(): Promise<string>
}

interface Surroundings {
  /** Of Node. Default 24. */
  readonly version?: 22 | 24
  /** Where packages are found. */
  readonly packages?: string
  /** Of Node. */
  readonly flags?: readonly string[]
  /** Words before the program: a command that runs it. */
  readonly within?: readonly string[]
}

/** A store in a process of its own. */
export function sqliteProcess(
  path: string,
  { version = 24, packages = '', flags = [], within = [] }: Surroundings = {},
): StoreProcess {
  const program = [requireNode(version), ...flags, bundled(join(__dirname, 'sqlite-program.ts')), path]
  const [command = '', ...options] = [...within, ...program]
  const env = { ...process.env, NODE_PATH: packages }
  const child = spawn(command, options, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const gone = once(child, 'close')
  const calls = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>()
  child.on('message', ({ id, result, failure }: Reply<never>) => {
    const call = calls.get(id)
    calls.delete(id)
    if (failure === undefined) call?.resolve(result)
    else call?.reject(new Error(failure))
  })
  void gone.then(() => {
    for (const { reject } of calls.values()) reject(new Error(`The process ended: ${output}`))
  })
  let count = 0
  const call =
    (verb: string) =>
    (...words: unknown[]): Promise<never> =>
      new Promise((resolve, reject) => {
        const id = count++
        calls.set(id, { resolve, reject })
        child.send({ id, verb, words } satisfies Call, (error) => error && reject(error))
      })
  return {
    read: call('read'),
    write: call('write'),
    remove: call('remove'),
    add: call('add'),
    list: call('list'),
    check: call('check'),
    close: call('close'),
    advance: call('advance'),
    crash: call('crash'),
    turns: call('turns'),
    detach: call('detach'),
    pid: child.pid,
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    async ended() {
      await gone
      return output
    },
  }
}

/** A command that runs a program in a namespace of mounts, after this command of the shell. */
export const mounted = (mounting: string): readonly string[] => [
  'unshare',
  '--user',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  `${mounting} && exec "$@"`,
  'sh',
]
