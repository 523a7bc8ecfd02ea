import { ConfigurationError, type ConfigurationIssue } from '../../lib/index'

/** What makes something from options; a method, so that the checker lets a JavaScript host's options through. */
export interface Maker {
  make(options: unknown): unknown
}

/** Every mistake in options of any kind, as this makes something of them; none when it does. */
export function mistakesOf(maker: Maker, options: unknown): readonly ConfigurationIssue[] {
  try {
    maker.make(options)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues
    throw error
  }
  return []
}

/** Every mistake that keeps something from being made, as `path message`. */
export const mistakesIn = (make: () => unknown): readonly string[] =>
  mistakesOf({ make }, undefined).map(({ path, message }) => `${path} ${message}`)
