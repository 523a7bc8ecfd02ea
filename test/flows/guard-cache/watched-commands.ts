import type { Redis } from 'ioredis'
import { waitUntil } from '../../support/wait-until'

export interface WatchedCommands {
  /**
   * What this answered, and the commands that the server saw meanwhile. What scripts do inside does not count, nor does
   * HELLO, by which a connection asks at most once a second, along with other commands, whether its server is a master.
   */
  during<Answer>(act: () => Promise<Answer>): Promise<{ answer: Answer; sent: readonly string[] }>
  stop(): void
}

/** Watches a server without other clients, by MONITOR. */
export async function watchCommands(redis: Redis): Promise<WatchedCommands> {
  const monitor = await redis.monitor()
  let seen: string[][] = []
  monitor.on('monitor', (_time: string, words: string[], source: string) => {
    if (source !== 'lua') seen.push(words)
  })
  // The server tells in order: what came before the mark has been told when the mark is.
  const untilNow = async (): Promise<readonly string[]> => {
    const mark = `mark ${Math.random()}`
    await redis.echo(mark)
    await waitUntil('the mark is seen', async () => seen.some((words) => words[1] === mark))
    const commands = seen.map(([name = '']) => name.toUpperCase())
    seen = []
    return commands.slice(0, commands.lastIndexOf('ECHO')).filter((name) => name !== 'HELLO')
  }
  return {
    during: async (act) => {
      await untilNow()
      const answer = await act()
      return { answer, sent: await untilNow() }
    },
    stop: () => monitor.disconnect(),
  }
}
