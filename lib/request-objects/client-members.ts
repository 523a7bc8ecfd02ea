import { mistakeInKeys } from '../client-authentication/client-keys'
import { isText } from '../primitives/values'
import { booleanMember, type Client, type ClientMember, privateKeyJwtName } from '../protocol/client'
import { dataOf } from '../protocol/extension-data'
import type { Json } from '../protocol/json'

const longestUri = 2048

/** RFC 9101 10.5, RFC 7591 2. */
export function requestObjectMembers(algorithms: readonly string[]): readonly ClientMember[] {
  return [
    {
      name: 'jwks',
      mistakeIn: mistakeInKeys,
      conflictIn: (_keys, { members }) =>
        members['jwks_uri'] === undefined ? undefined : 'cannot stand together with jwks_uri.',
    },
    {
      name: 'jwks_uri',
      mistakeIn: (uri) =>
        isText(uri) && uri.length <= longestUri && mistakeInKeys({ jwks_uri: uri }) === undefined
          ? undefined
          : `must be an https URL of at most ${longestUri} characters, without user name, password and fragment.`,
    },
    {
      name: 'request_object_signing_alg',
      mistakeIn: (algorithm) =>
        isText(algorithm) && algorithms.includes(algorithm)
          ? undefined
          : `must be one of ${algorithms.join(', ')}.`,
    },
    {
      ...booleanMember('require_signed_request_object'),
      conflictIn: (value, client) =>
        value === true && keysIn(client) === undefined
          ? 'needs the keys of the client, in jwks, jwks_uri or credentials.private_key_jwt.'
          : undefined,
    },
  ]
}

/** As `{ keys }` or `{ jwks_uri }`. */
export function keysIn({ members: { jwks, jwks_uri }, credentials }: Client): Json | undefined {
  if (jwks !== undefined) return jwks
  return jwks_uri === undefined ? dataOf(privateKeyJwtName, credentials) : { jwks_uri }
}

export function algorithmsFor(
  { members: { request_object_signing_alg: only } }: Client,
  offered: readonly string[],
): readonly string[] {
  return only === undefined ? offered : offered.filter((algorithm) => algorithm === only)
}

export const requiresRequestObject = ({ members }: Client): boolean =>
  members['require_signed_request_object'] === true
