import { isText } from './configuration'
import { hasUriCharacters } from './uri'

/** Whether a host's page of error codes can be sent as `error_uri` (RFC 6749 5.2), with a code as its fragment. */
export function isPageUri(value: unknown): value is string {
  return isText(value) && URL.canParse(value) && hasUriCharacters(value) && !value.includes('#')
}

/** What cures one that cannot, as the rest of a sentence. */
export const pageCure = 'must be an absolute URL without a fragment, such as https://example.com/docs/errors.'
