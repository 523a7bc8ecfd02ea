import { createId, secureRandom } from '../protocol/credential'
import type { RedisCommands } from './redis-commands'
import type { ListeningConnection } from './redis-connection'

/** Where Redis tells clients of RESP2 which keys have changed. */
const channel = '__redis__:invalidate'
// Milliseconds after which a mark that nobody needs any more is gone.
const lifetime = '1000'

/** What a connection is told of: authorizations, and marks that are its own. */
export interface Tracked {
  /** The id of the authorization under this key; undefined when it is a mark. */
  idOf(key: string): string | undefined
  /** The key of a mark that was never written before: one that expires late must not pass for a later one. */
  nextMark(): string
}

/**
 * Has Redis tell a new connection of changes (`CLIENT TRACKING`). It is broadcast: Redis then remembers no keys, which
 * unknown tokens could fill its memory with, and reads may go over any other connection.
 */
export async function track(connection: ListeningConnection, prefix: string): Promise<Tracked> {
  const authorizations = `${prefix}authorization:`
  const marks = `${prefix}alive:${createId(secureRandom)}:`
  // A replica refuses it: it would tell of changes late, and of some never.
  await writeMark(connection, marks)
  const id = String(await connection.call('CLIENT', 'ID'))
  const prefixes = ['PREFIX', authorizations, 'PREFIX', marks]
  // RESP2 has no word for it, so the connection names itself as the one whose subscription it comes through.
  await connection.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id, 'BCAST', ...prefixes)
  await connection.subscribe(channel)
  let written = 0
  return {
    idOf: (key) => (key.startsWith(authorizations) ? key.slice(authorizations.length) : undefined),
    nextMark: () => `${marks}${(written += 1)}`,
  }
}

/** Writes a mark, which vanishes by itself. */
export async function writeMark(client: RedisCommands, key: string): Promise<void> {
  await client.call('SET', key, '', 'PX', lifetime)
}
