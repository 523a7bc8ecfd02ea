import { type ConfigurationIssue, isRecord } from './options-reader'

/** The members of an object that code of a host returns. `Context` is what the checks compare values with. */
interface Shape<Context> {
  readonly fields: ReadonlyMap<string, Field<Context>>
  readonly others: 'refused' | 'ignored'
}

/** One member. */
interface Field<Context> {
  readonly presence: 'required' | 'optional' | 'omittable'
  readonly check: Check<Context>
  /** What the value must be, as the rest of a sentence that begins with the path. */
  readonly expectation: string
}

/** A condition, or the shape of an object inside. */
type Check<Context> = ((value: unknown, context: Context) => boolean) | Shape<Context>

/**
 * Describes what code of a host returns. Hosts write plug-ins also in JavaScript, and a value from their database may be
 * null, a number or a Buffer. The compiler demands a field for each member of `Value`.
 *
 * @param others what becomes of members that the shape does not name. Most are misspelt. Default `refused`.
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

/** A member that must be there. */
export const required = field('required')

/** A member that may be absent or undefined. */
export const optional = field('optional')

/** A member that may be absent, but not undefined. */
export const omittable = field('omittable')

/**
 * Refuses a value without the shape.
 *
 * @param subject says what is wrong, as a sentence that ends with a colon.
 * @throws TypeError that lists every mistake.
 */
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

/**
 * Lists every mistake in a value.
 *
 * @param path the path of the value, for the paths of the mistakes. Default none.
 */
export function issuesIn<Context>(
  { fields, others }: Shape<Context>,
  value: unknown,
  context: Context,
  path = '',
): readonly ConfigurationIssue[] {
  // A promise has no members of its own, so it would pass for an object whose optional members are absent.
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
