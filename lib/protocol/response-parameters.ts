// What the answer of the authorization endpoint brings: RFC 6749 4.1.2, 4.1.2.1 and 4.2.2, RFC 9207. PHP reads a dot, a
// space and an opening bracket within a name as `_`; others skip space and NUL around it, and what follows a bracket.
const responseParameter =
  /^[\s\0]*(?:code|state|iss|scope|error(?:[_. [](?:description|uri))?|access[_. []token|token[_. []type|expires[_. []in)[\s\0]*(?:[[\0].*)?$/is

/**
 * Whether a query of a redirection URI holds a name that belongs to the answer. RFC 6749 3.1: no response parameter
 * comes twice, and a `code` of the query before ours would be taken for ours. Names are read as the most lenient parsers
 * do: they split at `;`, fold case, read `code[]` as `code`, and decode overlong UTF-8 (RFC 3629 10).
 */
export function holdsResponseParameter(query: string): boolean {
  // `URLSearchParams` skips a second question mark.
  const pairs = query.replace(/^\?/, '').split(/[&;]/)
  return pairs.some((pair) => responseParameter.test(decoded(pair.split('=', 1).join())))
}

// RFC 3629 3: none of these octets stands in good UTF-8. The last seven bits tell which ASCII character is meant.
const overlong =
  /(?:[\xC0\xC1]|\xE0[\x80\x81]|\xF0\x80[\x80\x81]|\xF8\x80{2}[\x80\x81]|\xFC\x80{3}[\x80\x81])[^]/g

function decoded(name: string): string {
  const octets = name
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(overlong, (long) => {
      const [high, low] = [long.charCodeAt(long.length - 2), long.charCodeAt(long.length - 1)]
      return String.fromCharCode(((high & 0b1) << 6) | (low & 0b111111))
    })
  return Buffer.from(octets, 'latin1').toString()
}
