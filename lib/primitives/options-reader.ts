import { ConfigurationError, type ConfigurationIssue } from './configuration-error'
import { nearestName } from './nearest-name'
import { type Field, Place } from './schema'
import { isRecord, tenYears } from './values'

/**
 * Collects every mistake. A wrong field gives a placeholder: call {@link OptionsReader.throwIssues} before you use a
 * value.
 */
export class OptionsReader {
  private readonly source: Readonly<Record<string, unknown>>
  private readonly read = new Set<string>()
  private readonly refused = new Set<string>()

  constructor(
    source: unknown,
    private readonly path: string,
    readonly issues: ConfigurationIssue[] = [],
  ) {
    this.source = isRecord(source) ? source : {}
    if (!isRecord(source)) this.issues.push({ path: path || 'options', message: 'must be an object.' })
  }

  required<T>(key: string, placeholder: T, accepts: (value: unknown) => value is T, cure: string): T {
    const value = this.take(key)
    if (accepts(value)) return value
    this.wrong(key, value === undefined ? `is missing: it ${cure}` : cure)
    return placeholder
  }

  optional<T>(key: string, fallback: T, accepts: (value: unknown) => value is T, cure: string): T {
    return this.take(key) === undefined ? fallback : this.required(key, fallback, accepts, cure)
  }

  /** Marks a field as known, without a check. */
  take(key: string): unknown {
    this.read.add(key)
    return Object.hasOwn(this.source, key) ? this.source[key] : undefined
  }

  field<T>(key: string, read: Field<T>): T {
    return read(this.take(key), new Place(this.source, this.path, undefined, this.issues), key)
  }

  group<T>(key: string, read: (fields: OptionsReader) => T): T {
    const given = this.take(key)
    const fields = new OptionsReader(given === undefined ? {} : given, this.at(key), this.issues)
    const value = read(fields)
    fields.refuseUnknown()
    return value
  }

  wrong(key: string, message: string): void {
    this.issues.push({ path: this.at(key), message })
  }

  at(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`
  }

  /** For a field that hosts expect here although it does not exist. Error messages do not list it. */
  refuse(key: string, cure: string): void {
    this.refused.add(key)
    if (Object.hasOwn(this.source, key) && this.source[key] !== undefined) this.wrong(key, cure)
  }

  /** Except those that look like a misspelt name of a known field. */
  unread(): readonly string[] {
    const others = Object.keys(this.source).filter((key) => !this.read.has(key) && !this.refused.has(key))
    return others.filter((key) => nearestName(key, this.read) === undefined)
  }

  refuseUnknown(): void {
    const known = [...this.read].toSorted()
    for (const key of Object.keys(this.source))
      if (!this.read.has(key) && !this.refused.has(key)) this.wrong(key, unknownName(key, known))
  }

  /**
   * An unset environment variable is undefined: where a field only restricts, its absence would open what it should
   * close.
   */
  refuseUndefined(): void {
    const isReported = (key: string) => this.issues.some(({ path }) => path === this.at(key))
    for (const [key, value] of Object.entries(this.source))
      if (value === undefined && !isReported(key)) this.wrong(key, undefinedField)
  }

  throwIssues(subject: string): void {
    if (this.issues.length > 0) throw new ConfigurationError(subject, this.issues)
  }
}

export const undefinedField = 'is undefined: give it a value, or leave it out.'

function unknownName(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  const names = known.join(', ')
  return nearest === undefined
    ? `is not known here; the known names are ${names}.`
    : `is not known here. Did you mean ${nearest}? The known names are ${names}.`
}

/** Milliseconds since the epoch. */
export function readClock(reading: OptionsReader): () => number {
  const clock = reading.optional('clock', Date.now, isClock, 'must be a function.')
  if (clock !== Date.now && isInSeconds(clock()))
    reading.wrong('clock', 'must return milliseconds since the epoch, as Date.now does; it returns seconds.')
  return clock
}

const isClock = (value: unknown): value is () => number => typeof value === 'function'

// A test clock may start anywhere, and tests may set `Date.now` to 0. Only today's seconds, within ten years, are no
// milliseconds: as such, they lie in January 1970.
const isInSeconds = (time: number): boolean => time > 1e9 && Math.abs(time - Date.now() / 1000) < tenYears
