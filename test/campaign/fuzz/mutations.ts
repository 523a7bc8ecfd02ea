import type { Message } from './message'
import { messageMutations } from './message-mutations'
import type { Means } from './mutation'
import { bend, parameterMutations } from './parameter-mutations'

/** One to three mutations, one after the other. */
export function mutate(message: Message, means: Means): Message {
  let mutated = message
  for (let left = 1 + means.chance.below(3); left > 0; left--) {
    const few = means.chance.below(3) === 0
    const [first = bend, ...rest] = few ? messageMutations : parameterMutations
    mutated = means.chance.among([first, ...rest])(mutated, means)
  }
  return mutated
}
