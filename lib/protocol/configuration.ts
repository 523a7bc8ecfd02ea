import { nearestName } from './nearest-name'

/** One mistake in a configuration: where it is, and what cures it. */
export interface ConfigurationIssue {
  /** The option's path, such as `clients[0].redirect_uris[1]`. */
  readonly path: string
  /** What is wrong and what cures it, as the rest of a sentence that begins with the path. */
  readonly message: string
}

/** A configuration that cannot work. Its message lists every mistake, each with its path and cure. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'

  constructor(
    subject: string,
    readonly issues: readonly ConfigurationIssue[],
    options?: { readonly cause?: unknown },
  ) {
    super(`${subject}\n${issues.map(({ path, message }) => `  - ${path} ${message}`).join('\n')}`, options)
  }
}

/**
 * Reads an object of unknown content field by field and collects every mistake on the way. What it returns for
 * a faulty field is a placeholder: call {@link OptionsReader.settle}, which throws, before any of it is used.
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

  /** A field that must be there. */
  required<T>(key: string, placeholder: T, accepts: (value: unknown) => value is T, cure: string): T {
    const value = this.take(key)
    if (accepts(value)) return value
    this.wrong(key, value === undefined ? `is missing: it ${cure}` : cure)
    return placeholder
  }

  /** A field that may be left out. */
  optional<T>(key: string, fallback: T, accepts: (value: unknown) => value is T, cure: string): T {
    return this.take(key) === undefined ? fallback : this.required(key, fallback, accepts, cure)
  }

  /** Marks a field as known and returns whatever it holds. */
  take(key: string): unknown {
    this.read.add(key)
    return Object.hasOwn(this.source, key) ? this.source[key] : undefined
  }

  /** Records a mistake in a field. */
  wrong(key: string, message: string): void {
    this.issues.push({ path: this.at(key), message })
  }

  /** The full path of a field. */
  at(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`
  }

  /** Refuses a field that people expect here although it is none, with its cure. The known names do not list it. */
  refuse(key: string, cure: string): void {
    this.refused.add(key)
    if (Object.hasOwn(this.source, key) && this.source[key] !== undefined) this.wrong(key, cure)
  }

  /** Records the fields that nothing has asked for: most are misspelt. */
  refuseUnknown(): void {
    const known = [...this.read].toSorted()
    for (const key of Object.keys(this.source))
      if (!this.read.has(key) && !this.refused.has(key)) this.wrong(key, unknownName(key, known))
  }

  /** @throws ConfigurationError when there was any mistake. */
  settle(subject: string): void {
    if (this.issues.length > 0) throw new ConfigurationError(subject, this.issues)
  }
}

function unknownName(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  const names = known.join(', ')
  return nearest === undefined
    ? `is not known here; the known names are ${names}.`
    : `is not known here. Did you mean ${nearest}? The known names are ${names}.`
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean'
}
