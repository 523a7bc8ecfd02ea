import { ConfigurationError, type Mistake } from '../protocol/configuration'
import { redisStore } from '../stores/redis-store'
import type { Answer } from './commands'
import type { Option } from './options'
import { jsonText, printable, tableText } from './output'
import { usage } from './usage'
import { readWords } from './words'

/** What the process leaves behind. */
export interface Result {
  /** 0 done, 1 refused or failed, 2 wrong usage. */
  readonly status: 0 | 1 | 2
  readonly output: string
  /** For people: notes and what went wrong. Never a credential. */
  readonly remarks: string
}

/** Carries out a command line, given the words behind the program's name. */
export async function run(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<Result> {
  const asked = readWords(words, environment)
  if (asked.kind === 'help') return { status: 0, output: usage(), remarks: '' }
  if (asked.kind === 'mistakes')
    return failed(2, ['This cannot be understood:', ...asked.mistakes.map(lineOf), 'See --help.'])
  const { command, order, redis, prefix, json } = asked
  try {
    const answer = await withClients(redis, prefix, (clients) => command.run(clients, order))
    return done(answer, json)
  } catch (error) {
    return failed(1, reasonsOf(error, redis, command.options))
  }
}

async function withClients(
  url: string,
  prefix: string,
  act: (clients: ReturnType<typeof redisStore>['clients']) => Promise<Answer>,
): Promise<Answer> {
  const store = redisStore({ url, prefix })
  try {
    return await act(store.clients)
  } finally {
    await store.close()
  }
}

function done({ found, note }: Answer, json: boolean): Result {
  return { status: 0, output: json ? jsonText(found) : tableText(found), remarks: note ?? '' }
}

function failed(status: 1 | 2, lines: readonly string[]): Result {
  return { status, output: '', remarks: lines.map(printable).join('\n') }
}

type Options = Readonly<Record<string, Option>>

function reasonsOf(error: unknown, redis: string, options: Options): readonly string[] {
  if (error instanceof ConfigurationError)
    return [
      error.message.split('\n', 1)[0] ?? '',
      ...error.mistakes.map((mistake) => lineOf({ ...mistake, path: optionOf(mistake.path, options) })),
    ]
  const { hostname, port } = new URL(redis)
  const server = `Redis at ${hostname}:${port || '6379'}`
  if (!(error instanceof Error)) return [`${server}: something unknown went wrong.`]
  // No more of a reply than its code: the rest may quote the command, and so a digest.
  if (error.name === 'ReplyError') return [`${server} refused: ${error.message.split(' ', 1)[0]}.`]
  if (unreachable.test(error.message))
    return [`${server} does not answer. Is it running, and is the URL right?`]
  return [`${server}: ${error.message}`]
}

// What ioredis says when there is no connection, or not soon enough.
const unreachable = /max retries per request|connection is closed|timed out|connect|ENOTFOUND|EAI_AGAIN/i

const lineOf = ({ path, problem }: Mistake): string => `  - ${path} ${problem}`

// A mistake in a registration names its field, which came as an option.
function optionOf(path: string, options: Options): string {
  const field = path.replace(/\[\d+\]$/, '')
  const [name] = Object.entries(options).find(([, option]) => option.field === field) ?? []
  return name === undefined ? path : `--${name}`
}
