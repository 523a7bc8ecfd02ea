import { aTextThat } from '../primitives/fields'
import { isAbsentOr, isList, isRecord, isText, isTexts } from '../primitives/values'
import { exactShape, kind, optional, requireShape } from '../primitives/schema'
import { isKeepable, type Json } from './json'
import { aLocalizedText, type Text } from './localized-text'
import { refused } from './refusals'
import type { Parameters } from './parameters'
import { covers, parseScope, type Scope } from './scope'

/** On the consent page, such as which workspace the access is for. */
export interface OwnerQuestion {
  /** In tokens and at routes, such as `workspace`: a letter, then letters, digits and `_ . -`. */
  readonly name: string
  readonly text: Text
  /** At most 100. A single one is taken unasked. Without answers, the page says why, and the owner can only cancel. */
  readonly answers: readonly OwnerAnswer[]
  /** Without answers. Default: a sentence of the suite. */
  readonly none?: Text
}

export interface OwnerAnswer {
  /** 1 to 128 characters, unique. */
  readonly value: string
  readonly label: string
  /**
   * Stored with the authorization for the plug-in that asks, in place of earlier data: JSON, of all answers at most 16
   * 384 characters. Default: the value under the name of the question. Not for the option `choices`.
   */
  readonly data?: Json
  /**
   * The part of the requested scope that the owner approves by this answer. If nothing is left, the client gets
   * `invalid_scope`. Default: all.
   */
  readonly scope?: Scope
}

export type GivenAnswer = Omit<OwnerAnswer, 'label'>

// The record holds all values, and the page shows all labels.
export const answersAtMost = 100
export const longestValue = 128
const isName = (name: string) => /^[A-Za-z][\w.-]{0,63}$/.test(name)

const membersOfAnswers = new Set(['value', 'label', 'data', 'scope'])

const isAnswer = (answer: unknown, whole: Scope): answer is OwnerAnswer =>
  isRecord(answer) &&
  isText(answer['value']) &&
  answer['value'].length <= longestValue &&
  isText(answer['label']) &&
  // A mistake of a host must never widen what the owner approves.
  isAbsentOr((scope) => isTexts(scope) && covers(whole, scope), answer['scope']) &&
  Object.keys(answer).every((name) => membersOfAnswers.has(name))

const areAnswers = (given: unknown, whole: Scope) =>
  isList(given) &&
  given.length <= answersAtMost &&
  given.every((answer) => isAnswer(answer, whole)) &&
  new Set(given.map(({ value }) => value)).size === given.length &&
  isKeepable(given.map(({ data = null }) => data))

const questionShape = exactShape<OwnerQuestion, Scope>({
  name: aTextThat('must be a letter, then at most 63 letters, digits and _ . - characters.', isName),
  text: aLocalizedText,
  answers: kind(
    areAnswers,
    `must be a list of at most ${answersAtMost} answers { value, label, data, scope }: two texts, the value of at most ${longestValue} characters and another one for each answer; perhaps JSON, of all answers at most 16384 characters, and a part of the scope of the request.`,
  ),
  none: optional(aLocalizedText),
})

export function requireQuestion(value: unknown, what: string, scope: Scope): asserts value is OwnerQuestion {
  requireShape(questionShape, value, what, scope)
}

export interface Selection {
  /** Undefined if the decision has boxes. */
  readonly scope: Scope | undefined
  readonly ticked: Scope
  readonly choice: string | undefined
}

const nothingSelected: Selection = { scope: undefined, ticked: [], choice: undefined }

export const consentTokenField = 'authorization_request'

export function decisionIn(form: Parameters, device = false) {
  const consentToken = form.require(consentTokenField)
  const decision = form.require('decision')
  const approved = decision === 'approve'
  if (!approved && decision !== 'deny') throw refused(device ? 'decision_unknown/device' : 'decision_unknown')
  return { consentToken, approved, selection: approved ? parseSelection(form) : nothingSelected }
}

const boxPrefix = 'scope:'

export const boxOf = (token: string): string => `${boxPrefix}${token}`

export const choiceField = 'choice'

/** Boxes `scope:<token>=yes`, or `scope`, and `choice`. */
function parseSelection(form: Parameters): Selection {
  const boxes = form.namesFrom(boxPrefix)
  const text = form.get('scope')
  const scope = text === undefined ? undefined : parseScope(text)
  const isMalformed = text !== undefined && (scope === undefined || boxes.length > 0)
  if (isMalformed || boxes.some((name) => form.get(name) !== 'yes'))
    throw refused('decision_scope_wrong/malformed')
  const ticked = boxes.map((name) => name.slice(boxPrefix.length))
  return { scope, ticked, choice: form.get(choiceField) }
}

/** Empty for a form with only the buttons. */
export function selectionText({ scope, ticked, choice }: Selection): string {
  if (scope === undefined && ticked.length === 0 && choice === undefined) return ''
  return JSON.stringify([scope?.toSorted(), ticked.toSorted(), choice])
}
