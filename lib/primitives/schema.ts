import { ConfigurationError, type ConfigurationIssue, nearestName } from './configuration-error'
import { isList, isRecord } from './values'

/** Reads a member; an absent one is undefined. A mistake goes to `at`, and the value is then a placeholder. */
export type Field<Value, Context = unknown> = (given: unknown, at: Place<Context>, name: string) => Value

export type Fields<Options, Context = unknown> = {
  readonly [Name in keyof Required<Options>]: Field<unknown, Context>
}

export type Read<Of> = {
  readonly [Name in keyof Of]: Of[Name] extends Field<infer Value, never> ? Value : never
}

type Table<Context> = Readonly<Record<string, Field<unknown, Context>>>

interface Rules<Value, Context> {
  /** An unset environment variable is undefined: it must not open what a member should close. */
  readonly undefinedMembers?: 'refused'
  /** Across members. */
  readonly check?: (read: Value, at: Place<Context>) => void
}

/** Where one object is read. */
export class Place<Context = unknown> {
  constructor(
    readonly source: Readonly<Record<string, unknown>>,
    readonly path: string,
    readonly context: Context,
    readonly issues: ConfigurationIssue[] = [],
    /** Made late: what a request checks reads no options. */
    private asked?: Set<string>,
  ) {}

  /** Anything but an object has one mistake, and no members. */
  inside(given: unknown, name: string): Place<Context> {
    const path = this.at(name)
    if (isRecord(given)) return new Place(given, path, this.context, this.issues)
    this.issues.push({ path: path || 'options', message: 'must be an object.' })
    return new Place(nothing, path, this.context, this.issues)
  }

  with<Other>(context: Other): Place<Other> {
    this.asked ??= new Set()
    return new Place(this.source, this.path, context, this.issues, this.asked)
  }

  at(name: string): string {
    return this.path === '' || name === '' ? this.path + name : `${this.path}.${name}`
  }

  wrong(name: string, message: string): void {
    this.issues.push({ path: this.at(name), message })
  }

  read<Of extends Table<Context>>(fields: Of): Read<Of> {
    const read: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(fields)) read[name] = this.field(name, field)
    if (hasEach(fields, read)) return read
    throw new Error('A field is missing.')
  }

  field<Value>(name: string, field: Field<Value, Context>): Value {
    this.asked ??= new Set()
    this.asked.add(name)
    return field(Object.hasOwn(this.source, name) ? this.source[name] : undefined, this, name)
  }

  /**
   * @param known default: the members read here.
   * @param cures for members that hosts expect here. No message lists them.
   */
  refuseUnknown(
    known: readonly string[] = [...(this.asked ?? [])],
    cures: ReadonlyMap<string, string> = noCures,
  ): void {
    for (const key of Object.keys(this.source)) {
      if (known.includes(key) || (this.source[key] === undefined && cures.has(key))) continue
      this.wrong(key, cures.get(key) ?? unknownName(key, known.toSorted()))
    }
  }

  requireOne(first: string, ...others: readonly string[]): void {
    if ([first, ...others].filter((name) => this.source[name] !== undefined).length === 1) return
    const unset = [first, ...others].find((name) => Object.hasOwn(this.source, name))
    if (unset !== undefined && this.source[unset] === undefined) return this.wrong(unset, undefinedMember)
    const rest = others.map((name) => `or ${name}`).join(' ')
    this.wrong(first, `${rest} must be given, and ${others.length > 1 ? 'only one' : 'not both'}.`)
  }

  refuseUndefined(): void {
    const isReported = (key: string) => this.issues.some(({ path }) => path === this.at(key))
    for (const [key, value] of Object.entries(this.source))
      if (value === undefined && !isReported(key)) this.wrong(key, undefinedMember)
  }

  throwIssues(subject: string): void {
    if (this.issues.length > 0) throw new ConfigurationError(subject, this.issues)
  }
}

export const rootPlace = <Context>(context: Context): Place<Context> => new Place(nothing, '', context)

/** Of options that are read one by one. */
export const placeOf = (options: unknown): Place => rootPlace<unknown>(undefined).inside(options, '')

const nothing: Readonly<Record<string, unknown>> = Object.freeze({})
const noCures: ReadonlyMap<string, string> = new Map()

function hasEach<Of extends object>(fields: Of, read: object): read is Read<Of> {
  return Object.keys(fields).every((name) => Object.hasOwn(read, name))
}

export const undefinedMember =
  'is undefined, perhaps because an environment variable is not set: give it a value, or leave it out.'

function unknownName(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  const names = known.join(', ')
  return nearest === undefined
    ? `is not known here; the known names are ${names}.`
    : `is not known here. Did you mean ${nearest}? The known names are ${names}.`
}

/** @param maker such as `dpop()`. @throws ConfigurationError that lists every mistake. */
export function readOptions<Of extends Table<undefined>>(
  maker: string,
  fields: Of,
  options: unknown,
  rules?: Rules<Read<Of>, undefined>,
): Read<Of> {
  const at = rootPlace(undefined)
  const read = group(fields, rules)(options ?? null, at, '')
  at.throwIssues(`${maker} cannot work with these options:`)
  return read
}

/** An absent object has every default. */
export function group<Context, Of extends Table<Context>>(
  fields: Of & Table<Context>,
  { undefinedMembers, check }: Rules<Read<Of>, Context> = {},
): Field<Read<Of>, Context> {
  return (given, at, name) => {
    const inner = at.inside(given === undefined ? {} : given, name)
    const read = inner.read<Of>(fields)
    check?.(read, inner)
    inner.refuseUnknown()
    if (undefinedMembers === 'refused') inner.refuseUndefined()
    return read
  }
}

