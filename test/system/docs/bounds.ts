import { secondsToHear } from '../../../lib/authorization/authorization'
import { liveAccessTokens } from '../../../lib/authorization/issue'
import { entriesAtMost, entriesOfClientAtMost } from '../../../lib/authorization/owner-entries'
import { longestConsent, longestConsents } from '../../../lib/authorization/owners'
import { bcryptBytes, longestLine, usualThreads } from '../../../lib/client-authentication/bcrypt'
import {
  largestKeySet,
  publishedAtMost,
  registeredAtMost,
  setsAtMost,
} from '../../../lib/client-authentication/client-keys'
import * as secrets from '../../../lib/client-authentication/client-secret'
import * as fetching from '../../../lib/clients/document-fetch/document-fetch'
import {
  longestAge,
  maximumHeaderSize,
  shortestAge,
} from '../../../lib/clients/document-fetch/request-document'
import {
  longestUrl,
  maximumAbandoned,
  triedOfFamily,
} from '../../../lib/clients/document-fetch/target-address'
import { longest as longestMetadata } from '../../../lib/clients/dynamic-registration/registration-metadata'
import { fields as registering } from '../../../lib/clients/dynamic-registration/registration-options'
import * as cache from '../../../lib/clients/metadata-documents/document-cache'
import { longestList } from '../../../lib/clients/stated-metadata'
import { fields as options, limitsOf, usualShare } from '../../../lib/config/resolve-options'
import { fields as devices } from '../../../lib/device-authorization/device-authorization'
import {
  length as codeLength,
  letters as codeLetters,
} from '../../../lib/device-authorization/device-request'
import { largestModulus, longestJti, longestProof } from '../../../lib/dpop/proof-check'
import { factorOfAnswers } from '../../../lib/http/network-limits'
import { bytesAtMost, shortBytes } from '../../../lib/http/request'
import { longestHeld, pause } from '../../../lib/jwt/key-source'
import { longestJwt } from '../../../lib/jwt/verify-jwt'
import type { Limit } from '../../../lib/limits/limit'
import { factorOfWidest } from '../../../lib/limits/network'
import { keysAtMost } from '../../../lib/limits/shares'
import { networksAtMost } from '../../../lib/limits/windows'
import { largestSectorFile, longestUri } from '../../../lib/openid-connect/client-members'
import { group, readOptions } from '../../../lib/primitives/schema'
import { longestToken } from '../../../lib/protocol/access-token-format'
import * as credential from '../../../lib/protocol/credential'
import { deepestJson, longestKept } from '../../../lib/protocol/json'
import { answersAtMost, longestValue } from '../../../lib/protocol/owner-question'
import {
  largestMembers,
  longestEchoedState,
  longestValues,
  parametersAtMost,
} from '../../../lib/protocol/parameters'
import { longestSubject } from '../../../lib/protocol/resource-owner'
import { fields as pushing, largestRequest } from '../../../lib/pushed-requests/pushed-requests'
import { fields as objects, longestUri as longestKeysUri } from '../../../lib/request-objects/request-objects'
import { usualMaximum } from '../../../lib/store/memory-store'
import {
  fields as passwords,
  longestInBytes,
} from '../../../lib/token-endpoint/grant-types/password/password'

// The bounds of docs/bounds.md: each number comes from the code, and a test goes to it and beyond.

export interface Bound {
  readonly what: string
  readonly most: number
  readonly unit: string
  /** For a number in a time. */
  readonly seconds?: number
  /** Where the section does not say it. */
  readonly beyond: string
  /** A file in `test/` without its end, and the title of a test in it. */
  readonly test: string
}

const bound = (
  what: string,
  size: Pick<Bound, 'most' | 'unit' | 'seconds'>,
  test: string,
  beyond = '',
): Bound => ({ what, ...size, test, beyond })

const defaults = readOptions(
  '',
  {
    lifetimes: options.lifetimes,
    bodyDeadline: options.bodyDeadline,
    rememberConsent: options.rememberConsent,
    limits: limitsOf(readOptions('', { lifetimes: options.lifetimes }, {}).lifetimes),
    device: group(devices),
    pushing: group(pushing),
    passwords: passwords.limits,
    objects: group(objects),
    maximumClients: registering.maximumClients,
    unusedLifetime: registering.unusedLifetime,
  },
  { rememberConsent: true },
)
const { lifetimes, limits, device, maximumClients, unusedLifetime } = defaults
const pushes = defaults.pushing.limits

