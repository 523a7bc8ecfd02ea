import { parseArgs } from 'node:util'
import { unknownClient } from '../clients/registrations'
import { ConfigurationError, type ConfigurationIssue } from '../primitives/configuration-error'
import { storeFrom, storeVariable } from '../stores/from/store-from'
import type { Store } from '../store/store'
import { allFlags, type Flags, memberOf } from './flags'
import { done, failed, type Fields, lineOf, printable, type Result, shown } from './output'

export interface Command {
  readonly meaning: string
  readonly takes?: 'client_id' | 'kid' | 'CONFIG'
  readonly flags: Flags
  run(order: Order): Promise<Result>
}

export interface Order {
  readonly flags: Flags
  readonly values: ReturnType<typeof parsed>['values']
  readonly name: string
  // Holds the secrets. No flag takes one: other users can read command lines.
  readonly environment: NodeJS.ProcessEnv
}

// Throws at the first mistake; `mistakesIn` names them all.
export const parsed = (args: readonly string[]) =>
  parseArgs({ args, options: allFlags, allowPositionals: true })

// One in 64 of the issued identifiers begins with `-`, as a flag does.
const beginsAsFlag = /^-[A-Za-z0-9_-]{21}$/

export function withIssuedLast(words: readonly string[], flags: Flags): readonly string[] {
  const isIssued = (word: string) => beginsAsFlag.test(word) && !Object.hasOwn(flags, word.slice(2))
  if (words.includes('--')) return words
  return [...words.filter((word) => !isIssued(word)), '--', ...words.filter(isIssued)]
}

export function mistakesIn(
  args: readonly string[],
  { flags, takes }: Command,
  environment: NodeJS.ProcessEnv,
): readonly ConfigurationIssue[] {
  const { tokens } = parseArgs({ args, options: flags, strict: false, allowPositionals: true, tokens: true })
  const issues: ConfigurationIssue[] = []
  const wrong = (path: string, message: string | undefined) => {
    if (message !== undefined) issues.push({ path, message })
  }
  const given = new Set<string>()
  const words = takes === undefined ? [''] : []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    wrong(token.rawName, mistakeIn(token, flags, given.has(token.name)))
    given.add(token.name)
  }
  const [name = '', ...others] = words
  if (takes !== undefined && name === '') wrong(takes, 'is missing: write it after the command.')
  for (const word of others) wrong(word, 'is one word too many; a value with spaces needs quotes.')
  const { store } = flags
  if (store !== undefined && !given.has('store') && !given.has('print'))
    wrong('--store', store.mistakeIn?.(environment[storeVariable] ?? ''))
  return issues
}

type Token = Extract<NonNullable<ReturnType<typeof parseArgs>['tokens']>[number], { kind: 'option' }>

function mistakeIn({ name, rawName, value, inlineValue }: Token, flags: Flags, isRepeated: boolean) {
  const found = Object.hasOwn(flags, name) && rawName === `--${name}` ? flags[name] : undefined
  const known = `--${Object.keys(flags).join(', --')}`
  if (found === undefined) return `is not known here; the known options are ${known}.`
  if (found.type === 'boolean') return value === undefined ? undefined : 'takes no value.'
  if (value === undefined || value === '') return 'needs a value.'
  const isInline = inlineValue || !value.startsWith('-')
  if (!isInline) return `needs a value; write a value that begins with - as ${rawName}=-…`
  return isRepeated && found.multiple !== true ? 'is given twice.' : found.mistakeIn?.(value)
}

const variables: ReadonlyMap<string, string> = new Map([
  ['client_secret', 'CLIENT_SECRET'],
  ['secrets', 'SIGNING_KEY_SECRETS'],
])

export function linesInFlags({ issues }: ConfigurationError, flags: Flags): readonly string[] {
  const set = new Map(Object.entries(flags).map(([name, each]) => [memberOf(name, each), `--${name}`]))
  return issues.map(({ path, message }) => {
    const member = path.replace(/\[\d+\]$/, '')
    // A name without `_`, such as scope, may be a word of the sentence.
    const inWords = message.replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => set.get(word) ?? word)
    return lineOf({ path: set.get(member) ?? variables.get(member) ?? path, message: inWords })
  })
}

// Holds no digest.
export interface Answer {
  readonly found: Fields | readonly Fields[]
  readonly note?: string | undefined
  readonly ifEmpty?: string
  readonly trouble?: unknown
}

export function onStore(act: (store: Store, order: Order) => Promise<Answer>): Command['run'] {
  return async (order): Promise<Result> => {
    const { flags, values, environment } = order
    const { store: url = environment[storeVariable] ?? '', json = false } = values
    let place = 'The store'
    try {
      const store = storeFrom({ [storeVariable]: url })
      place = store.place ?? place
      const { found, note = '', ifEmpty, trouble } = await act(store, order).finally(() => store.close?.())
      const output = shown(found, json, ifEmpty)
      if (trouble !== undefined) return failed(1, [...reasonsOf(trouble, place, flags), note], output)
      const isEmpty = Array.isArray(found) && found.length === 0
      return done(output, printable(isEmpty ? lookedIn(place) : note))
    } catch (error) {
      const isUnknown = error instanceof ConfigurationError && error.issues.includes(unknownClient)
      return failed(1, [...reasonsOf(error, place, flags), ...(isUnknown ? [lookedIn(place)] : [])])
    }
  }
}

const lookedIn = (place: string) =>
  `The command looked in ${place}. If the store of your server has a prefix, a schema or a table, name it in the URL, as in ?prefix=shop:.`

// Of ioredis and Node, without a connection or after a timeout.
const unreachable = /max retries per request|connection is closed|timed out|connect|ENOTFOUND|EAI_AGAIN/i

function reasonsOf(error: unknown, place: string, flags: Flags): readonly string[] {
  if (error instanceof ConfigurationError) {
    const [subject = ''] = error.message.split('\n', 1)
    return [subject, ...linesInFlags(error, flags)]
  }
  if (!(error instanceof Error)) return [`${place}: an unknown error occurred.`]
  // The rest of Redis's message may quote the command, and so a digest.
  if (error.name === 'ReplyError') return [`${place} refused: ${error.message.split(' ', 1)[0]}.`]
  if (!unreachable.test(error.message)) return [`${place}: ${error.message}`]
  return [`${place} does not answer. Is it running, and is the URL right?`]
}
