import type { ConfigurationIssue } from './configuration-error'
import { isRecord } from './values'

interface Shape<Context> {
  readonly fields: ReadonlyMap<string, Field<Context>>
  readonly others: 'refused' | 'ignored'
}

interface Field<Context> {
  readonly presence: 'required' | 'optional' | 'omittable'
  readonly check: Check<Context>
  /** The rest of a sentence that begins with the path. */
  readonly expectation: string
}

type Check<Context> = ((value: unknown, context: Context) => boolean) | Shape<Context>

/**
 * For values of a host's code: plug-ins may be JavaScript, and a database value may be null, a number or a Buffer. The
 * compiler demands a field for each member of `Value`.
 *
 * @param others members that the shape does not name. Most are misspelt.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The fields are compared with Value.
export function shape<Value extends object, Context = unknown>(
  fields: { readonly [Name in keyof Required<Value>]: Field<Context> },
  others: 'refused' | 'ignored' = 'refused',
): Shape<Context> {
  return { fields: new Map<string, Field<Context>>(Object.entries(fields)), others }
}

const field =
  (presence: Field<never>['presence']) =>
  <Context>(check: Check<Context>, expectation: string): Field<Context> => ({ presence, check, expectation })

export const required = field('required')

export const optional = field('optional')

/** May be absent, but not undefined. */
export const omittable = field('omittable')

export function requireShape<Context>(
  expected: Shape<Context>,
  value: unknown,
  subject: string,
  context: Context,
): void {
  const issues = issuesIn(expected, value, context)
  if (issues.length > 0)
    throw new TypeError(`${subject} ${issues.map(({ path, message }) => `${path} ${message}`).join(' ')}`)
}

export function issuesIn<Context>(
  { fields, others }: Shape<Context>,
  value: unknown,
  context: Context,
  path = '',
): readonly ConfigurationIssue[] {
  // A promise would pass for an object whose optional members are absent.
  if (!isRecord(value) || 'then' in value)
    return [{ path: path || 'it', message: 'must be an object, not a promise or a list.' }]
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const issues: ConfigurationIssue[] = []
  for (const [name, expected] of fields) issues.push(...issuesOf(expected, value, name, context, at(name)))
  if (others === 'ignored') return issues
  for (const name of Object.keys(value))
    if (!fields.has(name))
      issues.push({
        path: at(name),
        message: `is not known here; the known names are ${[...fields.keys()].join(', ')}.`,
      })
  return issues
}

function issuesOf<Context>(
  { presence, check, expectation }: Field<Context>,
  holder: Readonly<Record<string, unknown>>,
  name: string,
  context: Context,
  path: string,
): readonly ConfigurationIssue[] {
  const value = holder[name]
  const isAbsent =
    presence === 'omittable' ? !(name in holder) : presence === 'optional' && value === undefined
  if (isAbsent) return []
  if (typeof check !== 'function' && isRecord(value)) return issuesIn(check, value, context, path)
  const isRight = typeof check === 'function' && check(value, context)
  return isRight ? [] : [{ path, message: expectation }]
}
