import { ConfigurationError, createAuthorizationServer } from '../../../lib/index'
import { canonicalOptions } from './application'

// A method, not a function type: so the checker lets a JavaScript host's registrations through.
const javascript: { create(options: unknown): unknown } = { create: createAuthorizationServer }

/** The fields for which these registrations are refused at start. */
export function refusedFields(...clients: readonly unknown[]): readonly string[] {
  return refusedOptions({ clients })
}

/** The options for which the server does not start. */
export function refusedOptions(bend: object): readonly string[] {
  try {
    javascript.create({ ...canonicalOptions, ...bend })
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues.map(({ path }) => path)
    throw error
  }
  return []
}
