import type { Host, Question } from '../../../lib/authorization-endpoint/authorize'
import type { ResourceOwner } from '../../../lib/protocol/resource-owner'

/** A host with a logged-in owner that records what it was asked to do. */
export interface WatchedHost extends Host {
  readonly questions: readonly Question[]
  /** What it was called for, in order. */
  readonly calls: readonly (keyof Host)[]
}

export function hostWhere(
  owner: ResourceOwner | undefined = { subject: 'alice', name: 'Alice' },
  bend: Partial<Host> = {},
): WatchedHost {
  const questions: Question[] = []
  const calls: (keyof Host)[] = []
  const called =
    <Given extends readonly unknown[], Answer>(
      name: keyof Host,
      does: (...given: Given) => Promise<Answer>,
    ) =>
    (...given: Given): Promise<Answer> => {
      calls.push(name)
      return does(...given)
    }
  return {
    questions,
    calls,
    resourceOwner: called('resourceOwner', bend.resourceOwner ?? (async () => owner)),
    sender: { address: () => undefined, networkRefusal: undefined },
    clientFound: () => {},
    parametersReplaced: () => {},
    skipConsent: bend.skipConsent ?? (async () => false),
    choices: bend.choices ?? (async () => undefined),
    logIn: called('logIn', bend.logIn ?? (async () => undefined)),
    ask: called('ask', async (question: Question) => {
      questions.push(question)
      await bend.ask?.(question)
    }),
  }
}

/** Without a logged-in owner. */
export const hostWithoutOwner = (bend: Partial<Host> = {}) =>
  hostWhere(undefined, { resourceOwner: async () => undefined, ...bend })
