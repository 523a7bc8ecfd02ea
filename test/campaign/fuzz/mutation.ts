import type { Chance } from '../../support/races/chance'
import type { Message, Pair } from './message'

/** What a mutation may use. */
export interface Means {
  readonly chance: Chance
  /** A text that is in no other request. */
  readonly mark: string
  /** Another valid request. */
  readonly other: Message
}

export type Mutate = (message: Message, means: Means) => Message

export type Part = 'query' | 'body' | 'headers'

/** The pairs of a part of which there are any; a body that is a form no more has none. */
export function pairsOf(message: Message, part: Part): readonly Pair[] {
  const pairs = message[part]
  return typeof pairs === 'string' ? [] : pairs
}

export const withPairs = (message: Message, part: Part, pairs: readonly Pair[]): Message => ({
  ...message,
  [part]: pairs,
})
