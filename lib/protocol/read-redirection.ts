import type { Client } from './client'
import { isBoolean, isTexts, type OptionsReader } from './configuration'
import { isTooLong, longestValues } from './bounds'
import { redirectUriFault } from './redirect-uri'

/** The part of a registration that says where answers may go. */
export type RegisteredRedirection = Pick<
  Client,
  'redirect_uris' | 'loopback_redirect_uris' | 'dynamic_redirect_query' | 'insecure_redirect_uris'
>

/** Reads where the client's answers may go; each opt-in is off unless the registration switches it on. */
export function readRedirection(reading: OptionsReader): RegisteredRedirection {
  const optIn = (key: keyof RegisteredRedirection) =>
    reading.optional(key, false, isBoolean, 'must be true or false.')
  const insecure_redirect_uris = optIn('insecure_redirect_uris')
  return {
    redirect_uris: redirectUris(reading, insecure_redirect_uris),
    loopback_redirect_uris: optIn('loopback_redirect_uris'),
    dynamic_redirect_query: optIn('dynamic_redirect_query'),
    insecure_redirect_uris,
  }
}

function redirectUris(reading: OptionsReader, insecure: boolean): readonly string[] {
  const uris = reading.optional('redirect_uris', [], isTexts, 'must be a list of URIs.')
  for (const [index, uri] of uris.entries()) {
    const fault = redirectUriFault(uri, { insecure })
    if (fault !== undefined) reading.wrong(`redirect_uris[${index}]`, `${fault}.`)
    else if (isTooLong('redirect_uri', uri))
      reading.wrong(
        `redirect_uris[${index}]`,
        `must be at most ${longestValues.get('redirect_uri')} characters.`,
      )
  }
  return Object.freeze([...uris])
}
