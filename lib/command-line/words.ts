import { parseArgs } from 'node:util'
import type { ConfigurationIssue } from '../primitives/options-reader'
import type { Command, Order } from './command'
import { commands } from './commands'
import { commonOptions, type Option } from './command-options'

type CommandLine =
  | { readonly kind: 'help' }
  | { readonly kind: 'mistakes'; readonly issues: readonly ConfigurationIssue[] }
  | {
      readonly kind: 'command'
      readonly command: Command
      readonly order: Order
      readonly redis: string
      readonly prefix: string
      readonly json: boolean
    }

type Value = true | string | number | readonly string[]
type Values = Map<string, Value>

/** After a mistake, the program runs no command. */
export function readWords(words: readonly string[], environment: NodeJS.ProcessEnv): CommandLine {
  if (words.length === 0 || words.includes('--help') || words.includes('-h')) return { kind: 'help' }
  const [subject, name = '', ...rest] = words
  const command = commands.get(`${subject} ${name}`)
  if (command === undefined)
    return { kind: 'mistakes', issues: [noSuchCommand(isSubject(subject) ? `${subject} ${name}` : subject)] }
  const issues: ConfigurationIssue[] = []
  const { values, positionals } = readOptions(rest, { ...commonOptions, ...command.options }, issues)
  const about = readName(command, positionals, issues)
  const redis = readRedis(values.get('redis') ?? environment['REDIS_URL'], issues)
  if (issues.length > 0) return { kind: 'mistakes', issues }
  const fields = Object.entries(command.options).flatMap(([option, { field }]) => {
    const value = values.get(option)
    return value === undefined ? [] : [[field ?? option, value]]
  })
  return {
    kind: 'command',
    command,
    order: {
      name: about,
      fields: Object.fromEntries(fields),
      secret: environment['CLIENT_SECRET'],
      keySecrets: (environment['SIGNING_KEY_SECRETS'] ?? '').split(',').filter((secret) => secret !== ''),
    },
    redis,
    prefix: String(values.get('prefix') ?? 'oauth:'),
    json: values.has('json'),
  }
}

const isSubject = (word: string | undefined) =>
  [...commands.keys()].some((name) => name.startsWith(`${word} `))

function noSuchCommand(given: string | undefined): ConfigurationIssue {
  const known = [...commands.keys(), 'lint'].join(', ')
  return { path: given?.trim() ?? '', message: `is not a command; the commands are ${known}.` }
}

// One in 64 of the issued identifiers begins with `-`, as an option does.
const beginsAsOption = /^-[A-Za-z0-9_-]{21}$/

/** Records every mistake, not only the first. */
export function readOptions(
  words: readonly string[],
  known: Readonly<Record<string, Option>>,
  issues: ConfigurationIssue[],
): { readonly values: Values; readonly positionals: readonly string[] } {
  const isIssued = (word: string) => beginsAsOption.test(word) && !Object.hasOwn(known, word.slice(2))
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { kind }]) => [
      name,
      { type: kind === 'flag' ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const args = words.filter((word) => !isIssued(word))
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true })
  const values: Values = new Map()
  const positionals = words.filter(isIssued)
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const option = Object.hasOwn(known, name) && rawName === `--${name}` ? known[name] : undefined
    const wrong = (message: string) => void issues.push({ path: rawName, message })
    if (option === undefined) wrong(`is not known here; the known options are ${optionNames(known)}.`)
    else if (option.kind === 'flag')
      if (value === undefined) values.set(name, true)
      else wrong('takes no value.')
    else if (value === undefined || value === '') wrong('needs a value.')
    else if (!inlineValue && value.startsWith('-'))
      wrong(`needs a value; write a value that begins with - as ${rawName}=-…`)
    else if (option.kind === 'seconds' && !/^\d+$/.test(value)) wrong('must be whole seconds.')
    else if (option.kind === 'texts') values.set(name, [...textsOf(values.get(name)), value])
    else if (values.has(name)) wrong('is given twice.')
    else values.set(name, option.kind === 'seconds' ? Number(value) : value)
  }
  return { values, positionals }
}

export const textsOf = (value: Value | undefined): readonly string[] =>
  typeof value === 'object' ? value : []

const optionNames = (known: Readonly<Record<string, Option>>): string =>
  Object.keys(known)
    .map((name) => `--${name}`)
    .join(', ')

function readName({ takes }: Command, positionals: readonly string[], issues: ConfigurationIssue[]): string {
  const [first, ...others] = positionals
  if (takes !== undefined && (first === undefined || first === ''))
    issues.push({ path: takes, message: 'is missing: write it after the command.' })
  for (const word of takes === undefined ? positionals : others)
    issues.push({ path: word, message: 'is one word too many; a value with spaces needs quotes.' })
  return takes === undefined ? '' : (first ?? '')
}

function readRedis(given: unknown, issues: ConfigurationIssue[]): string {
  // Does not quote the URL, which may hold a password.
  const message = 'must be a URL such as redis://localhost:6379, or be in the environment as REDIS_URL.'
  if (typeof given === 'string' && /^rediss?:\/\//.test(given) && URL.canParse(given)) return given
  issues.push({ path: '--redis', message: given === undefined ? `is missing: it ${message}` : message })
  return ''
}
