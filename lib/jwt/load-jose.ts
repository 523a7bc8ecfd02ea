import { optionalPackage } from '../protocol/optional-package'
import type { Jose } from './jose'

// jose is an ES module: `import()` takes it in on every Node that the suite runs on, `require` only on later ones.
const load = (): Promise<Jose> => import('jose')

let loading: Promise<Jose> | undefined

/** Loads jose at its first use, once for the process. */
export function loadJose(): Promise<Jose> {
  return (loading ??= load())
}

/**
 * Says at construction, not at the first request, that jose is missing.
 *
 * @param asker what cannot work without it, such as `jwtBearer()`.
 * @throws ConfigurationError
 */
export function requireJose(asker: string): void {
  optionalPackage('jose', () => require.resolve('jose'), {
    subject: `${asker} cannot verify signatures:`,
    cure: 'run "npm install jose"',
  })
}
