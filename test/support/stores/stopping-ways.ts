import { CommandReader } from '../command-reader'
import type { RedisCluster } from '../redis-cluster'
import { type Between, startRedisProxy } from './redis-proxy'

/** A point of a command about one authorization: it has not reached Redis, or its reply has not reached the process. */
export interface Point {
  /** A read of the record, the entry in the record of its owner, or a write of the record. */
  readonly command: 'read' | 'entry' | 'record'
  readonly before: 'arrival' | 'reply'
}

export async function startStoppingWays({ nodes }: RedisCluster) {
  let awaited: (Point & { readonly stopped: () => void }) | undefined
  let late: (readonly string[])[] = []
  let held: (() => void)[] = []
  const between = (): Between => {
    const reader = new CommandReader()
    let isReplyAwaited = false
    let isStopped = false
    const holds = (pass: () => void): boolean => {
      if (isStopped) held.push(pass)
      return isStopped
    }
    const stop = ({ stopped }: { readonly stopped: () => void }) => {
      awaited = undefined
      isReplyAwaited = false
      isStopped = true
      held.push(() => (isStopped = false))
      stopped()
    }
    return {
      holds(words, pass) {
        const commands = reader.commandsIn(words)
        if (awaited !== undefined && commands.some((command) => kindOf(command) === awaited?.command)) {
          if (awaited.before === 'reply') isReplyAwaited = true
          else {
            late.push(...commands)
            stop(awaited)
          }
        }
        return holds(pass)
      },
      replied(pass) {
        if (isReplyAwaited && awaited !== undefined) stop(awaited)
        if (!holds(pass)) pass()
      },
    }
  }
  const proxies = await Promise.all(nodes.map(({ port }) => startRedisProxy(port, between)))
  const cluster = proxies.map(({ url }) => ({ host: '127.0.0.1', port: Number(new URL(url).port) }))
  const ways = Object.fromEntries(
    nodes.flatMap(({ host, port }, index) => {
      const way = cluster[index]
      return way === undefined ? [] : [[`${host}:${port}`, way]]
    }),
  )
  return {
    /** How the process reaches the cluster. */
    plan: { cluster, ways },
    /** Stops the next command at this point, and all that follows on its connection. */
    stopAt: (point: Point, stopped: () => void) => void (awaited = { ...point, stopped }),
    /** Takes the commands that were stopped and have not reached Redis. */
    takeLate() {
      const taken = late
      late = []
      return taken
    },
    /** Lets go on what was stopped, and stops nothing more. */
    release() {
      awaited = undefined
      late = []
      const passes = held
      held = []
      for (const pass of passes) pass()
    },
    stop: async () => void (await Promise.all(proxies.map((proxy) => proxy.stop()))),
  }
}

/** The ways of a process to the nodes of a cluster, on which the first command to come to a point stops. */
export type StoppingWays = Awaited<ReturnType<typeof startStoppingWays>>

function kindOf([name = '', ...words]: readonly string[]): Point['command'] | undefined {
  const isScript = /^eval(?:sha)?$/i.test(name)
  if (isScript && words.some((word) => word.includes(':owner:'))) return 'entry'
  if (!words.some((word) => word.includes(':authorization:'))) return undefined
  return isScript ? 'record' : 'read'
}
