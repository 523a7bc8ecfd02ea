import { ConfigurationError } from '../primitives/options-reader'
import { unknownClient } from '../clients/change-registration'
import { redisStore } from '../stores/redis/redis-store'
import type { CommandAnswer } from './command'
import { runLint } from './lint-command'
import type { Option } from './command-options'
import { failed, jsonText, lineOf, misunderstood, printable, type Result, tableText } from './result'
import { usage } from './usage'
import { readWords } from './words'

export async function run(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<Result> {
  const [subject, ...rest] = words
  if (subject === 'lint') return runLint(rest)
  const asked = readWords(words, environment)
  if (asked.kind === 'help') return { status: 0, output: usage(), remarks: '' }
  if (asked.kind === 'mistakes') return misunderstood(asked.issues)
  const { command, order, redis, prefix, json } = asked
  try {
    const answer = await withStore(redis, prefix, (store) => command.run(store, order))
    const noted = isEmpty(answer) ? { ...answer, note: placeNote(redis, prefix) } : answer
    return done(noted, json, (trouble) => reasonsOf(trouble, redis, command.options))
  } catch (error) {
    const note = isUnknownClient(error) ? [placeNote(redis, prefix)] : []
    return failed(1, [...reasonsOf(error, redis, command.options), ...note])
  }
}

const isEmpty = ({ found }: CommandAnswer): boolean => Array.isArray(found) && found.length === 0

const isUnknownClient = (error: unknown): boolean =>
  error instanceof ConfigurationError && error.issues.includes(unknownClient)

/** A store with another prefix has other clients. */
const placeNote = (redis: string, prefix: string): string =>
  `The command looked in ${nameOf(redis)} under the prefix ${prefix}. If the redisStore() of your server has another prefix, name it with --prefix.`

function nameOf(redis: string): string {
  const { hostname, port } = new URL(redis)
  return `Redis at ${hostname}:${port || '6379'}`
}

async function withStore(
  url: string,
  prefix: string,
  act: (store: ReturnType<typeof redisStore>) => Promise<CommandAnswer>,
): Promise<CommandAnswer> {
  const store = redisStore({ url, prefix })
  try {
    return await act(store)
  } finally {
    await store.close()
  }
}

function done(
  { found, note = '', ifEmpty, trouble }: CommandAnswer,
  json: boolean,
  reasonsOfTrouble: (trouble: unknown) => readonly string[],
): Result {
  const output = json ? jsonText(found) : tableText(found, ifEmpty)
  if (trouble === undefined) return { status: 0, output, remarks: printable(note) }
  return { ...failed(1, [...reasonsOfTrouble(trouble), note]), output }
}

type Options = Readonly<Record<string, Option>>

function reasonsOf(error: unknown, redis: string, options: Options): readonly string[] {
  if (error instanceof ConfigurationError)
    return [
      error.message.split('\n', 1)[0] ?? '',
      ...error.issues.map((mistake) => lineOf({ ...mistake, path: optionOf(mistake.path, options) })),
    ]
  const server = nameOf(redis)
  if (!(error instanceof Error)) return [`${server}: an unknown error occurred.`]
  // Only the error code: the rest of Redis's message may quote the command, and so a digest.
  if (error.name === 'ReplyError') return [`${server} refused: ${error.message.split(' ', 1)[0]}.`]
  if (unreachable.test(error.message))
    return [`${server} does not answer. Is it running, and is the URL right?`]
  return [`${server}: ${error.message}`]
}

// Messages of ioredis and Node without a connection, or after a timeout.
const unreachable = /max retries per request|connection is closed|timed out|connect|ENOTFOUND|EAI_AGAIN/i

// The user knows the option that set the field.
function optionOf(path: string, options: Options): string {
  const field = path.replace(/\[\d+\]$/, '')
  const [name] = Object.entries(options).find(([, option]) => option.field === field) ?? []
  return name === undefined ? path : `--${name}`
}
