import { unknownClient } from '../clients/change-client'
import { ConfigurationError } from '../primitives/configuration-error'
import { redisStore, type RedisStore } from '../stores/redis/redis-store'
import { type Command, inFlags, type Order } from './command'
import type { Flags } from './flags'
import { failed, type Fields, lineOf, printable, type Result, shown } from './output'

/** Holds no digest. */
export interface Answer {
  readonly found: Fields | readonly Fields[]
  /** For people. */
  readonly note?: string | undefined
  readonly ifEmpty?: string
  readonly trouble?: unknown
}

type Act = (store: RedisStore, order: Order) => Promise<Answer>

export function onStore(act: Act): Command['run'] {
  return async (order): Promise<Result> => {
    const { flags, values, environment } = order
    const { redis: url = environment['REDIS_URL'] ?? '', prefix = 'oauth:', json = false } = values
    const { hostname, port } = new URL(url)
    const server = `Redis at ${hostname}:${port || '6379'}`
    const place = `The command looked in ${server} under the prefix ${prefix}. If the redisStore() of your server has another prefix, name it with --prefix.`
    const store = redisStore({ url, prefix })
    try {
      const { found, note = '', ifEmpty, trouble } = await act(store, order).finally(() => store.close())
      const output = shown(found, json, ifEmpty)
      if (trouble !== undefined) return failed(1, [...reasonsOf(trouble, server, flags), note], output)
      const isEmpty = Array.isArray(found) && found.length === 0
      return { status: 0, output, remarks: printable(isEmpty ? place : note) }
    } catch (error) {
      const isUnknown = error instanceof ConfigurationError && error.issues.includes(unknownClient)
      return failed(1, [...reasonsOf(error, server, flags), ...(isUnknown ? [place] : [])])
    }
  }
}

// Messages of ioredis and Node without a connection, or after a timeout.
const unreachable = /max retries per request|connection is closed|timed out|connect|ENOTFOUND|EAI_AGAIN/i

function reasonsOf(error: unknown, server: string, flags: Flags): readonly string[] {
  if (error instanceof ConfigurationError) {
    const [subject = ''] = error.message.split('\n', 1)
    return [subject, ...error.issues.map((issue) => lineOf(inFlags(issue, flags)))]
  }
  if (!(error instanceof Error)) return [`${server}: an unknown error occurred.`]
  // Only the error code: the rest of Redis's message may quote the command, and so a digest.
  if (error.name === 'ReplyError') return [`${server} refused: ${error.message.split(' ', 1)[0]}.`]
  if (!unreachable.test(error.message)) return [`${server}: ${error.message}`]
  return [`${server} does not answer. Is it running, and is the URL right?`]
}
