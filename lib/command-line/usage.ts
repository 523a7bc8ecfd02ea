import { commands } from './commands'
import {
  commonOptions,
  keyOptions,
  lintOptions,
  listOptions,
  metadataOptions,
  removalOptions,
  rotationOptions,
  shutOutOptions,
  type Option,
} from './command-options'

export const program = 'express-authorization-server'

export function usage(): string {
  return [
    `Usage: ${program} client <command> [client_id] [options]`,
    `       ${program} keys <command> [kid] [options]`,
    `       ${program} lint CONFIG [options]     find risky options in a configuration; see lint --help`,
    '',
    'Manages the clients of an authorization server whose option clients is redisStore({ url }).clients, and the',
    'keys of signingKeys({ secrets }) in the same store. The variable SIGNING_KEY_SECRETS holds these secrets, the',
    'newest first, with commas in between.',
    '',
    'Commands:',
    ...columns(
      [...commands].map(([name, { meaning, takes }]) => [
        `${name}${takes === undefined ? '' : ` <${takes}>`}`,
        meaning,
      ]),
    ),
    '',
    'Options of every command:',
    ...optionLines(commonOptions),
    '',
    'Options of keys:',
    ...optionLines(keyOptions),
    '',
    'Options of client disable and client delete:',
    ...optionLines(shutOutOptions),
    '',
    'Options of client rotate-secret:',
    ...optionLines(rotationOptions),
    '',
    'Options of client list:',
    ...optionLines(listOptions),
    '',
    'Options of client change, besides those of add except --type, --client-id and --secret-hash:',
    ...optionLines(removalOptions),
    '',
    'Options of client add (the command does not know the scopes, grant types and plug-ins of your server, which refuses others):',
    ...optionLines(metadataOptions),
    '',
    'Exit status: 0 done, 1 refused or failed, 2 wrong usage.',
  ].join('\n')
}

/** Without the list of rules. */
export function lintUsage(): string {
  return [
    `Usage: ${program} lint CONFIG [options]`,
    '',
    'Checks the options of createAuthorizationServer() and the registered clients. Starts no server.',
    'CONFIG is a JSON file, or a module with an export named options, or else a default export. The export is',
    'the options object, or a function that returns the options object.',
    '',
    'Options:',
    ...optionLines(lintOptions),
    '',
    'Exit status: 0 no findings, 1 findings, 2 wrong usage, CONFIG cannot be checked, or no server could start.',
    '',
    'Rules:',
  ].join('\n')
}

const values = { flag: '', text: ' <value>', texts: ' <value>, repeatable', seconds: ' <seconds>' }

function optionLines(options: Readonly<Record<string, Option>>): readonly string[] {
  return columns(
    Object.entries(options).map(([name, { kind, meaning }]) => [`--${name}${values[kind]}`, meaning]),
  )
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
