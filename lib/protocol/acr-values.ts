import { isTexts } from '../primitives/options-reader'
import { isTooLong, longestValues, type Parameters } from './parameters'

// Authentication context class references (OpenID Connect Core 2), as RFC 9470 lists them in a parameter and in a
// challenge: with spaces between them, the preferred one first.

// In characters, like `acr` of a login.
const longestValue = 256

/** Whether the value is a list of different classes that a request and a challenge can name. */
export function isAcrValues(value: unknown): value is readonly string[] {
  return (
    isTexts(value) &&
    value.length > 0 &&
    new Set(value).size === value.length &&
    value.every((each) => each.length <= longestValue && /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(each)) &&
    !isTooLong('acr_values', value.join(' '))
  )
}

/** What the classes of such a list must be, as the end of a sentence. */
export const acrValuesExpectation = `the preferred one first: printable ASCII without spaces, quotes and backslashes, at most ${longestValue} characters each and ${longestValues.get('acr_values')} in all.`

/** The classes that an authorization request asks for; none if it names none. */
export function requestedAcrValues(parameters: Parameters): readonly string[] {
  return (parameters.get('acr_values') ?? '').split(' ').filter((value) => value !== '')
}
