import { isText, type Reading } from './protocol/configuration'
import type { Settings } from './settings'

const defaults = {
  authorizationPath: '/authorize',
  tokenPath: '/token',
  revocationPath: '/revoke',
  introspectionPath: '/introspect',
}

type Paths = Pick<Settings, keyof typeof defaults>

/** Reads where each endpoint is below the issuer; no two may be at one path. */
export function resolvePaths(reading: Reading): Paths {
  const taken = new Map<string, string>()
  const path = (key: keyof Paths) => {
    const cure = "must be a path such as '/token', without query and fragment."
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

const isPath = (value: unknown): value is string => isText(value) && /^\/[^?#\s]+$/.test(value)
