import { ConfigurationError, type Mistake } from '../../../lib/protocol/configuration'
import { resolveOptions } from '../../../lib/resolve-options'
import { optionsWith } from './registrations'

// A method, not a function type: so the checker lets a JavaScript host's options through, whatever they are.
const javascript: { resolve(options: unknown): unknown } = { resolve: resolveOptions }

/** Every mistake in options of any kind. */
export function mistakesIn(options: unknown): readonly Mistake[] {
  try {
    javascript.resolve(options)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.mistakes
    throw error
  }
  return []
}

/** Every mistake in good options with some of them bent. */
export function mistakesWith(bend: Readonly<Record<string, unknown>>): readonly Mistake[] {
  return mistakesIn({ ...optionsWith(), ...bend })
}

/** Their paths. */
export function pathsWith(bend: Readonly<Record<string, unknown>>): readonly string[] {
  return mistakesWith(bend).map(({ path }) => path)
}
