import { commands } from './commands'
import { commonOptions, metadataOptions, rotationOptions, type Option } from './options'

const program = 'express-authorization-server'

/** The text of `--help`. */
export function usage(): string {
  return [
    `Usage: ${program} client <command> [client_id] [options]`,
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
