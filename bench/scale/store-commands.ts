import { redisStore, type Authorization } from 'express-authorization-server'
import type { Redis } from 'ioredis'

/** A command as the suite's own store sends it, and the answer that Redis gave. */
export interface StoreCommand {
  readonly name: 'SET' | 'EVALSHA' | 'GET'
  readonly words: readonly string[]
  readonly reply: string
}

/** What beginning, changing and reading an authorization sends: recorded while the store does it with this one. */
export async function storeCommands(
  redis: Redis,
  { authorization, revisions }: { authorization: Authorization; revisions: readonly [string, string] },
): Promise<readonly StoreCommand[]> {
  const sent: StoreCommand[] = []
  const store = redisStore({
    client: {
      async call(command, ...words) {
        const reply = await redis.call(command, ...words)
        const name = names.find((known) => known === command)
        if (name !== undefined) sent.push({ name, words: [command, ...words], reply: textOf(reply) })
        return reply
      },
    },
  })
  const [first, second] = revisions
  await store.save(authorization, first)
  // Twice, since the first one may have to bring the script.
  await store.save(authorization, second, first)
  await store.save(authorization, second, first)
  await store.find(authorization.id)
  return names.map((name) => {
    const command = sent.findLast((one) => one.name === name)
    if (command === undefined) throw new Error(`The store has not sent ${name}.`)
    return command
  })
}

const names = ['SET', 'EVALSHA', 'GET'] as const

/** A reply as it goes over the wire. */
function textOf(reply: unknown): string {
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (reply === 'OK') return '+OK\r\n'
  return typeof reply === 'string' ? `$${Buffer.byteLength(reply)}\r\n${reply}\r\n` : '$-1\r\n'
}
