import { version } from '../../package.json'
import type { ConfigurationIssue } from '../primitives/configuration-error'
import { clientCommands } from './clients'
import { type Command, mistakesIn, parsed, withIssuedLast } from './command'
import { keyCommands } from './keys'
import { lintCommand, rulesText } from './lint-command'
import { migrateCommand } from './migrate'
import { failed, lineOf, type Result } from './output'
import { usage } from './usage'

const commands: ReadonlyMap<string, Command> = new Map(
  Object.entries({ ...clientCommands, ...keyCommands, lint: lintCommand, migrate: migrateCommand }),
)

/** After a mistake, the program runs no command. */
export async function run(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<Result> {
  const text = asked(words)
  if (text !== undefined) return { status: 0, output: text, remarks: '' }
  const [subject = ''] = words
  const two = words.slice(0, 2).join(' ')
  const command = commands.get(subject) ?? commands.get(two)
  if (command === undefined) return misunderstood([noSuchCommand(subject, two)])
  const { flags } = command
  const args = withIssuedLast(words.slice(commands.has(subject) ? 1 : 2), flags)
  const mistakes = mistakesIn(args, command, environment)
  if (mistakes.length > 0) return misunderstood(mistakes)
  const { values, positionals } = parsed(args)
  return command.run({ flags, values, name: positionals[0] ?? '', environment })
}

/** What the program says without running a command. */
function asked(words: readonly string[]): string | undefined {
  if (words.includes('--version')) return version
  const wantsHelp = words.length === 0 || words.includes('--help') || words.includes('-h')
  if (words[0] !== 'lint') return wantsHelp ? usage(commands) : undefined
  if (wantsHelp || words.length === 1) return `${usage(commands)}\n\nRules:\n${rulesText()}`
  return words.includes('--rules') ? rulesText() : undefined
}

function noSuchCommand(subject: string, two: string): ConfigurationIssue {
  const names = [...commands.keys()]
  const path = names.some((name) => name.startsWith(`${subject} `)) ? two : subject
  return { path, message: `is not a command; the commands are ${names.join(', ')}.` }
}

const misunderstood = (mistakes: readonly ConfigurationIssue[]) =>
  failed(2, ['The command line has mistakes:', ...mistakes.map(lineOf), 'See --help.'])
