import { isRecord, isText, requireBoolean } from '../primitives/values'
import type { AuthorizationTerms, Extension, ExtensionTokenResponse } from '../protocol/extension'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { KeptData } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import { requireQuestion } from '../protocol/owner-question'

declare global {
  namespace Express {
    interface AccessMembers {
      /**
       * The answer of the owner under the name of the question of the option `choices`:
       * `{ workspace: 'w1' }`. Undefined if the owner was not asked.
       */
      readonly choice?: Readonly<Record<string, string>>
    }
  }
}

export const choicesName = 'choices'

/** An authorization that its client refreshes. */
export interface RefreshedGrant {
  readonly clientId: string
  /** Undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: readonly string[]
  /** The answer of the owner under the name of the question; undefined without one. */
  readonly choice: Readonly<Record<string, string>> | undefined
  /** Seconds since the epoch. */
  readonly grantedAt: number
}

/** Returns whether an authorization goes on. */
export type StillAllowed = (grant: RefreshedGrant) => boolean | Promise<boolean>

export function choices(asks: boolean, stillAllowed?: StillAllowed): Extension {
  return {
    name: choicesName,
    ...(asks && { authorize: () => asking, describe: memberOf }),
    ...(stillAllowed !== undefined && {
      respond: async (response) => ((await goesOn(stillAllowed, response)) ? undefined : 'end'),
    }),
  }
}

export const shownChoice: Pick<Extension, 'name' | 'describe'> = {
  name: choicesName,
  describe: memberOf,
}

const asking: AuthorizationTerms = {
  async question({ askHost, scope }) {
    const question = await askHost()
    if (question === undefined || question === null) return undefined
    requireQuestion(question, 'The option choices returned a question with mistakes:', scope)
    if (question.answers.some(({ data }) => data !== undefined))
      throw new TypeError(
        'The option choices returned an answer with data: the authorization stores its value.',
      )
    return question
  },
}

function memberOf({ tokenData, authorizationData, claims }: KeptData): { readonly choice: Json } | undefined {
  const choice = choiceIn(tokenData ?? authorizationData ?? claims?.['choice'])
  return choice && { choice }
}

export const choiceIn = (value: unknown): Readonly<Record<string, string>> | undefined =>
  isChoice(value) ? value : undefined

const isChoice = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && Object.keys(value).length === 1 && Object.values(value).every(isText)

/** The host has allowed what a repetition gets. */
async function goesOn(
  stillAllowed: StillAllowed,
  {
    client,
    grantType,
    isRepetition,
    subject,
    grantedScope,
    grantedAt,
    authorizationData,
  }: ExtensionTokenResponse,
): Promise<boolean> {
  if (grantType !== 'refresh_token' || isRepetition) return true
  const choice = choiceIn(authorizationData)
  const grant = { clientId: client.client_id, subject, scope: grantedScope, choice, grantedAt }
  try {
    return requireBoolean(await stillAllowed(grant), 'The option stillAllowed')
  } catch (cause) {
    if (cause instanceof OAuthError) throw cause
    // The check may succeed later: the client keeps its refresh token.
    throw refused('refresh_check_failed', {}, { cause })
  }
}