/** So many in so much time. A default is never off. */
const often = (limit: Limit | undefined, factor = 1) => ({
  most: (limit?.attempts ?? NaN) * factor,
  unit: '',
  seconds: limit?.seconds ?? NaN,
})
const inMinute = (attempts: number) => often({ attempts, seconds: 60 })
const characters = (most: number) => ({ most, unit: 'characters' })
const bytes = (most: number) => ({ most, unit: 'bytes' })
const time = (most: number) => ({ most, unit: 'seconds' })
const number = (most: number, unit = '') => ({ most, unit })

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
const byDefault = 'properties/limits: %s are %i in a minute, and no more'
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

const ends = '`invalid_request`, and the connection ends'
export const requests = [
  bound(
    'body',
    bytes(bytesAtMost),
    'flows/bodies: 64 KiB in %d pieces are read, and one byte more is not [input-8]',
    ends,
  ),
  bound(
    'time for the whole body (`bodyDeadline`)',
    time(defaults.bodyDeadline),
    'flows/bodies: A body has 10 seconds by default',
    ends,
  ),
  bound(
    'levels of a JSON body',
    number(deepestJson),
    'flows/endpoints: has up to 32 levels, also if the host has parsed it',
    '`invalid_request`',
  ),
  bound(
    'pushed request',
    bytes(largestRequest),
    'rules/pushed-requests: [PAR-11] a request that is too large is 413, and too many requests are 429 with Retry-After',
    '413, `invalid_request`',
  ),
]

const { networks } = limits
const logins = networks.authorization && {
  ...networks.authorization,
  seconds: lifetimes.authorizationRequest,
}
const ofKinds = 'flows/rate-limit: is 600 a minute for each kind of endpoint unless the host says otherwise'
const ofRegistrations = 'flows/dynamic-registration: of %s are %i in ten minutes by default'

export const networkLimits = [
  bound(
    'authorization requests, decisions included (`authorization`)',
    often(networks.authorization),
    ofKinds,
  ),
  bound(
    'open demanded logins (`authorization`)',
    often(logins),
    'flows/prompt: are 600 of one network in the time of a request by default',
  ),
  bound('failures at other endpoints (`clients`)', often(networks.clients), ofKinds),
  bound(
    'polls without tokens, and demands of a DPoP nonce (`clients`)',
    often(networks.clients, factorOfAnswers),
    'flows/rate-limit: counts apart, ten times as high, and refuses nothing else: %s',
  ),
  bound(
    'registrations and updates of clients (`registration`)',
    often(networks.registration),
    ofRegistrations,
  ),
  bound('the same, from a /48', often(networks.registration, factorOfWidest), ofRegistrations),
  bound('[pushed requests](guides/pushed-requests.md)', often(pushes.network), byDefault),
  bound('the same, from a /48', often(pushes.network, factorOfWidest), byDefault),
  bound(
    'requests of [devices](guides/devices.md)',
    often(device.requests),
    'flows/device-authorization: is one of 100 of its network in ten minutes by default',
  ),
]

export const ofNetworks = {
  body: bound(
    'body of a network over its limit',
    bytes(shortBytes),
    'flows/past-network-limit: a body of 16 KiB is read in any case, and one byte more is not',
  ),
  counted: bound(
    'networks that one process counts',
    number(networksAtMost),
    'campaign/limits: A network for whose count there is no room passes, and none that is counted gets a new count by it [store-35]',
  ),
}

export const shares = [
  bound(
    'open consent pages of one resource owner (`openRequests`)',
    often(limits.openRequests),
    'flows/past-network-limit: are limited to 100 unless the host says otherwise',
  ),
  bound('tokens to one client (`issuing.client`)', often(limits.issuing.client), byDefault),
  bound(
    'tokens for one resource owner at one client (`issuing.owner`)',
    often(limits.issuing.owner),
    byDefault,
  ),
  bound('single uses of one client (`singleUses`)', often(limits.singleUses), byDefault),
  bound(
    '[pushed requests](guides/pushed-requests.md) of one client with credentials',
    often(pushes.client),
    byDefault,
  ),
]

export const counted = bound(
  'clients or owners that one process counts',
  number(keysAtMost),
  'campaign/limits: Many clients drive no count out of memory: those without room share one [store-30]',
)

export const selfRegistered = {
  used: bound(
    'clients that one resource owner uses',
    number(usualShare),
    'flows/self-registered-share: is 50 clients by default',
  ),
  new: bound(
    'new clients',
    often({ attempts: maximumClients, seconds: unusedLifetime }),
    'properties/limits: 10000 clients register themselves within the time of an unused one, and no more',
  ),
  unused: bound(
    'life of an unused client',
    time(unusedLifetime),
    'flows/self-registered-share: falls back to an hour, by another client or by the owner',
  ),
}

