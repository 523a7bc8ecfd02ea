import { secondsToHear } from '../../lib/authorization/authorization'
import { entriesAtMost, entriesOfClientAtMost } from '../../lib/authorization/owner-entries'
import { longestConsent, longestConsents } from '../../lib/authorization/owners'
import { bcryptBytes, longestLine, usualThreads } from '../../lib/client-authentication/bcrypt'
import * as secrets from '../../lib/client-authentication/client-secret'
import { usualShare } from '../../lib/config/resolve-options'
import { length as codeLength, letters as codeLetters } from '../../lib/device-authorization/device-request'
import { factorOfAnswers } from '../../lib/http/network-limits'
import { bytesAtMost, shortBytes } from '../../lib/http/request'
import { factorOfWidest } from '../../lib/limits/network'
import { keysAtMost } from '../../lib/limits/shares'
import { networksAtMost } from '../../lib/limits/windows'
import { deepestJson } from '../../lib/protocol/json'
import { answersAtMost, longestValue } from '../../lib/protocol/owner-question'
import { largestRequest } from '../../lib/pushed-requests/pushed-requests'
import { usualMaximum } from '../../lib/store/memory-store'
import { bound, defaults, often, characters, bytes, time, number, byDefault } from './bound'

const { lifetimes, limits, device, maximumClients, unusedLifetime } = defaults
const pushes = defaults.pushing.limits

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
