import { version } from '../../package.json'
import type { ConfigurationIssue } from '../primitives/configuration-error'
import { clientCommands } from './clients'
import { type Command, mistakesIn, parsed, withIssuedLast } from './command'
import { keyCommands } from './keys'
import { lintCommand, rulesText } from './lint-command'
import { migrateCommand } from './migrate'
import { everywhere, type Flag, type Flags, ofStore } from './flags'
import { aligned, done, failed, lineOf, program, type Result } from './output'

const commands: ReadonlyMap<string, Command> = new Map(
  Object.entries({ ...clientCommands, ...keyCommands, lint: lintCommand, migrate: migrateCommand }),
)

export async function run(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<Result> {
  const text = asked(words)
  if (text !== undefined) return done(text)
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

function asked(words: readonly string[]): string | undefined {
  if (words.includes('--version')) return version
  const wantsHelp = words.length === 0 || words.includes('--help') || words.includes('-h')
  if (words[0] !== 'lint') return wantsHelp ? usage() : undefined
  if (wantsHelp || words.length === 1) return `${usage()}\n\nRules:\n${rulesText()}`
  return words.includes('--rules') ? rulesText() : undefined
}

function noSuchCommand(subject: string, two: string): ConfigurationIssue {
  const names = [...commands.keys()]
  const path = names.some((name) => name.startsWith(`${subject} `)) ? two : subject
  return { path, message: `is not a command; the commands are ${names.join(', ')}.` }
}

const misunderstood = (mistakes: readonly ConfigurationIssue[]) =>
  failed(2, ['The command line has mistakes:', ...mistakes.map(lineOf), 'See --help.'])

function usage(): string {
  const sections = new Map<string, Flags>()
  for (const { flags } of commands.values())
    for (const [name, flag] of Object.entries(flags)) {
      const section = takersOf(flag)
      sections.set(section, { ...sections.get(section), [name]: flag })
    }
  const rows = [...commands].map(([name, { meaning, takes }]) => [`${name}${inBrackets(takes)}`, meaning])
  return [
    `Usage: ${program} client <command> [client_id] [options]`,
    `       ${program} keys <command> [kid] [options]`,
    `       ${program} lint CONFIG [options]`,
    `       ${program} migrate [options]`,
    '',
    'client manages the clients of an authorization server whose option clients is registeredClients(store).',
    'It does not know the scopes, grant types and plug-ins of your server, which refuses others.',
    'keys manages the keys of signingKeys({ secrets }) in the same store. The variable SIGNING_KEY_SECRETS holds',
    'these secrets, the newest first, with commas in between.',
    'lint checks the options of createAuthorizationServer() and the registered clients. It starts no server.',
    'CONFIG is a JSON file, or a module with an export named options, or else a default export. The export is',
    'the options object, or a function that returns it.',
    'migrate makes the tables of postgresStore(), and needs the package pg. Run again, it changes nothing.',
    'The URL of PostgreSQL may name them: ?schema=oauth&table=records; that of Redis a prefix: ?prefix=shop:.',
    '',
    'Commands:',
    indented(rows),
    ...[...sections].flatMap(([section, flags]) => ['', `Options of ${section}:`, indented(rowsOf(flags))]),
    '',
    'Exit status: 0 done, or no findings; 1 refused or failed, or findings; 2 wrong usage, or CONFIG cannot be',
    'checked, or no server could start.',
  ].join('\n')
}

function takersOf(flag: Flag): string {
  const has = (flags: Flags) => Object.values(flags).includes(flag)
  if (has(everywhere)) return 'every command'
  if (has(ofStore)) return 'client, keys and migrate'
  return [...commands].flatMap(([name, { flags }]) => (has(flags) ? [name] : [])).join(', ')
}

const rowsOf = (flags: Flags) =>
  Object.entries(flags).map(([name, { unit, multiple, meaning }]) => {
    return [`--${name}${inBrackets(unit)}${multiple === true ? ', repeatable' : ''}`, meaning]
  })

const inBrackets = (word: string | undefined) => (word === undefined ? '' : ` <${word}>`)

const indented = (rows: readonly (readonly string[])[]) => aligned(rows).replaceAll(/^/gm, '  ')
