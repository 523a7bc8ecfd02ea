import type { RequestedAuthorization } from '../authorization/authorization'
import type { Plugins } from '../doors/plug-ins'
import { optional as omittable, requireShape, shape } from '../primitives/schema'
import { isRecord, isText, isTexts } from '../primitives/values'
import type { Client } from '../protocol/client'
import type { DecisionTerms } from '../protocol/extension-decision'
import type { LoginDefaults } from '../protocol/extension'
import { type Json, keepable } from '../protocol/json'
import { dataOf, type ExtensionData } from '../protocol/extension-data'
import type { OwnerAnswerTo } from '../authorization/remembered-consent'
import { refused } from '../protocol/refusals'
import { covers, distinct, type Scope, scopeWithin, unavailableScope } from '../protocol/scope'
import type { Selection } from '../protocol/owner-question'

/** No extension may have the name. */
export const consentOfferName = 'consent-offer'

/**
 * The decision is checked against what its page offered: the process that gets it may have other options after a
 * deployment.
 */
interface ConsentOffer {
  readonly optional: Scope
  readonly question: OfferedQuestion | undefined
  /** Undefined if the server remembers no decision. */
  readonly memory: OfferedMemory | undefined
  /** The parameters about the owner or the login, in form encoding. */
  readonly aboutOwner?: string | undefined
  readonly loginDefaults?: LoginDefaults | undefined
}

export interface OfferedMemory {
  readonly fingerprint: string
  readonly facts: readonly string[]
  /** What the page shows besides the scope. */
  readonly claims: readonly string[]
}

export interface OfferedQuestion {
  readonly extension: string
  readonly name: string
  readonly answers: readonly string[]
}

export interface Granted {
  readonly scope: Scope
  readonly answer: OwnerAnswerTo | undefined
}

export function withOffer(
  data: ExtensionData,
  { optional, question, memory, aboutOwner, loginDefaults }: ConsentOffer,
): ExtensionData {
  if (optional.length === 0 && (question ?? memory ?? aboutOwner ?? loginDefaults) === undefined) return data
  const offer = {
    optional,
    ...(question && { question: { ...question } }),
    ...(memory && { memory: { ...memory } }),
    ...(aboutOwner !== undefined && { aboutOwner }),
    ...(loginDefaults && { loginDefaults: { ...loginDefaults } }),
  }
  return { ...data, [consentOfferName]: offer }
}

const nothingOffered: ConsentOffer = { optional: [], question: undefined, memory: undefined }

export function offerIn(data: ExtensionData): ConsentOffer {
  const offer = dataOf(consentOfferName, data)
  if (!isRecord(offer)) return nothingOffered
  const { optional, question, memory, aboutOwner, loginDefaults } = offer
  return {
    optional: isTexts(optional) ? optional : [],
    question: questionIn(question),
    memory: memoryIn(memory),
    aboutOwner: isText(aboutOwner) ? aboutOwner : undefined,
    loginDefaults: loginDefaultsIn(loginDefaults),
  }
}

function loginDefaultsIn(value: unknown): LoginDefaults | undefined {
  if (!isRecord(value)) return undefined
  const { maxAge, acrValues } = value
  return { ...(typeof maxAge === 'number' && { maxAge }), ...(isTexts(acrValues) && { acrValues }) }
}

function memoryIn(value: unknown): OfferedMemory | undefined {
  if (!isRecord(value)) return undefined
  const { fingerprint, facts, claims } = value
  return isText(fingerprint) && isTexts(facts) && isTexts(claims) ? { fingerprint, facts, claims } : undefined
}

function questionIn(value: unknown): OfferedQuestion | undefined {
  if (!isRecord(value)) return undefined
  const { extension, name, answers } = value
  return isText(extension) && isText(name) && isTexts(answers) ? { extension, name, answers } : undefined
}

const hasOffer = (data: ExtensionData): boolean => Object.hasOwn(data, consentOfferName)

function withoutOffer(data: ExtensionData): ExtensionData {
  if (!hasOffer(data)) return data
  const { [consentOfferName]: _, ...others } = data
  return others
}

/** All required scopes, and the optional ones with a tick. @throws OAuthError for what the page did not offer. */
export function grantedBy(
  { scope: whole, ticked, choice }: Selection,
  requested: Scope,
  { optional, question }: ConsentOffer,
): Granted {
  const named = whole ?? ticked
  const required = requested.filter((token) => !optional.includes(token))
  const isShown = covers(requested, named) && (whole === undefined || covers(whole, required))
  const scope = requested.filter((token) => required.includes(token) || named.includes(token))
  // Without any scope, there is nothing to approve: the page has another button for this.
  if (!isShown || (scope.length === 0 && requested.length > 0)) throw refused('decision_scope_wrong')
  return { scope, answer: answerBy(choice, question) }
}

function answerBy(
  choice: string | undefined,
  question: OfferedQuestion | undefined,
): OwnerAnswerTo | undefined {
  // With one answer, the page does not ask.
  const value = choice ?? (question?.answers.length === 1 ? question.answers[0] : undefined)
  if (question === undefined && value === undefined) return undefined
  if (question === undefined || value === undefined || !question.answers.includes(value))
    throw refused('decision_choice_wrong')
  return { extension: question.extension, name: question.name, value }
}

/** Pure: a conflict in the store calls it again. */
export function settleDecision<
  Requested extends Pick<RequestedAuthorization, 'subject' | 'scope' | 'extensionData'>,
>(
  deciders: Plugins['atDecision'],
  client: Client,
  requested: Requested,
  { scope: granted, answer }: Granted,
): Requested {
  if (deciders.length === 0 && granted === requested.scope && !hasOffer(requested.extensionData))
    return requested
  let scope = granted
  const kept: Record<string, Json> = {}
  const before = withoutOffer(requested.extensionData)
  for (const extension of deciders) {
    const { name } = extension
    const given = answer?.extension === name ? { name: answer.name, value: answer.value } : undefined
    const authorizationData = dataOf(name, before)
    const { subject } = requested
    const decided: unknown = extension.atDecision({
      client,
      subject,
      scope,
      answer: given,
      authorizationData,
    })
    if (decided === undefined) continue
    const mistake = `The extension "${name}" returned a wrong result for a decision:`
    const terms = requireShape(termsShape, decided, mistake, scope)
    scope = distinct(terms.scope ?? scope)
    if (scope.length === 0 && granted.length > 0) throw unavailableScope(granted)
    if (terms.authorizationData !== undefined) kept[name] = terms.authorizationData
  }
  return { ...requested, scope, extensionData: { ...before, ...kept } }
}

// A mistake of a host must never widen what the owner has approved.
const termsShape = shape<DecisionTerms, Scope>({
  scope: scopeWithin('the scope that the owner approved'),
  authorizationData: omittable(keepable),
})
