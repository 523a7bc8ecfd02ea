import { commands } from './commands'
import { commonOptions, lintOptions, metadataOptions, rotationOptions, type Option } from './options'

const program = 'express-authorization-server'

/** The text of `--help`. */
export function usage(): string {
  return [
    `Usage: ${program} client <command> [client_id] [options]`,
    `       ${program} lint CONFIG [options]     what is unwise in a configuration; see lint --help`,
    '',
    'Clients of an authorization server whose option clients is redisStore({ url }).clients.',
    '',
    'Commands:',
    ...columns(
      [...commands].map(([name, { meaning, takesClient }]) => [
        `${name}${takesClient ? ' <client_id>' : ''}`,
        meaning,
      ]),
    ),
    '',
    'Options of every command:',
    ...optionLines(commonOptions),
    '',
    'Options of rotate-secret:',
    ...optionLines(rotationOptions),
    '',
    'Options of add (the scopes and grant types of your server are not known here; it refuses others):',
    ...optionLines(metadataOptions),
    '',
    'Exit status: 0 done, 1 refused or failed, 2 wrong usage.',
  ].join('\n')
}

/** The text of `lint --help`, without the list of rules. */
export function lintUsage(): string {
  return [
    `Usage: ${program} lint CONFIG [options]`,
    '',
    'Looks at the options of createAuthorizationServer() and at registered clients, and starts no server.',
    'CONFIG is a module whose export named options, or else whose default export, is the options object or a',
    'function that returns it; or a file of JSON.',
    '',
    'Options:',
    ...optionLines(lintOptions),
    '',
    'Exit status: 0 nothing found, 1 findings, 2 it cannot be looked at, or no server could start with it.',
    '',
    'Rules:',
  ].join('\n')
}

const values = { flag: '', text: ' <value>', texts: ' <value>, again for more' }

function optionLines(options: Readonly<Record<string, Option>>): readonly string[] {
  return columns(
    Object.entries(options).map(([name, { kind, meaning }]) => [`--${name}${values[kind]}`, meaning]),
  )
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
