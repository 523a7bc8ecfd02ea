import { isRecord, isText, isTexts } from '../primitives/options-reader'
import { dataOf, type ExtensionData } from '../protocol/extension-data'
import type { GivenAnswer } from '../protocol/extension-decision'
import { invalidRequest, type OAuthError } from '../protocol/oauth-error'
import { covers, type Scope } from '../protocol/scope'
import type { Selection } from './selection'

/** The pending record keeps under this name what its page offers. No extension may have the name. */
export const consentOfferName = 'consent-offer'

/**
 * What a consent page offers to its owner. The decision is checked against it, and not against the options of the
 * process that gets the decision: the host may have deployed others meanwhile.
 */
interface ConsentOffer {
  /** The scope that the owner may leave out. */
  readonly optional: Scope
  /** The question of an extension; undefined if the page asks nothing. */
  readonly question: OfferedQuestion | undefined
  /** What the server needs to remember the decision; undefined if it remembers none. */
  readonly memory: OfferedMemory | undefined
  /** The parameters that say something about the owner or the login, in form encoding; undefined without any. */
  readonly aboutOwner?: string | undefined
}

/** What a page is about, besides its scope. */
export interface OfferedMemory {
  /** Names what the client was when the page appeared. */
  readonly fingerprint: string
  /** Names the facts of the page. */
  readonly facts: readonly string[]
  /** Names the claims that the page shows besides the scope. */
  readonly claims: readonly string[]
}

/** A question with the values of its answers. */
export interface OfferedQuestion {
  /** The name of the extension that asks. */
  readonly extension: string
  readonly name: string
  readonly answers: readonly string[]
}

/** What the owner has approved. */
export interface Granted {
  readonly scope: Scope
  readonly answer: OwnerAnswerTo | undefined
}

/** An answer, and the extension that asked. */
export interface OwnerAnswerTo extends GivenAnswer {
  readonly extension: string
}

/** Adds an offer to the data of a record. A page that offers nothing adds nothing. */
export function withOffer(
  data: ExtensionData,
  { optional, question, memory, aboutOwner }: ConsentOffer,
): ExtensionData {
  if (optional.length === 0 && (question ?? memory ?? aboutOwner) === undefined) return data
  const offer = {
    optional,
    ...(question && { question: { ...question } }),
    ...(memory && { memory: { ...memory } }),
    ...(aboutOwner !== undefined && { aboutOwner }),
  }
  return { ...data, [consentOfferName]: offer }
}

/** The offer of a page that offers nothing. */
export const nothingOffered: ConsentOffer = { optional: [], question: undefined, memory: undefined }

/** Reads the offer in the data of a record. */
export function offerIn(data: ExtensionData): ConsentOffer {
  const offer = dataOf(consentOfferName, data)
  if (!isRecord(offer)) return nothingOffered
  const { optional, question, memory, aboutOwner } = offer
  return {
    optional: isTexts(optional) ? optional : [],
    question: questionIn(question),
    memory: memoryIn(memory),
    aboutOwner: isText(aboutOwner) ? aboutOwner : undefined,
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
  return isText(extension) && isText(name) && isTexts(answers) ? { extension, name, answers } : undefined
}

/** The data of a record without its offer. */
export function withoutOffer(data: ExtensionData): ExtensionData {
  if (!Object.hasOwn(data, consentOfferName)) return data
  const { [consentOfferName]: _, ...others } = data
  return others
}

/**
 * What an approval grants: of the requested scope all that is required, and the optional scopes with a tick.
 *
 * @param requested the scope that the page showed.
 * @returns the refusal for the page of the owner if the decision is none that the page offered.
 */
export function grantedBy(
  { scope: whole, ticked, choice }: Selection,
  requested: Scope,
  { optional, question }: ConsentOffer,
): Granted | OAuthError {
  const named = whole ?? ticked
  const required = requested.filter((token) => !optional.includes(token))
  const isShown = covers(requested, named) && (whole === undefined || covers(whole, required))
  const scope = requested.filter((token) => required.includes(token) || named.includes(token))
  // Without any scope, there is nothing to approve: the page has another button for this.
  if (!isShown || (scope.length === 0 && requested.length > 0)) return wrongScope()
  const answer = answerBy(choice, question)
  return answer === 'wrong' ? wrongChoice() : { scope, answer }
}

function answerBy(
  choice: string | undefined,
  question: OfferedQuestion | undefined,
): OwnerAnswerTo | undefined | 'wrong' {
  if (question === undefined) return choice === undefined ? undefined : 'wrong'
  const { extension, name, answers } = question
  // With one answer, the page does not ask.
  const value = choice ?? (answers.length === 1 ? answers[0] : undefined)
  return value !== undefined && answers.includes(value) ? { extension, name, value } : 'wrong'
}

const wrongScope = () =>
  invalidRequest('decision_scope_wrong', 'The decision names a scope that the page does not offer so.')
const wrongChoice = () =>
  invalidRequest('decision_choice_wrong', 'The decision has no answer that the page offers.')
