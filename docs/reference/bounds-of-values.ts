import { liveAccessTokens } from '../../lib/authorization/issue'
import {
  largestKeySet,
  publishedAtMost,
  registeredAtMost,
  setsAtMost,
} from '../../lib/client-authentication/client-keys'
import * as secrets from '../../lib/client-authentication/client-secret'
import * as fetching from '../../lib/clients/document-fetch/document-fetch'
import { longestAge, maximumHeaderSize, shortestAge } from '../../lib/clients/document-fetch/request-document'
import { longestUrl, maximumAbandoned, triedOfFamily } from '../../lib/clients/document-fetch/target-address'
import { longest as longestMetadata } from '../../lib/clients/dynamic-registration/registration-metadata'
import * as cache from '../../lib/clients/metadata-documents/document-cache'
import { longestList } from '../../lib/clients/stated-metadata'
import { largestModulus, longestJti, longestProof } from '../../lib/dpop/proof-check'
import { longestHeld, pause } from '../../lib/jwt/key-source'
import { longestJwt } from '../../lib/jwt/verify-jwt'
import { largestSectorFile, longestUri } from '../../lib/openid-connect/client-members'
import { longestToken } from '../../lib/protocol/access-token-format'
import * as credential from '../../lib/protocol/credential'
import { deepestJson, longestKept } from '../../lib/protocol/json'
import {
  largestMembers,
  longestEchoedState,
  longestValues,
  parametersAtMost,
} from '../../lib/protocol/parameters'
import { longestSubject } from '../../lib/protocol/resource-owner'
import { longestUri as longestKeysUri } from '../../lib/request-objects/request-objects'
import { longestInBytes } from '../../lib/token-endpoint/grant-types/password/password'
import { bound, defaults, inMinute, characters, bytes, time, number, byDefault } from './bound'

export const parameters = Array.from(longestValues, ([name, most]) =>
  bound(
    `\`${name}\``,
    characters(most),
    'properties/parameters: %s may have %i characters after decoding, and no more',
  ),
)

const sizeOfMember = (name: string) => (/uris$|hashes$/.test(name) ? 'entries' : 'characters')
export const members = largestMembers.map(([name, most]) =>
  bound(
    `\`${name}\``,
    number(most, sizeOfMember(name)),
    'properties/registrations: may have %s of %i, and no more',
  ),
)

const kept =
  'properties/host-values: what a plug-in keeps is JSON of 16384 characters and 32 levels, and no more'
const invalidProof = '`invalid_dpop_proof`'

export const values = [
  bound(
    'parameters of a query or a body',
    number(parametersAtMost),
    'properties/parameters: is one of 100 at most: %s',
    '`invalid_request`',
  ),
  bound(
    '`state` that comes back with its error',
    characters(longestEchoedState),
    'flows/authorization-request: as state of 4097 characters to 16 KiB goes back with the error',
    'an error page, against RFC 6749 4.1.2.1',
  ),
  bound(
    '`username` and `password`',
    bytes(longestInBytes),
    'flows/password: looks at a %s of 1024 bytes, and at none that is longer',
    '`invalid_grant`',
  ),
  bound(
    'JWT assertion or [request object](guides/request-objects.md)',
    characters(longestJwt),
    'rules/request-objects: [JAR-19] has at most 16 KiB, and a longer one is refused unread',
    'malformed',
  ),
  bound(
    'time until a request object ends (`maximumLifetime`)',
    time(defaults.objects.maximumLifetime),
    'rules/request-objects: [JAR-12] that ends as late as it may',
    '`invalid_request_object`',
  ),
  bound(
    'DPoP proof',
    characters(longestProof),
    'flows/dpop: takes a proof of 4096 characters, and none that is longer',
    invalidProof,
  ),
  bound(
    '`jti` of a DPoP proof',
    characters(longestJti),
    'flows/dpop: is refused with a proof whose claims are odd',
    invalidProof,
  ),
  bound(
    'RSA key of a DPoP proof',
    number(largestModulus, 'bits'),
    'flows/dpop: takes a proof by an RSA key of 4096 bits, and by none that is larger',
    invalidProof,
  ),
  bound(
    'access token in [a format](guides/extend-the-server.md)',
    characters(longestToken),
    'flows/access-token-formats: gets no text that no format can have written',
    'no token: formats do not see it',
  ),
  bound(
    'subject that your code returns',
    characters(longestSubject),
    'properties/host-values: a subject has 1024 characters, and no more',
    '`server_error`',
  ),
  bound('JSON that a plug-in keeps', characters(longestKept), kept, '`server_error`'),
  bound('levels of this JSON', number(deepestJson), kept, '`server_error`'),
]

export const registrations = [
  bound('member of a plug-in as JSON', characters(longestKept), kept),
  bound(
    'URL in a member of OpenID Connect',
    characters(longestUri),
    'flows/identity-members: has at most 2048 characters in %s',
  ),
  bound(
    '`jwks_uri`',
    characters(longestKeysUri),
    'rules/request-object-clients: [JAR-17] a jwks_uri has at most 2048 characters',
  ),
  bound(
    '`private_key_jwt` and `jwks`',
    number(registeredAtMost, 'keys each'),
    'flows/private-key-jwt: A registration may have 12 public keys or the URL of its keys, and not both',
  ),
  bound(
    'file at `sector_identifier_uri`',
    bytes(largestSectorFile),
    'flows/identity-members: shows a file of at most 64 KiB',
  ),
  bound(
    'all metadata of a client that registers itself, as JSON',
    characters(longestMetadata),
    'rules/dynamic-registration: [DCR-7] more than 16 384 characters in all',
  ),
  bound(
    'each list of a client that registers itself',
    number(longestList, 'entries'),
    'rules/dynamic-registration: [DCR-3] each list has at most 100 entries',
  ),
]

