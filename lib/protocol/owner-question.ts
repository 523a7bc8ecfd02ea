import { isList, isRecord, isText } from '../primitives/values'
import { kind, optional, requireShape, shape } from '../primitives/schema'
import { aLocalizedText, type Text } from './localized-text'
import { refused } from './refusals'
import type { Parameters } from './parameters'
import { parseScope, type Scope } from './scope'

/** On the consent page, such as for which workspace the access is. */
export interface OwnerQuestion {
  /** In tokens and at routes, such as `workspace`: a letter, then letters, digits and `_ . -`. */
  readonly name: string
  /** Such as `Which workspace?`. */
  readonly text: Text
  /**
   * At most 100. A single answer is taken without a question. Without answers, the page says why, and the owner can
   * only cancel.
   */
  readonly answers: readonly OwnerAnswer[]
  /** Without answers. Default: a sentence of the suite. */
  readonly none?: Text
}

export interface OwnerAnswer {
  /** What the authorization stores: 1 to 128 characters, unique. */
  readonly value: string
  /** What the page shows. */
  readonly label: string
}

// The record of the request holds all values, and the page shows all labels.
const answersAtMost = 100
const longestValue = 128
const nameGrammar = /^[A-Za-z][\w.-]{0,63}$/

const isAnswer = (value: unknown) =>
  isRecord(value) &&
  isText(value['value']) &&
  value['value'].length <= longestValue &&
  isText(value['label']) &&
  Object.keys(value).length === 2

const areAnswers = (value: unknown) =>
  isList(value) &&
  value.length <= answersAtMost &&
  value.every(isAnswer) &&
  new Set(value.map((answer) => isRecord(answer) && answer['value'])).size === value.length

const questionShape = shape<OwnerQuestion>({
  name: kind(
    (value) => isText(value) && nameGrammar.test(value),
    'must be a letter, then at most 63 letters, digits and _ . - characters.',
  ),
  text: aLocalizedText,
  answers: kind(
    areAnswers,
    `must be a list of at most ${answersAtMost} answers { value, label }: two texts, the value of at most ${longestValue} characters and another one for each answer.`,
  ),
  none: optional(aLocalizedText),
})

export function requireQuestion(value: unknown, what: string): asserts value is OwnerQuestion {
  requireShape(questionShape, value, what, undefined)
}

/** Not yet checked against the page. */
export interface Selection {
  /** The whole granted scope; undefined if the decision has boxes. */
  readonly scope: Scope | undefined
  readonly ticked: Scope
  readonly choice: string | undefined
}

const nothingSelected: Selection = { scope: undefined, ticked: [], choice: undefined }

/** The field of the consent page that names its request. */
export const consentTokenField = 'authorization_request'

interface DecisionForm {
  readonly consentToken: string
  readonly approved: boolean
  readonly selection: Selection
}

/** @param device whether it is the form of a page of devices. */
export function decisionIn(form: Parameters, device = false): DecisionForm {
  const consentToken = form.require(consentTokenField)
  const decision = form.require('decision')
  const approved = decision === 'approve'
  if (!approved && decision !== 'deny') throw refused(device ? 'decision_unknown/device' : 'decision_unknown')
  return { consentToken, approved, selection: approved ? parseSelection(form) : nothingSelected }
}

const boxPrefix = 'scope:'

export const boxOf = (token: string): string => `${boxPrefix}${token}`

export const choiceField = 'choice'

/** Boxes `scope:<token>=yes`, or the whole scope as `scope`, and `choice`. */
function parseSelection(form: Parameters): Selection {
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
