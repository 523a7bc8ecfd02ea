export const urlBelow = (issuer: string, path: string): string => issuer.replace(/\/+$/, '') + path

// RFC 8414 5: several OAuth-only clients request the second first, so both serve one document.
const names = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

/** OpenID Connect Discovery 4. */
export const wellKnownBelowIssuer: readonly string[] = names

/**
 * Before the issuer's path (RFC 8414 3.1), and after it. @param resources paths: clients that know only an
 * MCP server put its path behind the name.
 */
export function wellKnownPaths(mount: string, resources: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.flatMap((name) => [name + mount, mount + name].concat(resources.map((path) => name + path))),
  )
}
