import type { Chance } from '../../support/races/chance'
import type { ClientApplication } from '../../support/flows/clients'
import { basic } from '../../support/flows/flow'
import { bends } from './hostile-values'
import { bodyOf, formEncode, type Message, type Pair } from './message'
import { pairsOf, withPairs, type Mutate } from './mutation'
import { everyParty, stranger } from './parties'

const types = [
  'application/json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded; charset=iso-8859-1',
  'application/x-www-form-urlencoded; charset=UTF-8',
  'APPLICATION/X-WWW-FORM-URLENCODED',
  'application/x-www-form-urlencoded, application/json',
  'application/xml',
  '',
] as const
const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'post',
] as const
const paths = [
  '/authorize',
  '/token',
  '/revoke',
  '/introspect',
  '/photos',
  '/metadata',
  '/',
  '//token',
] as const
const hosts = [
  'elsewhere.example',
  '',
  'localhost:1',
  'api.example.com:443',
  '[::1',
  'a b',
  '169.254.1.1',
] as const
const extraHeaders: readonly [Pair, ...Pair[]] = [
  ['X-Forwarded-Proto', 'https'],
  ['X-Forwarded-Host', 'elsewhere.example'],
  ['X-Forwarded-For', '10.0.0.1'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['Sec-Fetch-Site', 'cross-site'],
  ['Origin', 'https://elsewhere.example'],
  ['Origin', 'null'],
  ['Content-Encoding', 'gzip'],
  ['Authorization', 'Bearer x'],
  ['Authorization', 'Digest username="x"'],
  ['Cookie', '__proto__=1'],
  ['If-None-Match', '*'],
  ['Range', 'bytes=0-0'],
  ['Accept', 'text/xml'],
]

const parties: readonly [ClientApplication, ...ClientApplication[]] = [stranger, stranger, ...everyParty]

const setHeader = (message: Message, name: string, value: string): Message => ({
  ...message,
  headers: [
    ...message.headers.filter(([given]) => given.toLowerCase() !== name.toLowerCase()),
    [name, value],
  ],
})

/** What may be done to a message as a whole. */
export const messageMutations: readonly Mutate[] = [
  (message, { chance }) => ({ ...message, method: chance.among(methods) }),
  (message, { chance }) => ({ ...message, path: chance.among(paths) }),
  (message, { chance, mark }) => ({
    ...message,
    path: chance.among(bends)(message.path, chance, mark) || '/',
  }),
  (message, { chance }) => setHeader(message, 'Host', chance.among(hosts)),
  (message, { chance }) => setHeader(message, 'Content-Type', chance.among(types)),
  (message) => ({
    ...setHeader(message, 'Content-Type', 'application/json'),
    body: JSON.stringify(Object.fromEntries(pairsOf(message, 'body'))),
  }),
  (message, { chance }) => ({ ...message, headers: [...message.headers, chance.among(extraHeaders)] }),
  (message, { chance }) => ({
    ...message,
    headers: message.headers.map(([name, value]) => [
      chance.below(2) === 0 ? name.toUpperCase() : name.toLowerCase(),
      value,
    ]),
  }),
  (message, { chance, mark }) => ({ ...message, body: chance.among(bends)(bodyOf(message), chance, mark) }),
  (message, { chance, other }) => ({ ...message, body: spliced(bodyOf(message), bodyOf(other), chance) }),
  (message, { other }) => ({ ...message, body: other.body }),
  (message) => ({ ...message, query: [...message.query, ...pairsOf(message, 'body')], body: [] }),
  (message) => ({ ...message, body: [...pairsOf(message, 'body'), ...message.query], query: [] }),
  (message, { chance }) => {
    const { registration, secret = '' } = chance.among(parties)
    return setHeader(message, 'Authorization', basic(registration.client_id, secret))
  },
  (message, { chance }) => {
    const { registration, secret = '' } = chance.among(parties)
    const fields: Pair[] = [
      ['client_id', formEncode(registration.client_id)],
      ['client_secret', formEncode(secret)],
    ]
    return withPairs(message, 'body', [...pairsOf(message, 'body'), ...fields])
  },
]

function spliced(one: string, other: string, chance: Chance): string {
  return one.slice(0, chance.below(one.length + 1)) + other.slice(chance.below(other.length + 1))
}
