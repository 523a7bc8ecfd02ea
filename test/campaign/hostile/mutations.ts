import type { Chance } from '../../support/chance'
import type { ClientApplication } from '../../support/flows/clients'
import { basic } from '../../support/flows/flow'
import { everyParty, stranger } from '../parties'
import { bodyOf, encodedPairs, type Message, type Pair } from './message'
import { bends, hostileNames } from './values'

/** What a mutation may use. */
interface Means {
  readonly chance: Chance
  /** A text that is in no other request. */
  readonly mark: string
  /** Another valid request. */
  readonly other: Message
}

type Mutate = (message: Message, means: Means) => Message

type Part = 'query' | 'body' | 'headers'

/** The pairs of a part of which there are any; a body that is a form no more has none. */
function pairsOf(message: Message, part: Part): readonly Pair[] {
  const pairs = message[part]
  return typeof pairs === 'string' ? [] : pairs
}

const withPairs = (message: Message, part: Part, pairs: readonly Pair[]): Message => ({
  ...message,
  [part]: pairs,
})

function somePart(message: Message, chance: Chance): Part {
  const filled = (['query', 'body', 'body', 'headers'] as const).filter(
    (part) => pairsOf(message, part).length > 0,
  )
  const [first = 'headers', ...rest] = filled
  return chance.among([first, ...rest])
}

/** Changes one pair of a part into none, one or several. */
type Change = (pair: Pair, means: Means, all: readonly Pair[]) => readonly Pair[]
const onePair =
  (change: Change): Mutate =>
  (message, means) => {
    const part = somePart(message, means.chance)
    const pairs = pairsOf(message, part)
    const at = means.chance.below(pairs.length)
    // Who is logged in is the host's word, and a host without an owner is no subject here.
    const changed = pairs.flatMap((pair, index) =>
      index !== at ? [pair] : pair[0].toLowerCase() === 'x-owner' ? [] : change(pair, means, pairs),
    )
    return withPairs(message, part, changed)
  }

/** Adds a pair where a parameter may stand. */
function addTo(message: Message, chance: Chance, ...more: readonly Pair[]): Message {
  const isInQuery = message.method === 'GET' || typeof message.body === 'string' || chance.below(3) === 0
  const part = isInQuery ? 'query' : 'body'
  return withPairs(message, part, [...pairsOf(message, part), ...more])
}

const pairOf = (name: string, value: string): Pair => [name, value]

/** Changes one value. */
const bend: Change = ([name, value], { chance, mark }) => [
  pairOf(name, chance.among(bends)(value, chance, mark)),
]

/** What may be done to one parameter or header. */
const changes: readonly Change[] = [
  ...Array.from({ length: 4 }, () => bend),
  () => [],
  (pair) => [pair, pair],
  (pair, { mark }) => [pair, pairOf(pair[0], mark)],
  (pair, { mark }) => [pairOf(pair[0], mark), pair],
  ([name]) => [pairOf(name, '')],
  ([name, value], { chance, mark }) => [pairOf(chance.among(bends)(name, chance, mark), value)],
  ([name, value]) => [pairOf(`${name}[]`, value)],
  ([name, value], { mark }) => [pairOf(`${name}[${mark}]`, value)],
  ([, value], { chance }) => [pairOf(chance.among(hostileNames), value)],
  ([name], { chance }, all) => [pairOf(name, chance.any(all)[1])],
  (_pair, { chance }, all) => [pairOf(chance.any(all)[0], '')],
]
const parameterMutations: readonly Mutate[] = [
  ...changes.map(onePair),
  (message, { chance, mark }) => addTo(message, chance, [chance.among(hostileNames), mark]),
  (message, { chance, other }) => {
    const pairs = [...pairsOf(other, 'body'), ...pairsOf(other, 'query')]
    return pairs.length === 0 ? message : addTo(message, chance, chance.any(pairs))
  },
  (message, { chance, mark }) =>
    addTo(
      message,
      chance,
      ...Array.from({ length: 300 }, (_, index) => pairOf(`${mark}${index}`, String(index))),
    ),
]

const listOf = (text: string, ...more: readonly string[]): readonly string[] => [...text.split(' '), ...more]
const formType = 'application/x-www-form-urlencoded'
const types = listOf(
  'application/json text/plain application/xml APPLICATION/X-WWW-FORM-URLENCODED',
  '',
  'multipart/form-data; boundary=x',
  `${formType}; charset=iso-8859-1`,
  `${formType}; charset=UTF-8`,
  `${formType}, application/json`,
)
const methods = listOf('GET HEAD POST PUT DELETE PATCH OPTIONS TRACE PROPFIND post')
const paths = listOf('/authorize /token /revoke /introspect /photos /metadata / //token')
const hosts = listOf('elsewhere.example localhost:1 api.example.com:443 [::1 169.254.1.1', '', 'a b')
const extraHeaders = listOf(
  'X-Forwarded-Proto:https X-Forwarded-Host:elsewhere.example X-Forwarded-For:10.0.0.1 X-HTTP-Method-Override:DELETE ' +
    'Sec-Fetch-Site:cross-site Origin:https://elsewhere.example Origin:null Content-Encoding:gzip Cookie:__proto__=1 ' +
    'If-None-Match:* Range:bytes=0-0 Accept:text/xml',
  'Authorization:Bearer x',
  'Authorization:Digest username="x"',
)

const parties: readonly [ClientApplication, ...ClientApplication[]] = [stranger, stranger, ...everyParty]

const setHeader = (message: Message, name: string, value: string): Message => ({
  ...message,
  headers: [
    ...message.headers.filter(([given]) => given.toLowerCase() !== name.toLowerCase()),
    [name, value],
  ],
})

/** What may be done to a message as a whole. */
const messageMutations: readonly Mutate[] = [
  (message, { chance }) => ({ ...message, method: chance.any(methods) }),
  (message, { chance }) => ({ ...message, path: chance.any(paths) }),
  (message, { chance, mark }) => ({
    ...message,
    path: chance.among(bends)(message.path, chance, mark) || '/',
  }),
  (message, { chance }) => setHeader(message, 'Host', chance.any(hosts)),
  (message, { chance }) => setHeader(message, 'Content-Type', chance.any(types)),
  (message) => ({
    ...setHeader(message, 'Content-Type', 'application/json'),
    body: JSON.stringify(Object.fromEntries(pairsOf(message, 'body'))),
  }),
  (message, { chance }) => {
    const [name = '', value = ''] = chance.any(extraHeaders).split(/:(.*)/)
    return { ...message, headers: [...message.headers, [name, value]] }
  },
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
    const fields = encodedPairs({ client_id: registration.client_id, client_secret: secret })
    return withPairs(message, 'body', [...pairsOf(message, 'body'), ...fields])
  },
]

const spliced = (one: string, other: string, chance: Chance): string =>
  one.slice(0, chance.below(one.length + 1)) + other.slice(chance.below(other.length + 1))

/** One to three mutations, one after the other. */
export function mutate(message: Message, means: Means): Message {
  let mutated = message
  for (let left = 1 + means.chance.below(3); left > 0; left--) {
    const few = means.chance.below(3) === 0
    mutated = means.chance.any(few ? messageMutations : parameterMutations)(mutated, means)
  }
  return mutated
}
