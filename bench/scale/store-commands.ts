import { encodeAuthorization, type Authorization } from 'express-authorization-server'
import { redisStore } from 'express-authorization-server/redis'
import type { Redis } from 'ioredis'
import { keyOf, secondsOf } from './record'

// Milliseconds. Redis takes no deadline that is further ahead than the mark of a removal lasts.
const patience = 100_000

/** A command as the suite's own store sends it, and the answer that Redis gave. */
export interface StoreCommand {
  readonly name: (typeof names)[number]
  readonly words: readonly string[]
  readonly reply: string
}

/** What creating, changing and reading an authorization sends: recorded while the store does it with this one. */
export async function storeCommands(
  redis: Redis,
  { authorization, revisions }: { authorization: Authorization; revisions: readonly [string, string] },
): Promise<readonly StoreCommand[]> {
  const sent: StoreCommand[] = []
  const store = redisStore({
    client: {
      async call(command, ...words) {
        const reply = await redis.call(command, ...words)
        const name = nameOf(command, words)
        if (name !== undefined) sent.push({ name, words: [command, ...words], reply: textOf(reply) })
        return reply
      },
    },
  })
  const [first, second] = revisions
  // Twice, since the first one may have to bring the script.
  const key = keyOf(authorization)
  const write = (version: string, expected?: string) =>
    store.write(key, encodeAuthorization(authorization), {
      version,
      expected,
      seconds: secondsOf(authorization),
    })
  for (let time = 0; time < 2; time++) await write(first)
  for (let time = 0; time < 2; time++) await write(second, first)
  await store.read(key)
  return names.map((name) => {
    const command = sent.findLast((one) => one.name === name)
    if (command === undefined) throw new Error(`The store has not sent ${name}.`)
    return name === 'create' ? withTime(command) : command
  })
}

const names = ['create', 'change', 'read'] as const

// After the digest of the script, the number of keys, the key and the version; the deadline comes next.
const modeAt = 4

function nameOf(command: string, words: readonly string[]): StoreCommand['name'] | undefined {
  if (command === 'GET') return 'read'
  if (command !== 'EVALSHA') return undefined
  return words[modeAt] === 'create' ? 'create' : 'change'
}

/** A create ends with its deadline, which leaves no time to send it often. Redis answers it with its clock. */
function withTime({ name, words, reply }: StoreCommand): StoreCommand {
  const deadline = Number(reply.slice(1)) + patience
  return { name, words: words.with(modeAt + 2, String(deadline)), reply }
}

/** A reply as it goes over the wire. */
function textOf(reply: unknown): string {
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (reply === 'OK') return '+OK\r\n'
  return typeof reply === 'string' ? `$${Buffer.byteLength(reply)}\r\n${reply}\r\n` : '$-1\r\n'
}
