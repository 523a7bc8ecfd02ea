import { ConfigurationError, type ConfigurationIssue } from './configuration-error'
import { nearestName } from './nearest-name'
import { type Field, Place, type Read, undefinedMember, unknownName } from './schema'
import { isRecord } from './values'

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

  field<T>(key: string, read: Field<T>): T
  field<T, Context>(key: string, read: Field<T, Context>, context: Context): T
  field<T>(key: string, read: Field<T>, context?: unknown): T {
    return read(this.take(key), new Place(this.source, this.path, context, this.issues), key)
  }

  fields<Of extends Readonly<Record<string, Field<unknown>>>>(fields: Of): Read<Of> {
    for (const name of Object.keys(fields)) this.read.add(name)
    return new Place(this.source, this.path, undefined, this.issues).read(fields)
  }

  /** @param names of the members that are read there. */
  place(...names: readonly string[]): Place {
    for (const name of names) this.read.add(name)
    return new Place(this.source, this.path, undefined, this.issues)
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
      if (value === undefined && !isReported(key)) this.wrong(key, undefinedMember)
  }

  throwIssues(subject: string): void {
    if (this.issues.length > 0) throw new ConfigurationError(subject, this.issues)
  }
}
