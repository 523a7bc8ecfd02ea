import { ConfigurationError } from './configuration'

/**
 * Loads a package that only some hosts have to install.
 *
 * @param load calls `require`, or `require.resolve` where loading can wait.
 * @param subject what cannot work without it, as the beginning of the message.
 * @param cure the command that installs it.
 * @throws ConfigurationError when the package is missing.
 */
export function optionalPackage<Package>(
  name: string,
  load: () => Package,
  { subject, cure }: { readonly subject: string; readonly cure: string },
): Package {
  try {
    return load()
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    throw new ConfigurationError(subject, [{ path: name, message: `is not installed: ${cure}.` }], { cause })
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND'
}
