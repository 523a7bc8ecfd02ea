/** The scheme of an `Authorization` header, in lower case: schemes have no case of their own (RFC 9110 11.1). */
export function schemeOf(header: string): string {
  const end = header.indexOf(' ')
  return (end < 0 ? header : header.slice(0, end)).toLowerCase()
}

/**
 * The challenge to a client that did not authenticate (RFC 6749 5.2): by the scheme that it tried. One that tried none,
 * or one that this server does not have, such as Digest, is told all that there are: a challenge by a scheme that can
 * never succeed would only be tried again.
 *
 * @param schemes what is offered, Basic first.
 * @param authorization the `Authorization` headers of the request.
 */
export function challengeOf(schemes: readonly string[], authorization: readonly string[]): string {
  const tried = new Set(authorization.map(schemeOf))
  const known = schemes.filter((scheme) => tried.has(scheme.toLowerCase()))
  return (known.length > 0 ? known : schemes).map(challengeBy).join(', ')
}

// RFC 7617 2.1: Basic alone tells its charset.
const challengeBy = (scheme: string) =>
  scheme === 'Basic' ? 'Basic realm="oauth", charset="UTF-8"' : `${scheme} realm="oauth"`
