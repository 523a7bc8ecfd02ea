import { isText, type OptionsReader } from './protocol/configuration'
import { hasUriCharacters } from './protocol/uri'
import type { ServerSettings } from './settings'

const defaults = {
  authorizationPath: '/authorize',
  tokenPath: '/token',
  revocationPath: '/revoke',
  introspectionPath: '/introspect',
}

type Paths = Pick<ServerSettings, keyof typeof defaults>

/** Reads where each endpoint is below the issuer; no two may be at one path. */
export function resolvePaths(reading: OptionsReader): Paths {
  const taken = new Map<string, string>()
  const path = (key: keyof Paths) => {
    const cure =
      "must be a path such as '/token', as it stands in a URL: without query, fragment, '..' and letters that a URL encodes."
    const chosen = reading.optional(key, defaults[key], isPath, cure)
    const other = taken.get(chosen)
    if (other === undefined) taken.set(chosen, key)
    else reading.wrong(key, `must differ from ${other}.`)
    return chosen
  }
  return {
    authorizationPath: path('authorizationPath'),
    tokenPath: path('tokenPath'),
    revocationPath: path('revocationPath'),
    introspectionPath: path('introspectionPath'),
  }
}

// A path that a URL parser rewrites never arrives as it was written, and so no request would match it.
const isPath = (value: unknown): value is string =>
  isText(value) &&
  value !== '/' &&
  hasUriCharacters(value) &&
  URL.canParse(value, 'https://host') &&
  new URL(value, 'https://host').pathname === value