const givesWay = '[some give way](guides/users-and-their-apps.md)'
export const records = [
  bound(
    'records of each kind in the memory store (`maximumRecords`)',
    number(usualMaximum),
    'stores/memory: has room for 100000 records of each kind by default',
    '`temporarily_unavailable` until one expires',
  ),
  bound(
    'authorizations of one resource owner',
    number(entriesAtMost),
    'system/flows/full-list-of-an-owner: 1000 of all clients',
    givesWay,
  ),
  bound(
    'of these, for one client',
    number(entriesOfClientAtMost),
    'system/flows/full-list-of-an-owner: 100 of one client',
    givesWay,
  ),
  bound(
    'remembered consent of one resource owner to one client',
    characters(longestConsent),
    'properties/stored-form: of 16384 characters for one client, and of a longer one the newest part',
    'the oldest part goes',
  ),
  bound(
    'all remembered consents of one resource owner',
    characters(longestConsents),
    'properties/stored-form: of 65536 characters in all, and beyond that those that end last',
    'what ends first goes',
  ),
]

const answers = 'flows/choices: may have 100 answers, and values of 128 characters'
export const consent = [
  bound(
    'life of a remembered consent (`rememberConsent.seconds`)',
    time(defaults.rememberConsent?.seconds ?? NaN),
    'flows/remembered-consent: lasts for a year by default',
    'the page comes again',
  ),
  bound('answers to one question', number(answersAtMost), answers, '`server_error`'),
  bound('value of an answer', characters(longestValue), answers, '`server_error`'),
]

const lifeOfCode =
  'flows/device-authorization: has ten minutes for its owner, and hears of the end for two more'
export const codes = [
  bound(
    'user code',
    number(codeLength, `letters of ${codeLetters.length}`),
    'flows/device-authorization: A user code is two times four letters without vowels, and a new one each time',
  ),
  bound('life of a code (`lifetime`)', time(device.lifetime), lifeOfCode),
  bound('the client hears of the end for', time(secondsToHear), lifeOfCode),
  bound(
    'wrong codes of one resource owner (`guesses.owner`)',
    often(device.guesses.owner),
    'flows/user-codes: of one owner are limited, wherever they come from, and then no store is asked',
  ),
  bound(
    'wrong codes of one network (`guesses.network`)',
    often(device.guesses.network),
    'flows/user-codes: of one network are limited, whoever enters them, and another network has no part in it',
  ),
  bound(
    'the same, from a /48',
    often(device.guesses.network, factorOfWidest),
    'flows/user-codes: of one subscriber of IPv6 are limited over all its networks',
  ),
]

const ofSecrets = limits.clientAuthentication
const ofPasswords = defaults.passwords
const clientsByDefault =
  'flows/limits-of-clients: has room for 500 failures of an address and for 1000 of a client'
const passwordsByDefault =
  'flows/password-limits: Guessing at passwords may fail so often for one %s by default: %i times'

export const failures = [
  bound(
    'secrets of a client at one address (`clientAndAddress`)',
    often(ofSecrets.clientAndAddress),
    'flows/limits-of-clients: allows 20 failures of a client and an address in 15 minutes by default',
  ),
  bound('secrets of a client (`client`)', often(ofSecrets.client), clientsByDefault),
  bound('secrets at one address (`address`)', often(ofSecrets.address), clientsByDefault),
  bound(
    'passwords of a user name (`username`)',
    often(ofPasswords.username),
    'flows/password-limits: allows 10 failures of a user name in 15 minutes by default',
  ),
  bound('passwords at one address (`address`)', often(ofPasswords.address), passwordsByDefault),
  bound('passwords at one client (`client`)', often(ofPasswords.client), passwordsByDefault),
]

const inMemory =
  'properties/limits: 1000 right secrets stay in memory, each for a day, and for five minutes without another look'
const besieged =
  'flows/client-authentication: four are verified at once, 32 wait, and the others get Retry-After, uncounted [store-22]'

export const secret = {
  longest: bound(
    'chosen secret or password',
    bytes(bcryptBytes),
    'flows/credentials: A bcrypt digest is %s [client-9, client-10]',
  ),
  known: bound('a right secret stays known', time(secrets.knownSeconds), inMemory),
  fresh: bound('a right secret is not looked at again', time(secrets.freshSeconds), inMemory),
  inMemory: bound('known secrets', number(secrets.rememberedAtMost), inMemory),
  atOnce: bound('comparisons at once', number(usualThreads), besieged),
  waiting: bound('comparisons that wait', number(longestLine), besieged),
}

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

const groups = { parameters, members, values, registrations, documents, requests, networkLimits, shares }
export const allBounds: readonly Bound[] = [
  ...Object.values(groups).flat(),
  ...[records, consent, codes, failures, sizes].flat(),
  ...[ofNetworks, selfRegistered, secret].flatMap((named) => Object.values(named)),
  counted,
  live,
]
