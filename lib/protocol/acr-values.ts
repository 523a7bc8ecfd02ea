import { isTexts } from '../primitives/values'
import { isTooLong, longestValues, type Parameters } from './parameters'

// OpenID Connect Core 2, RFC 9470: authentication context class references, space separated, the preferred one first.

// In characters, like `acr` of a login.
const longestValue = 256

export function isAcrValues(value: unknown): value is readonly string[] {
  return (
    isTexts(value) &&
    value.length > 0 &&
    new Set(value).size === value.length &&
    value.every((each) => each.length <= longestValue && /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(each)) &&
    !isTooLong('acr_values', value.join(' '))
  )
}

/** The end of a sentence. */
export const acrValuesExpectation = `the preferred one first: printable ASCII without spaces, quotes and backslashes, at most ${longestValue} characters each and ${longestValues.get('acr_values')} in all.`

export const requestedAcrValues = (parameters: Parameters): readonly string[] =>
  (parameters.get('acr_values') ?? '').split(' ').filter((value) => value !== '')
