import type { Chance } from '../../support/races/chance'
import { bends, hostileNames } from './hostile-values'
import type { Message, Pair } from './message'
import { pairsOf, withPairs, type Means, type Mutate, type Part } from './mutation'

function somePart(message: Message, chance: Chance): Part {
  const filled = (['query', 'body', 'body', 'headers'] as const).filter(
    (part) => pairsOf(message, part).length > 0,
  )
  const [first = 'headers', ...rest] = filled
  return chance.among([first, ...rest])
}

/** Changes one pair of a part into none, one or several. */
const onePair =
  (change: (pair: Pair, means: Means, all: readonly Pair[]) => readonly Pair[]): Mutate =>
  (message, means) => {
    const part = somePart(message, means.chance)
    const pairs = pairsOf(message, part)
    if (pairs.length === 0) return message
    const at = means.chance.below(pairs.length)
    const changed = pairs.flatMap((pair, index) => {
      if (index !== at) return [pair]
      // Who is logged in is the host's word, and a host without an owner is no subject here.
      return pair[0].toLowerCase() === 'x-owner' ? [] : change(pair, means, pairs)
    })
    return withPairs(message, part, changed)
  }

/** The place of a parameter, or none. */
const addTo = (message: Message, chance: Chance, pair: Pair): Message => {
  const part = typeof message.body === 'string' || chance.below(3) === 0 ? 'query' : 'body'
  return withPairs(message, message.method === 'GET' ? 'query' : part, [
    ...pairsOf(message, message.method === 'GET' ? 'query' : part),
    pair,
  ])
}

/** Changes one value. */
export const bend: Mutate = onePair(([name, value], { chance, mark }) => [
  [name, chance.among(bends)(value, chance, mark)],
])

/** What may be done to one parameter or header. */
export const parameterMutations: readonly Mutate[] = [
  bend,
  bend,
  bend,
  bend,
  onePair(() => []),
  onePair((pair) => [pair, pair]),
  onePair(([name, value], { mark }) => [
    [name, value],
    [name, mark],
  ]),
  onePair(([name, value], { mark }) => [
    [name, mark],
    [name, value],
  ]),
  onePair(([name]) => [[name, '']]),
  onePair(([name, value], { chance, mark }) => [[chance.among(bends)(name, chance, mark), value]]),
  onePair(([name, value]) => [[`${name}[]`, value]]),
  onePair(([name, value], { mark }) => [[`${name}[${mark}]`, value]]),
  onePair(([, value], { chance }) => [[chance.among(hostileNames), value]]),
  onePair(([name], { chance }, all) => [[name, all[chance.below(all.length)]?.[1] ?? '']]),
  onePair(([name], { chance }, all) => [[all[chance.below(all.length)]?.[0] ?? name, '']]),
  (message, { chance, mark }) => addTo(message, chance, [chance.among(hostileNames), mark]),
  (message, { chance, other }) => {
    const pairs = [...pairsOf(other, 'body'), ...pairsOf(other, 'query')]
    const pair = pairs[chance.below(pairs.length)]
    return pair === undefined ? message : addTo(message, chance, pair)
  },
  (message, { mark }) => {
    const part = message.method === 'GET' ? 'query' : 'body'
    const many = Array.from({ length: 300 }, (_, index): Pair => [`${mark}${index}`, String(index)])
    return withPairs(message, part, [...pairsOf(message, part), ...many])
  },
]
