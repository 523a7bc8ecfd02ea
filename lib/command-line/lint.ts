import { lint } from '../lint/lint'
import { subjectOf } from '../lint/subject'
import { ConfigurationError, isRecord } from '../protocol/configuration'
import { findingsText, mistakesText, rulesText, summaryOf } from './lint-report'
import { readLintWords } from './lint-words'
import { loadConfiguration } from './load-configuration'
import { failed, misunderstood, type Result } from './result'
import { lintUsage } from './usage'

const seenInJson = 'JSON holds no store and no function, so neither was looked at.'
// No file of JSON could avoid these.
const unseenInJson = ['memory-store', 'memory-counters']

/** Carries out `lint`, given the words behind it. */
export async function runLint(words: readonly string[]): Promise<Result> {
  const asked = readLintWords(words)
  if (asked.kind === 'help') return { status: 0, output: `${lintUsage()}\n\n${rulesText()}`, remarks: '' }
  if (asked.kind === 'rules') return { status: 0, output: rulesText(), remarks: '' }
  if (asked.kind === 'mistakes') return misunderstood(asked.issues)
  return look(asked.file, asked.allowed, asked.json)
}

async function look(file: string, allowed: readonly string[], json: boolean): Promise<Result> {
  const loaded = await loadConfiguration(file).catch((error: unknown) => failedWith(file, error))
  if ('status' in loaded) return loaded
  try {
    const { subject, unseenClients } = await subjectOf(loaded.options)
    const findings = lint(subject, [...allowed, ...(loaded.plain ? unseenInJson : [])])
    const remarks = [
      summaryOf(findings, subject.clients.length),
      ...(unseenClients === undefined ? [] : [`Clients were not looked at: ${unseenClients}`]),
      ...(loaded.plain ? [seenInJson] : []),
    ]
    const output = findingsText(findings, json)
    return { status: findings.length === 0 ? 0 : 1, output, remarks: remarks.join('\n') }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) return failedWith(file, error)
    return { status: 2, output: mistakesText(error.issues, json), remarks: 'No server starts with this.' }
  } finally {
    await closeStore(loaded.options)
  }
}

function failedWith(file: string, error: unknown): Result {
  const lines = error instanceof Error ? error.message.split('\n') : ['it threw no error.']
  return failed(2, [`${file} cannot be looked at:`, ...lines])
}

/** A store may have connected when it was made, which would keep this process alive. */
async function closeStore(options: unknown): Promise<void> {
  const store = isRecord(options) ? options['store'] : undefined
  if (isRecord(store) && typeof store['close'] === 'function') await store['close']()
}
