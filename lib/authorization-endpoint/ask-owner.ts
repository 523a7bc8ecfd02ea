import { type Eventual, following } from '../primitives/concurrency'
import type { At } from '../protocol/acting-extensions'
import type { Client } from '../protocol/client'
import type { ChoicesQuestion, ExtensionQuestionRequest } from '../protocol/extension'
import { dataOf } from '../protocol/extension-data'
import { type OwnerQuestion, requireQuestion } from '../protocol/owner-question'
import type { Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import type { Context } from '../doors/context'
import type { ParsedAuthorizationRequest } from './authorization-request'
import type { OfferedMemory, OfferedQuestion } from './consent-offer'
import { mayHavePriorConsent, mayRemember, type PriorConsentQuestion } from './prior-consent'
import type { RememberedConsent } from '../authorization/owner-record'
import {
  allowedScope,
  askedFor,
  choiceKey,
  claimKeys,
  clientFingerprint,
  factKeys,
  hasChoice,
  isRemembered,
  type OwnerAnswerTo,
} from '../authorization/remembered-consent'

interface AskedQuestion {
  readonly extension: string
  readonly question: OwnerQuestion
}

export interface OwnerHost {
  /** True skips the consent page. */
  skipConsent(question: PriorConsentQuestion): Eventual<boolean>
  choices(question: ChoicesQuestion): Promise<unknown>
}

interface RequestInQuestion {
  readonly client: Client
  readonly redirectUri: string | undefined
  /** After the extensions have replaced them. */
  readonly parameters: Parameters
  readonly parsed: ParsedAuthorizationRequest
  readonly resourceOwner: ResourceOwner | undefined
}

/** Each function runs once, and only if it counts. */
export class OwnerQuestions {
  private question: Promise<AskedQuestion | undefined> | undefined
  private approval: Eventual<boolean> | undefined
  private memory: Promise<RememberedConsent | undefined> | undefined
  /** What the memory must still say when the approval is stored. */
  private readonly demands: ((consent: RememberedConsent) => boolean)[] = []

  constructor(
    private readonly server: Context,
    private readonly request: RequestInQuestion,
    private readonly host: OwnerHost,
  ) {}

  asked(): Promise<AskedQuestion | undefined> {
    this.question ??= this.ask()
    return this.question
  }

  /**
   * Needs no page: the only answer, or the only one that this owner has given this client before and that is still
   * offered.
   */
  async answer(): Promise<OwnerAnswerTo | undefined> {
    const asked = await this.asked()
    if (asked === undefined) return undefined
    const answers = answersOf(asked)
    if (answers.length < 2) return answers[0]
    const remembered = await this.remembered()
    const [only, second] = answers.filter((each) => remembered && hasChoice(remembered, choiceKey(each)))
    if (only === undefined || second !== undefined) return undefined
    this.demands.push((consent) => hasChoice(consent, choiceKey(only)))
    return only
  }

  async lacksAnswer(): Promise<boolean> {
    return (await this.asked()) !== undefined && (await this.answer()) === undefined
  }

  /** For the same facts and answer. Empty if the page asks a question: the scope may be new for the next answer. */
  async allowedBefore(): Promise<Scope> {
    const remembered = await this.remembered()
    if (remembered === undefined || asksOnPage(await this.asked())) return []
    const { scope, facts } = this.request.parsed
    const choice = choiceKey(await this.answer())
    const allowed = allowedScope(remembered, { choice, facts: factKeys(facts) }) ?? []
    return scope.filter((token) => allowed.includes(token))
  }

  offeredMemory(): OfferedMemory | undefined {
    if (!this.mayRemember()) return undefined
    const { client, parsed } = this.request
    const { facts } = parsed
    return { fingerprint: clientFingerprint(client), facts: factKeys(facts), claims: claimKeys(facts) }
  }

  /** Whether no page is needed if the owner has approved before. */
  get mayApprove(): boolean {
    const { client, parsed, redirectUri } = this.request
    return mayHavePriorConsent(client, parsed.responseType, redirectUri)
  }

  hasApproved(): Eventual<boolean> {
    this.approval ??= this.askAboutApproval()
    return this.approval
  }

  private async ask(): Promise<AskedQuestion | undefined> {
    const { resourceOwner, client, redirectUri, parameters, parsed } = this.request
    if (resourceOwner === undefined) return undefined
    const { responseType, scope, extensionData } = parsed
    const askHost = () => this.host.choices(this.described(resourceOwner))
    const request = { client, parameters, responseType, redirectUri, scope, askHost }
    let asked: AskedQuestion | undefined
    for (const extension of this.server.plugIns.askOwner) {
      const { name } = extension
      const authorizationData = dataOf(name, extensionData)
      const question = await questionOf(extension, resourceOwner, { ...request, authorizationData })
      if (question === undefined) continue
      if (asked !== undefined)
        throw new TypeError(`The extensions "${asked.extension}" and "${name}" both ask about one request.`)
      asked = { extension: name, question }
    }
    return asked
  }

  private askAboutApproval(): Eventual<boolean> {
    const { resourceOwner, redirectUri } = this.request
    if (resourceOwner === undefined || redirectUri === undefined || !this.mayApprove) return false
    const described = { ...this.described(resourceOwner), redirectUri }
    return this.server.plugIns.askOwner.length === 0
      ? this.skipsPage(described, undefined)
      : this.skipsPageWithAnswer(described)
  }

  private async skipsPageWithAnswer(described: PriorConsentQuestion): Promise<boolean> {
    if (await this.lacksAnswer()) return false
    const answer = await this.answer()
    const choice = answer && { [answer.name]: answer.value }
    return this.skipsPage(choice === undefined ? described : { ...described, choice }, answer)
  }

  private skipsPage(question: PriorConsentQuestion, answer: OwnerAnswerTo | undefined): Eventual<boolean> {
    return following(
      this.host.skipConsent(question),
      (skips) => skips || (this.server.store.consents !== undefined && this.isRemembered(answer)),
    )
  }

  private async isRemembered(answer: OwnerAnswerTo | undefined): Promise<boolean> {
    const remembered = await this.remembered()
    const { scope, facts } = this.request.parsed
    const circumstances = { choice: choiceKey(answer), facts: factKeys(facts) }
    const isAllowed = (consent: RememberedConsent) =>
      isRemembered(consent, askedFor(scope, facts), circumstances)
    if (remembered === undefined || !isAllowed(remembered)) return false
    this.demands.push(isAllowed)
    return true
  }

  get restsOnMemory(): boolean {
    return this.demands.length > 0
  }

  /** Whether the memory still says, at this moment, what the approval rests on. */
  async isStillRemembered(): Promise<boolean> {
    const consent = await this.lookUp()
    return consent !== undefined && this.demands.every((holds) => holds(consent))
  }

  private remembered(): Promise<RememberedConsent | undefined> {
    this.memory ??= this.lookUp()
    return this.memory
  }

  private async lookUp(): Promise<RememberedConsent | undefined> {
    const { client, resourceOwner } = this.request
    if (resourceOwner === undefined || !this.mayRemember()) return undefined
    return this.server.store.consents?.find(resourceOwner.subject, client)
  }

  private mayRemember(): boolean {
    const { client, parsed, redirectUri } = this.request
    return this.server.store.consents !== undefined && mayRemember(client, parsed.responseType, redirectUri)
  }

  private described({ subject }: ResourceOwner): ChoicesQuestion {
    const { client, redirectUri, parsed } = this.request
    const { scope, facts } = parsed
    return { clientId: client.client_id, subject, scope, facts, redirectUri }
  }
}

async function questionOf(
  extension: At<'askOwner'>,
  owner: ResourceOwner,
  request: ExtensionQuestionRequest,
): Promise<OwnerQuestion | undefined> {
  const question: unknown = await extension.askOwner(owner, request)
  if (question === undefined) return undefined
  requireQuestion(question, `The extension "${extension.name}" asks a question with mistakes:`)
  return question
}

export const asksOnPage = (asked: AskedQuestion | undefined): boolean =>
  asked !== undefined && asked.question.answers.length !== 1

const answersOf = ({ extension, question: { name, answers } }: AskedQuestion): readonly OwnerAnswerTo[] =>
  answers.map(({ value }) => ({ extension, name, value }))

export function offeredBy(asked: AskedQuestion | undefined): OfferedQuestion | undefined {
  if (asked === undefined) return undefined
  const { name, answers } = asked.question
  return { extension: asked.extension, name, answers: answers.map(({ value }) => value) }
}
