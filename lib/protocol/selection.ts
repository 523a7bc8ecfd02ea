import { refused } from './refusals'
import type { Parameters } from './parameters'
import { parseScope, type Scope } from './scope'

/** Not yet checked against the page. */
export interface Selection {
  /** The whole granted scope; undefined if the decision has boxes. */
  readonly scope: Scope | undefined
  readonly ticked: Scope
  readonly choice: string | undefined
}

export const nothingSelected: Selection = { scope: undefined, ticked: [], choice: undefined }

const boxPrefix = 'scope:'

export const boxOf = (token: string): string => `${boxPrefix}${token}`

export const choiceField = 'choice'

/** Boxes `scope:<token>=yes`, or the whole scope as `scope`, and `choice`. */
export function parseSelection(form: Parameters): Selection {
  const boxes = form.namesFrom(boxPrefix)
  const scope = wholeScope(form.get('scope'))
  if (boxes.some((name) => form.get(name) !== 'yes') || (scope !== undefined && boxes.length > 0))
    throw refused('decision_scope_wrong/malformed')
  const ticked = boxes.map((name) => name.slice(boxPrefix.length))
  return { scope, ticked, choice: form.get(choiceField) }
}

function wholeScope(text: string | undefined): Scope | undefined {
  if (text === undefined) return undefined
  return parseScope(text) ?? refuse()
}

function refuse(): never {
  throw refused('decision_scope_wrong/malformed')
}

/** Equal for equal selections; empty for a form that has only the buttons. */
export function selectionText({ scope, ticked, choice }: Selection): string {
  if (scope === undefined && ticked.length === 0 && choice === undefined) return ''
  return JSON.stringify([scope?.toSorted(), ticked.toSorted(), choice])
}
