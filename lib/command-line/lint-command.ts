import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigurationError } from '../primitives/configuration-error'
import { isRecord } from '../primitives/values'
import type { Command } from './command'
import { everywhere, own } from './flags'
import { type Finding, lint, rules, subjectOf } from './lint'
import { failed, printable, program, shown } from './output'

const noteOnJson = 'JSON holds no store and no function, so lint has checked neither.'
// JSON cannot hold a store.
const rulesBeyondJson = ['memory-store', 'memory-counters']

export const lintCommand: Command = {
  meaning: 'find options that start a server and are risky all the same',
  takes: 'CONFIG',
  flags: { allow: own.allow, rules: own.rules, ...everywhere },
  async run({ name: file, values: { allow = [], json = false } }) {
    const isPlain = file.endsWith('.json')
    let options: unknown
    try {
      options = await optionsIn(resolve(file), isPlain)
      const subject = await subjectOf(options)
      const findings = lint(subject, isPlain ? [...allow, ...rulesBeyondJson] : allow)
      const { unseenClients } = subject
      const unseen = unseenClients === undefined ? [] : [`Clients were not checked: ${unseenClients}`]
      const summary = summaryOf(findings, subject.clients.length)
      const remarks = [summary, ...unseen, ...(isPlain ? [noteOnJson] : [])]
      const output = findingsText(findings, json)
      return { status: findings.length === 0 ? 0 : 1, output, remarks: remarks.join('\n') }
    } catch (error) {
      if (!(error instanceof ConfigurationError)) return failed(2, whyUnchecked(file, error))
      const rows = error.issues.map(({ path, message }) => {
        return { severity: 'error', rule: 'configuration', path, why: `This ${message}` }
      })
      return failed(2, ['No server can start with this configuration.'], shown(rows, json))
    } finally {
      await closeStore(options)
    }
  },
}

async function optionsIn(path: string, isPlain: boolean): Promise<unknown> {
  if (isPlain) {
    const options: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isRecord(options) ? { resourceOwner: () => undefined, ...options } : options
  }
  const found = exported(await import(pathToFileURL(path).href))
  return typeof found === 'function' ? found() : found
}

// import() wraps a CommonJS module in a `default`, which may have its own.
function exported(value: unknown, depth = 0): unknown {
  if (!isRecord(value) || depth > 2) return value
  const inner = value['options'] ?? value['default']
  return inner === undefined ? value : exported(inner, depth + 1)
}

// An open connection would keep this process alive.
async function closeStore(options: unknown): Promise<void> {
  const store = isRecord(options) ? options['store'] : undefined
  if (isRecord(store) && typeof store['close'] === 'function') await store['close']()
}

// Node 20 loads no TypeScript. Later versions load what is valid without its types.
const ofTypeScript = /^ERR_(UNKNOWN_FILE_EXTENSION|UNSUPPORTED_TYPESCRIPT_SYNTAX|MODULE_NOT_FOUND)$/

function whyUnchecked(file: string, error: unknown): readonly string[] {
  const why = error instanceof Error ? error.message : 'it threw a value that is not an error.'
  const lines = [`${file} cannot be checked:`, ...why.split('\n')]
  if (!isRecord(error) || !/\.[cm]?tsx?$/.test(file) || !existsSync(file)) return lines
  if (!ofTypeScript.test(String(error['code'])) && error['name'] !== 'SyntaxError') return lines
  return [
    ...lines,
    'This Node does not load this TypeScript without help. Name the compiled file, or install tsx and run:',
    `NODE_OPTIONS='--import tsx' npx ${program} lint ${file}`,
  ]
}

function findingsText(findings: readonly Finding[], json: boolean): string {
  if (json) return shown(findings, json)
  if (findings.length === 0) return ''
  const rows = findings.map(({ severity, rule, path, client, source }) => {
    return { severity, rule, path, client, source }
  })
  const meanings = findings.map(({ rule, why, cure }) => printable(`${rule}: ${why} ${cure}`))
  return [shown(rows, false), '', ...new Set(meanings)].join('\n')
}

function summaryOf(findings: readonly Finding[], clients: number): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const found = `${counted(errors, 'error')}, ${counted(findings.length - errors, 'warning')}`
  return `${found} in ${counted(rules.length, 'rule')} and ${counted(clients, 'client')}.`
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

export const rulesText = () =>
  shown(
    rules.map(({ rule, severity, why, source }) => ({ rule, severity, why, source })),
    false,
  )
