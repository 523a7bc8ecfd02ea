import type * as Pg from 'pg'
import { type Loaded, optionalPackage } from '../../primitives/configuration-error'

/** @throws ConfigurationError without pg. */
export const loadPg = (without: { readonly subject: string; readonly cure: string }): typeof Pg =>
  optionalPackage('pg', load, without)

function load(): Loaded<typeof Pg> {
  try {
    return { found: require('pg') }
  } catch (cause) {
    return { cause }
  }
}
