// Several pure OAuth clients look at the second name first, so the same document is at both (RFC 8414 5).
const names = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

/** Where metadata is below the issuer's path, where the router is: the form of OpenID Connect Discovery 4. */
export const wellKnownBelowIssuer: readonly string[] = names

/**
 * Every path on the issuer's host at which clients look for its metadata: the well-known name before the issuer's path
 * (RFC 8414 3.1) and after it. Without a path the two are one.
 *
 * @param mount the issuer's path without a slash at its end.
 */
export function wellKnownPaths(mount: string): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name + mount, mount + name]))
}
