import type { RequestedAuthorization } from '../authorization/authorization'
import { isAbsentOr, isList, isRecord, isText, isTexts } from '../primitives/values'
import { isJson } from '../protocol/json'
import { dataOf, type ExtensionData, withOwn } from '../protocol/extension-data'
import type { OwnerAnswerTo } from '../authorization/remembered-consent'
import { refused } from '../protocol/refusals'
import { covers, type Scope, unavailableScope } from '../protocol/scope'
import type { GivenAnswer, Selection } from '../protocol/owner-question'

/** No extension may have the name. */
export const consentOfferName = 'consent-offer'

/** The decision is checked against its page: a deployment may have changed the options. */
interface ConsentOffer {
  readonly optional: Scope
  readonly question: OfferedQuestion | undefined
  /** Undefined if the server remembers no decision. */
  readonly memory: OfferedMemory | undefined
  /** In form encoding, to judge another login than that of the page. Default: every login is good. */
  readonly parameters?: string | undefined
}

export interface OfferedMemory {
  readonly fingerprint: string
  readonly facts: readonly string[]
  readonly claims: readonly string[]
}

export interface OfferedQuestion {
  readonly extension: string
  readonly name: string
  readonly answers: readonly GivenAnswer[]
}

export interface Granted {
  readonly scope: Scope
  readonly answer: OwnerAnswerTo | undefined
}

export function withOffer(
  data: ExtensionData,
  { optional, question, memory, parameters }: ConsentOffer,
): ExtensionData {
  if (optional.length === 0 && (question ?? memory ?? parameters) === undefined) return data
  const offer = {
    optional,
    ...(question && { question: { ...question } }),
    ...(memory && { memory: { ...memory } }),
    ...(parameters !== undefined && { parameters }),
  }
  return { ...data, [consentOfferName]: offer }
}

const nothingOffered: ConsentOffer = { optional: [], question: undefined, memory: undefined }

export function offerIn(data: ExtensionData): ConsentOffer {
  const offer = dataOf(consentOfferName, data)
  if (!isRecord(offer)) return nothingOffered
  const { optional, question, memory, parameters } = offer
  return {
    optional: isTexts(optional) ? optional : [],
    question: questionIn(question),
    memory: memoryIn(memory),
    parameters: typeof parameters === 'string' ? parameters : undefined,
  }
}

function memoryIn(value: unknown): OfferedMemory | undefined {
  if (!isRecord(value)) return undefined
  const { fingerprint, facts, claims } = value
  return isText(fingerprint) && isTexts(facts) && isTexts(claims) ? { fingerprint, facts, claims } : undefined
}

function questionIn(value: unknown): OfferedQuestion | undefined {
  if (!isRecord(value)) return undefined
  const { extension, name, answers } = value
  return isText(extension) && isText(name) && isList(answers) && answers.every(isGivenAnswer)
    ? { extension, name, answers }
    : undefined
}

const isGivenAnswer = (value: unknown): value is GivenAnswer =>
  isRecord(value) &&
  isText(value['value']) &&
  isAbsentOr(isTexts, value['scope']) &&
  isAbsentOr(isJson, value['data'])

const hasOffer = (data: ExtensionData): boolean => Object.hasOwn(data, consentOfferName)

function withoutOffer(data: ExtensionData): ExtensionData {
  if (!hasOffer(data)) return data
  const { [consentOfferName]: _, ...others } = data
  return others
}

/** @throws OAuthError for what the page did not offer. */
export function grantedBy(
  { scope: whole, ticked, choice }: Selection,
  requested: Scope,
  { optional, question }: ConsentOffer,
): Granted {
  const named = whole ?? ticked
  const required = requested.filter((token) => !optional.includes(token))
  const isShown = covers(requested, named) && (whole === undefined || covers(whole, required))
  const scope = requested.filter((token) => required.includes(token) || named.includes(token))
  // Without any scope, there is nothing to approve.
  if (!isShown || (scope.length === 0 && requested.length > 0)) throw refused('decision_scope_wrong')
  return { scope, answer: answerBy(choice, question) }
}

function answerBy(
  choice: string | undefined,
  question: OfferedQuestion | undefined,
): OwnerAnswerTo | undefined {
  // With one answer, the page does not ask.
  const value = choice ?? (question?.answers.length === 1 ? question.answers[0]?.value : undefined)
  if (question === undefined && value === undefined) return undefined
  const given = question?.answers.find((each) => each.value === value)
  if (question === undefined || given === undefined) throw refused('decision_choice_wrong')
  return { extension: question.extension, name: question.name, given }
}

/** Pure: a conflict in the store calls it again. */
export function settleDecision<Requested extends Pick<RequestedAuthorization, 'scope' | 'extensionData'>>(
  requested: Requested,
  { scope: granted, answer }: Granted,
): Requested {
  if (answer === undefined && granted === requested.scope && !hasOffer(requested.extensionData))
    return requested
  const before = withoutOffer(requested.extensionData)
  if (answer === undefined) return { ...requested, scope: granted, extensionData: before }
  const { extension, name, given } = answer
  const { value, data = { [name]: value }, scope: within = granted } = given
  const scope = granted.filter((token) => within.includes(token))
  if (scope.length === 0 && granted.length > 0) throw unavailableScope(granted)
  return { ...requested, scope, extensionData: withOwn(extension, data, before) }
}
