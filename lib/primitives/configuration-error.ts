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
