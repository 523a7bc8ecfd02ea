import { unknownClient } from '../clients/registrations'
import { ConfigurationError } from '../primitives/configuration-error'
import { storeFrom, variable } from '../stores/from/store-from'
import type { Store } from '../store/store'
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

type Act = (store: Store, order: Order) => Promise<Answer>

export function onStore(act: Act): Command['run'] {
  return async (order): Promise<Result> => {
    const { flags, values, environment } = order
    const { store: url = environment[variable] ?? '', json = false } = values
    let place = 'The store'
    try {
      const store = storeFrom({ [variable]: url })
      place = store.place ?? place
      const { found, note = '', ifEmpty, trouble } = await act(store, order).finally(() => store.close?.())
      const output = shown(found, json, ifEmpty)
      if (trouble !== undefined) return failed(1, [...reasonsOf(trouble, place, flags), note], output)
      const isEmpty = Array.isArray(found) && found.length === 0
      return { status: 0, output, remarks: printable(isEmpty ? lookedIn(place) : note) }
    } catch (error) {
      const isUnknown = error instanceof ConfigurationError && error.issues.includes(unknownClient)
      return failed(1, [...reasonsOf(error, place, flags), ...(isUnknown ? [lookedIn(place)] : [])])
    }
  }
}

const lookedIn = (place: string) =>
  `The command looked in ${place}. If the store of your server has a prefix, a schema or a table, name it in the URL, as in ?prefix=shop:.`

// Messages of ioredis and Node without a connection, or after a timeout.
const unreachable = /max retries per request|connection is closed|timed out|connect|ENOTFOUND|EAI_AGAIN/i

function reasonsOf(error: unknown, place: string, flags: Flags): readonly string[] {
  if (error instanceof ConfigurationError) {
    const [subject = ''] = error.message.split('\n', 1)
    return [subject, ...error.issues.map((issue) => lineOf(inFlags(issue, flags)))]
  }
  if (!(error instanceof Error)) return [`${place}: an unknown error occurred.`]
  // Only the error code: the rest of Redis's message may quote the command, and so a digest.
  if (error.name === 'ReplyError') return [`${place} refused: ${error.message.split(' ', 1)[0]}.`]
  if (!unreachable.test(error.message)) return [`${place}: ${error.message}`]
  return [`${place} does not answer. Is it running, and is the URL right?`]
}