/** An object of a host, taken as it is. Plug-ins may be JavaScript, and a database value null or a Buffer. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The fields are compared with Value.
export function shape<Value extends object, Context = unknown>(
  fields: Fields<Value, Context>,
  known?: readonly string[],
): Field<Value | undefined, Context> {
  // A pair that a request takes apart costs an iterator.
  const table = Object.entries<Field<unknown, Context>>(fields).map(([name, field]) => ({ name, field }))
  const isRight = (value: object, at: Place<Context>): value is Value => {
    const before = at.issues.length
    for (const { name, field } of table) field(at.source[name], at, name)
    if (known !== undefined) at.refuseUnknown(known)
    return at.issues.length === before
  }
  return (given, at, name) => {
    // A promise would pass for an object whose optional members are absent.
    if (isRecord(given) && !('then' in given)) {
      const inner = new Place(given, at.at(name), at.context, at.issues)
      return isRight(given, inner) ? given : undefined
    }
    at.wrong(name, 'must be an object, not a promise or a list.')
    return undefined
  }
}

/** Further members are mostly misspelt. */
export const exactShape = <Value extends object, Context = unknown>(
  fields: Fields<Value, Context>,
): Field<Value | undefined, Context> => shape<Value, Context>(fields, Object.keys(fields))

/** @throws TypeError that lists every mistake. */
export function requireShape<Value, Context>(
  field: Field<Value | undefined, Context>,
  value: unknown,
  subject: string,
  context: Context,
): Value {
  const at = rootPlace(context)
  const right = field(value, at, '')
  if (right !== undefined) return right
  throw new TypeError(
    `${subject} ${at.issues.map(({ path, message }) => `${path || 'it'} ${message}`).join(' ')}`,
  )
}

/** @param cure the rest of a sentence that begins with the path. */
export function kind<Value, Context = unknown>(
  accepts: (value: unknown, context: Context) => value is Value & {},
  cure: string,
): Field<Value | undefined, Context>
export function kind<Context = unknown>(
  accepts: (value: unknown, context: Context) => boolean,
  cure: string,
): Field<unknown, Context>
export function kind<Context>(
  accepts: (value: unknown, context: Context) => boolean,
  cure: string,
): Field<unknown, Context> {
  return (given, at, name) => {
    if (accepts(given, at.context)) return given
    at.wrong(name, given === undefined ? `is missing: it ${cure}` : cure)
    return undefined
  }
}

/** For a member that does not exist, though hosts expect it. */
export function refusal(cure: string): Field<undefined> {
  return (given, at, name) => {
    if (given !== undefined) at.wrong(name, cure)
    return undefined
  }
}

export function checked<Value, Context = unknown>(
  field: Field<Value | undefined, Context>,
  check: (value: Value, wrong: (member: string, message: string) => void) => void,
): Field<Value | undefined, Context> {
  return (given, at, name) => {
    const before = at.issues.length
    const value = field(given, at, name)
    if (value !== undefined) check(value, (member, message) => at.wrong(`${name}${member}`, message))
    return at.issues.length === before ? value : undefined
  }
}

export function optional<Value, Context = unknown>(
  field: Field<Value, Context>,
): Field<Value | undefined, Context> {
  return (given, at, name) => (given === undefined ? undefined : field(given, at, name))
}

export function usual<Value, Context = unknown>(
  fallback: Value,
  field: Field<Value | undefined, Context>,
): Field<Value, Context> {
  return (given, at, name) => (given === undefined ? fallback : (field(given, at, name) ?? fallback))
}

/** @param placeholder until the reading ends with an error. */
export function needed<Value, Context = unknown>(
  placeholder: Value,
  field: Field<Value | undefined, Context>,
): Field<Value, Context> {
  return (given, at, name) => field(given, at, name) ?? placeholder
}

export function orOff<Value, Context = unknown>(
  off: Value,
  field: Field<Value, Context>,
  cure = 'must be false, or an object: {} has every default.',
): Field<Value, Context> {
  return (given, at, name) => {
    if (given === false) return off
    if (given === undefined || isRecord(given)) return field(given, at, name)
    at.wrong(name, cure)
    return off
  }
}

/** `true` means every default; without it, it is off. */
export function switched<Value, Context = unknown>(
  field: Field<Value, Context>,
): Field<Value | undefined, Context> {
  return (given, at, name) => {
    if (given === true || isRecord(given)) return field(given === true ? {} : given, at, name)
    if (given !== undefined && given !== false) at.wrong(name, 'must be true, false or an object.')
    return undefined
  }
}

export function rows<Row, Context>(
  row: Field<Row | undefined, Context>,
  what: string,
): Field<readonly Row[], Context> {
  return (given, at, name) => {
    if (isList(given)) return given.flatMap((each, index) => row(each, at, `${name}[${index}]`) ?? [])
    if (given !== undefined) at.wrong(name, `must be a list of ${what}.`)
    return []
  }
}

export function someRows<Row, Context>(
  row: Field<Row | undefined, Context>,
  what: string,
): Field<readonly Row[], Context> {
  const cure = `must be a list of at least one ${what}.`
  return (given, at, name) => {
    if (isList(given) && given.length > 0) return rows(row, what)(given, at, name)
    at.wrong(name, given === undefined ? `is missing: it ${cure}` : cure)
    return []
  }
}
