import { aFlag } from '../primitives/fields'
import type { Field } from '../primitives/schema'
import { isText } from '../primitives/values'
import type { Observed } from '../protocol/oauth-error'
import { rowOf } from '../protocol/refusals'
import { differenceBetween } from '../protocol/uri'
import { plainText } from './redaction'
import { warn } from './warning'

export interface DiagnosedRefusal {
  readonly endpoint: string
  readonly code?: string | undefined
  readonly reason: string
  readonly description?: string | undefined
  readonly clientId?: string | undefined
  readonly observed?: Observed | undefined
}

// Plug-ins may make any number of reasons.
const maximumWarnings = 200

// A denial is a decision. EAS_TLS_REQUIRED or EAS_TRUST_PROXY explains `tls_required`.
const silent: ReadonlySet<string> = new Set(['owner_denied', 'maintenance', 'closing', 'tls_required'])

// Once per cause and server, for the person who sets it up.
export class Diagnosis {
  private readonly explained = new Set<string>()
  private looks = 0

  explainAfter(refusal: DiagnosedRefusal, look: () => Promise<Observed>): void {
    this.looks += 1
    if (this.looks > maximumWarnings) return
    const explain = (observed?: Observed) => this.explain({ ...refusal, observed })
    look().then(explain, () => explain())
  }

  explain(refusal: DiagnosedRefusal | undefined): void {
    if (refusal === undefined) return
    const { reason, observed = {} } = refusal
    const what = [reason, observed['cause'], observed['parameter']].join('/')
    if (silent.has(reason) || this.explained.has(what) || this.explained.size >= maximumWarnings) return
    this.explained.add(what)
    warn('EAS_REFUSED', sentencesFor(refusal))
  }
}

// Never in production, nor in tests: they refuse on purpose.
export const explainsRefusals: Field<boolean> = (given, at, name) =>
  aFlag(true)(given, at, name) && !['production', 'test'].includes(process.env['NODE_ENV'] ?? '')

function sentencesFor({ endpoint, code, reason, ...refusal }: DiagnosedRefusal): string {
  const { clientId, description, observed } = refusal
  const of = clientId === undefined ? '' : ` of the client "${clientId}"`
  const row = rowOf(reason, observed?.['cause'])
  const sentences = [
    `A request${of} was refused (${endpoint}): ${[code, plainText(reason)].filter(isPresent).join(', ')}.`,
    ...readBy(observed),
    row?.rule ?? description,
    row?.cure,
    `See docs/errors.md${code === undefined ? '' : `#${plainText(code)}`}.`,
  ]
  return sentences.filter(isPresent).join(' ')
}

const isPresent = (text: string | undefined): text is string => text !== undefined && text !== ''

function readBy(observed: Observed | undefined): readonly (string | undefined)[] {
  if (observed === undefined) return []
  const { cause: _cause, ...values } = observed
  const parts = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${shown(value)}`],
  )
  return [parts.length === 0 ? undefined : `Read: ${parts.join('; ')}.`, differenceIn(values)]
}

const mostShown = 5

function shown(value: string | number | readonly string[]): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return quoted(value)
  if (value.length === 0) return 'none'
  const more = value.length > mostShown ? `, and ${value.length - mostShown} more` : ''
  return `${value.slice(0, mostShown).map(quoted).join(', ')}${more}`
}

const quoted = (text: string) => `"${plainText(text)}"`

// Two URLs that should be equal are the usual mistake: the shortest sentence tells the slip.
function differenceIn({ sent, ...others }: Observed): string | undefined {
  if (typeof sent !== 'string') return undefined
  const texts = Object.values(others).flat().filter(isText)
  const candidates = texts.flatMap((one) => differenceBetween(one, sent) ?? [])
  const [difference] = candidates.toSorted((one, other) => one.length - other.length)
  return difference && plainText(difference)
}