const { fetchesInMinute } = fetching
const taken = 'flows/document-fetch: is taken %s'
const queue = 'flows/document-limits: are 16 at most, 64 wait, and others are refused at once [document-7]'
const inOneMinute = 'flows/document-limits: are %s [document-7]'
const byHeaders = 'flows/document-fetch: A document is kept by its headers, from a minute to a day'
const inStore =
  'flows/kept-documents: takes 4096 documents of strangers, a quarter of them of one network, and none that is long [stranger-11]'

export const documents = [
  bound(
    'URL',
    characters(longestUrl),
    'flows/document-fetch: has a URL of 2048 characters, and no longer one',
  ),
  bound('metadata', bytes(fetching.usualSize), taken),
  bound(
    'set of keys',
    bytes(largestKeySet),
    'flows/private-key-jwt: of a byte more is a reason to try again',
  ),
  bound('keys in a set', number(publishedAtMost), 'flows/private-key-jwt: may publish 32 keys, and no more'),
  bound('levels of JSON', number(deepestJson), taken),
  bound('headers', bytes(maximumHeaderSize), 'flows/document-fetch: with a head of a byte less than 8 KiB'),
  bound(
    'time, with DNS and waiting',
    time(fetching.timeout / 1000),
    'flows/document-fetch: Whatever is slow ends two seconds after the call, with its connection [document-6]',
  ),
  bound(
    'addresses tried, of IPv4 and of IPv6',
    number(triedOfFamily, 'each'),
    'flows/document-addresses: the second address is asked if the first does not answer, and no third [document-7]',
  ),
  bound('fetches at once', number(fetching.atOnce), queue),
  bound('fetches that wait', number(fetching.longestQueue), queue),
  bound(
    'look-ups that outlive their fetch',
    number(maximumAbandoned),
    'flows/document-limits: end with their deadline and free their places, while 64 look-ups run on at most [document-6]',
  ),
  bound(
    'fetches at once for one network',
    number(fetching.atOnceOfSender),
    'flows/document-limits: of one sender are 8 at most, and other senders are not refused [document-8]',
  ),
  bound('fetches for one network from one name', inMinute(fetchesInMinute.ofSenderFromHost), inOneMinute),
  bound('fetches for one network', inMinute(fetchesInMinute.ofSender), inOneMinute),
  bound('fetches from one name', inMinute(fetchesInMinute.fromHost), inOneMinute),
  bound('fetches from one address', inMinute(fetchesInMinute.fromNetwork), byDefault),
  bound('current by its headers, at least for', time(shortestAge), byHeaders),
  bound('current by its headers, at most for', time(longestAge), byHeaders),
  bound(
    'old metadata stand in, if a limit or silence prevents a fetch, for',
    time(cache.longestKept / 1000),
    'flows/kept-documents: stands in for a day while a fetch fails by %s, which others can cause, in a new process too [stranger-10]',
  ),
  bound(
    'old keys stand in for',
    time(longestHeld),
    'flows/private-key-jwt: counts for no sender, and its keys stand in for an hour while others use up the limits of its host [document-8]',
  ),
  bound(
    'time between fetches of keys, at least',
    time(pause),
    'flows/private-key-jwt: may change them at once, but unknown keys make one fetch in 10 seconds',
  ),
  bound(
    'metadata in memory',
    number(cache.knownAtMost, 'documents'),
    'flows/kept-documents: 1000 documents stay in memory, and the next one pushes out the one that was used longest ago',
  ),
  bound(
    'sets of keys in memory',
    number(setsAtMost),
    'flows/private-key-jwt: 2000 sets of keys stay in memory, and the next one pushes out the one that was used longest ago',
  ),
  bound('metadata of one process in the store', number(cache.storedAtMost, 'documents'), inStore),
  bound('of these, caused by one network', number(cache.storedForNetwork), inStore),
  bound('metadata in the store, as JSON', characters(cache.longestText), inStore),
]

const { createCredential, createId, createRefreshToken, secureRandom } = credential
const id = createId(secureRandom)
const credentials = [
  ['authorization code', createCredential('authorizationCode', id, secureRandom)],
  ['access token', createCredential('accessToken', id, secureRandom)],
  ['refresh token', createRefreshToken(id, 0, id, secureRandom)],
  ['consent token', createCredential('authorizationRequest', id, secureRandom)],
  ['handle, such as a device code', createCredential('requestHandle', id, secureRandom)],
  ['reference to a demanded login', createCredential('loginReference', id, secureRandom)],
] as const

export const sizes = [
  ...credentials.map(([what, text]) =>
    bound(
      `${what} (\`${text.slice(0, 3)}\`)`,
      characters(text.length),
      'properties/credentials: %s has its shape, its id, and 43 random letters of its own [token-1]',
    ),
  ),
  bound(
    '`client_id`, unless you choose it',
    characters(id.length),
    'rules/registration: [REG-3] what is issued has the size that the documentation says',
  ),
  bound(
    'client secret, generated or issued',
    characters(secrets.generateClientSecret().client_secret.length),
    'flows/credentials: A generated secret has 256 bits, another one each time, and a digest that no other text matches [client-12]',
  ),
]

export const live = bound(
  'live access tokens of an authorization',
  number(liveAccessTokens),
  'flows/refresh: keeps the 32 newest access tokens of an authorization good until they expire; the 33rd ends the oldest [token-21]',
)
