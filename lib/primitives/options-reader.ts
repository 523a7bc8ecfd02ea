/** One mistake in a configuration. */
export interface ConfigurationIssue {
  /** The path of the option, such as `clients[0].redirect_uris[1]`. */
  readonly path: string
  /** The mistake and its cure: the rest of a sentence that begins with the path. */
  readonly message: string
}

/** A configuration that cannot work. The message lists every mistake with its path and cure. */
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

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Such as from `openssl rand -base64 32`. */
export const isLongSecret = (value: unknown): value is string =>
  isText(value) && Buffer.byteLength(value) >= 32

/** The server checks the rest when it mounts the path. */
export const isRootedPath = (value: unknown): value is string => isText(value) && value.startsWith('/')

export const isWhole =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

export const tenYears = 10 * 365 * 24 * 3600

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

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

export function isAbsentOr(accepts: (value: unknown) => boolean, value: unknown): boolean {
  return value === undefined || accepts(value)
}

const longestCompared = 64

/** Equal but for letter case and underscores, a few letters away, or one begins with the other. */
export function nearestName(misspelt: string, known: Iterable<string>): string | undefined {
  const given = folded(misspelt)
  if (given.length < 2 || given.length > longestCompared) return undefined
  let nearest: { readonly name: string; readonly distance: number } | undefined
  for (const name of known) {
    const distance = distanceBetween(given, folded(name))
    if (distance < (nearest?.distance ?? Infinity)) nearest = { name, distance }
  }
  return nearest?.name
}

// `clientId` and `client_id` are one name in two styles.
const folded = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '')

/** Infinity: too different for a misspelling. */
function distanceBetween(given: string, name: string): number {
  const edits = editsBetween(given, name)
  if (edits <= 0.4 * Math.max(given.length, name.length)) return edits
  const isBeginning =
    Math.min(given.length, name.length) >= 4 && (name.startsWith(given) || given.startsWith(name))
  return isBeginning ? edits : Infinity
}

/** Damerau-Levenshtein, where no letter changes twice (optimal string alignment). */
function editsBetween(from: string, to: string): number {
  let [beforeLast, last]: [readonly number[], readonly number[]] = [
    [],
    Array.from({ length: to.length + 1 }, (_, column) => column),
  ]
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current.push(
        Math.min(
          at(current, column - 1) + 1,
          at(last, column) + 1,
          at(last, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(beforeLast, column - 2) + 1 : Infinity,
        ),
      )
    }
    ;[beforeLast, last] = [last, current]
  }
  return at(last, to.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity

/**
 * @param load calls `require` in `try`. @param subject begins the message: what cannot work without the package.
 * @throws ConfigurationError if it is missing.
 */
export function optionalPackage<Package>(
  name: string,
  load: () => Loaded<Package>,
  { subject, cure }: { readonly subject: string; readonly cure: string },
): Package {
  const { found, cause } = load()
  if (found !== undefined) return found
  if (!isMissing(cause)) throw cause
  throw new ConfigurationError(subject, [{ path: name, message: `is not installed: ${cure}.` }], { cause })
}

/** Bundlers take a package for optional if its `require` stands in `try`. */
export interface Loaded<Package> {
  readonly found?: Package
  readonly cause?: unknown
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND'
}
