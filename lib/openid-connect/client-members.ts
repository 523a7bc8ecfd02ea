import { isBoolean, isList, isRecord, isText, isTexts, isWhole, tenYears } from '../primitives/values'
import {
  type Client,
  type ClientMember,
  type ClientStatement,
  isRegisteredByHost,
  privateKeyJwtName,
} from '../protocol/client'
import type { AuthorizationTerms } from '../protocol/extension'
import type { Json } from '../protocol/json'
import { isTooLong } from '../protocol/parameters'
import { isLoopback, isSafeUrl, plainUrl, protocolOf, safeUrlExpectation } from '../protocol/uri'
import type { SigningAlgorithm } from '../jwt/signing-keys/signing-key'
import { answersElsewhere, publicSubject, sectorOf, type SubjectFor } from './owner-claims'

export const longestUri = 2048
// Bytes.
export const largestSectorFile = 64 * 1024

/** Dynamic Client Registration 1.0, 2; Back-Channel Logout 1.0, 2.2. */
export function identityMembers(
  issuer: string,
  algorithms: readonly SigningAlgorithm[],
  subjectFor: SubjectFor,
  announces: boolean,
): readonly ClientMember[] {
  return [
    subjectType(subjectFor),
    sectorIdentifierUri,
    oneOf('id_token_signed_response_alg', algorithms),
    checked('default_max_age', isWhole(0, tenYears), `must be whole seconds, 0 to ${tenYears}.`),
    checked('require_auth_time', isBoolean, 'must be true or false.'),
    checked('id_token_claims', isBoolean, 'must be true or false.'),
    checked('default_acr_values', areAcrValues, acrExpectation),
    // The server never goes there.
    checked('initiate_login_uri', (value) => isPlainHttps(value), httpsExpectation),
    { ...logoutUri(issuer), isGranted: () => announces },
    {
      ...checked(
        'backchannel_logout_session_required',
        (value) => value === false,
        'must be false: a logout token of this server has the sub of the owner, and no sid.',
      ),
      isGranted: (value) => announces && value !== true,
    },
  ]
}

const checked = (name: string, isGood: (value: Json) => boolean, expectation: string): ClientMember => ({
  name,
  mistakeIn: (value) => (isGood(value) ? undefined : expectation),
})

const oneOf = (name: string, values: readonly string[]): ClientMember =>
  checked(name, (value) => isText(value) && values.includes(value), `must be ${values.join(' or ')}.`)

function subjectType(subjectFor: SubjectFor): ClientMember {
  const hasPairwise = subjectFor !== publicSubject
  return {
    name: 'subject_type',
    mistakeIn(value) {
      if (value === 'public' || (value === 'pairwise' && hasPairwise)) return undefined
      return value === 'pairwise'
        ? 'must be public: openIdConnect() has no option pairwise here.'
        : 'must be public or pairwise.'
    },
    conflictIn: (value, client) =>
      value === 'pairwise' && sectorOf(client) === undefined
        ? 'needs a sector_identifier_uri, because the redirection URIs do not name one host.'
        : undefined,
    ...(hasPairwise && { subjectFor }),
    // `conflictIn` checks registrations of the host.
    verify: async (value, { client }) =>
      value === 'pairwise' && sectorOf({ ...client, selfRegistered: true }) === undefined
        ? 'needs a sector_identifier_uri, because a grant type of the client needs no redirection URI.'
        : undefined,
  }
}

const httpsExpectation = `must be an https URL of at most ${longestUri} characters, without user name, password and fragment.`
const isPlainHttps = (value: Json) =>
  isText(value) && value.length <= longestUri && plainUrl(value)?.protocol === 'https:'

const sectorIdentifierUri: ClientMember = {
  name: 'sector_identifier_uri',
  mistakeIn: (value) => (isPlainHttps(value) ? undefined : httpsExpectation),
  // OpenID Connect Core 8.1: else a client could get the identifiers of the sector of others.
  async verify(value, { client, fetchDocument }: ClientStatement) {
    const listed = isText(value) ? await fetchDocument(value, largestSectorFile) : undefined
    if (!isList(listed) || !client.redirect_uris.every((uri) => listed.includes(uri)))
      return 'must lead to a JSON list that holds every redirection URI of the client.'
    return answersElsewhere(client) &&
      !namesOf(client).some((name) => name !== undefined && listed.includes(name))
      ? 'must lead to a JSON list that names the client by its client_id or by the jwks_uri of private_key_jwt, because a grant type of the client needs no redirection URI.'
      : undefined
  },
}

// OpenID Connect CIBA Core 4: the keys of a client name it where no redirection URI does.
const namesOf = ({ client_id, credentials }: Client): readonly (Json | undefined)[] => {
  const keys = credentials[privateKeyJwtName]
  return [client_id, ...(isRecord(keys) ? [keys['jwks_uri']] : [])]
}

function logoutUri(issuer: string): ClientMember {
  return {
    name: 'backchannel_logout_uri',
    mistakeIn(value) {
      if (!isText(value) || !isSafeUrl(value)) return safeUrlExpectation
      return value.length <= longestUri ? undefined : `must have at most ${longestUri} characters.`
    },
    // A stranger must not name a program on this machine.
    verify: async (value) =>
      (isText(value) && protocolOf(value) === 'https:') || isLoopback(new URL(issuer).hostname)
        ? undefined
        : 'must be an https URL.',
  }
}

const acrExpectation = 'must be a list of names without spaces, of at most 1024 characters in all.'
const areAcrValues = (value: Json) =>
  isTexts(value) &&
  value.every((name) => /^[\x21-\x7E]+$/.test(name)) &&
  !isTooLong('acr_values', value.join(' '))

export function algorithmOf(
  client: Client,
  algorithms: readonly SigningAlgorithm[],
  usual: SigningAlgorithm,
): SigningAlgorithm {
  const chosen = client.members['id_token_signed_response_alg']
  // Dynamic Client Registration 1.0, 2.
  const unnamed = isRegisteredByHost(client) ? usual : 'RS256'
  return algorithms.find((algorithm) => algorithm === chosen) ?? unnamed
}

export function hasScopeClaims({ members }: Client, usual: boolean): boolean {
  const { id_token_claims: own } = members
  return isBoolean(own) ? own : usual
}

export function loginDefaultsOf({ members }: Client): Pick<AuthorizationTerms, 'loginDefaults'> {
  const { default_max_age: maxAge, default_acr_values: acrValues } = members
  if (maxAge === undefined && acrValues === undefined) return {}
  return {
    loginDefaults: {
      ...(typeof maxAge === 'number' && { maxAge }),
      ...(isTexts(acrValues) && { acrValues }),
    },
  }
}
