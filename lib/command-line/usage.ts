import type { Command } from './command'
import { everywhere, type Flag, type Flags, ofStore } from './flags'
import { aligned, program } from './output'

type Commands = ReadonlyMap<string, Command>

export function usage(commands: Commands): string {
  const sections = new Map<string, Flags>()
  for (const { flags } of commands.values())
    for (const [name, flag] of Object.entries(flags)) {
      const section = takersOf(flag, commands)
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

function takersOf(flag: Flag, commands: Commands): string {
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
