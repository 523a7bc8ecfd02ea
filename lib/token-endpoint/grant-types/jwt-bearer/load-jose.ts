import { ConfigurationError } from '../../../protocol/configuration'

// jose is an ES module: `import()` takes it in on every Node that the suite runs on, `require` only on later ones.
const load = () => import('jose')

/** The library that verifies signatures. */
export type Jose = Awaited<ReturnType<typeof load>>

let loading: Promise<Jose> | undefined

/** Loads jose at its first use, once for the process. */
export function loadJose(): Promise<Jose> {
  return (loading ??= load())
}

/** Says at construction, not at the first request, that jose is missing. @throws ConfigurationError */
export function requireJose(): void {
  try {
    require.resolve('jose')
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    const problem = 'is not installed: run "npm install jose".'
    throw new ConfigurationError('jwtBearer() cannot verify signatures:', [{ path: 'jose', problem }], {
      cause,
    })
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND'
}
