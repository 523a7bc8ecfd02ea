const longestCompared = 64

/** Equal but for case and underscores, a few letters away, or one begins with the other. */
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

/** Infinity: no misspelling. */
function distanceBetween(given: string, name: string): number {
  const edits = editsBetween(given, name)
  if (edits <= 0.4 * Math.max(given.length, name.length)) return edits
  const isBeginning =
    Math.min(given.length, name.length) >= 4 && (name.startsWith(given) || given.startsWith(name))
  return isBeginning ? edits : Infinity
}

/** Damerau-Levenshtein (optimal string alignment). */
function editsBetween(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    rows.push(current)
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current.push(
        Math.min(
          at(row, column - 1) + 1,
          at(row - 1, column) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(row - 2, column - 2) + 1 : Infinity,
        ),
      )
    }
  }
  return at(from.length, to.length)
}

export interface ConfigurationIssue {
  /** The path of the option, such as `clients[0].redirect_uris[1]`. */
  readonly path: string
  /** Mistake and cure: the rest of a sentence that begins with the path. */
  readonly message: string
}

/** The message lists every mistake with its path and cure. */
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
 * Bundlers take a package for optional if its `require` stands in `try`.
 *
 * @throws ConfigurationError if the package is not installed, else `cause`.
 */
export function refuseLoading(cause: unknown, name: string, subject: string, cure: string): never {
  if (!(cause instanceof Error && 'code' in cause && cause.code === 'MODULE_NOT_FOUND')) throw cause
  throw new ConfigurationError(subject, [{ path: name, message: `is not installed: ${cure}.` }], { cause })
}
