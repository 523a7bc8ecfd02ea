import type { RedisCommands } from '../../../lib/stores/redis/commands'

/** Mistakes that the connection of a store could have, planted into a client with the settings of a sound one. */
export const brokenConnections = {
  'creates that are never void': (client: RedisCommands): RedisCommands => ({
    call: (command, ...words) => client.call(command, ...withoutDeadline(words)),
  }),
  // A client of unknown make is not asked.
  'a server that is not asked whether it is the master': (client: RedisCommands): RedisCommands => ({
    call: (command, ...words) => client.call(command, ...words),
  }),
}

export type BrokenConnection = keyof typeof brokenConnections

const farAway = String(2 ** 52)

/** A create is a script on one key, with a revision, the record as JSON, its lifetime and the deadline. */
function withoutDeadline(words: readonly string[]): string[] {
  const [, keys, , , record] = words
  const isCreate = words.length === 7 && keys === '1' && record?.startsWith('[') === true
  return isCreate ? [...words.slice(0, -1), farAway] : [...words]
}
