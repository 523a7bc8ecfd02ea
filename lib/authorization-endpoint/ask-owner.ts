import { type Eventual, following } from '../primitives/concurrency'
import type { ChoicesQuestion } from '../protocol/extension'
import { type OwnerQuestion, requireQuestion } from '../protocol/owner-question'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import { protocolOf } from '../protocol/uri'
import type { OfferedMemory, OfferedQuestion } from './consent-offer'
import type { PriorConsentQuestion, Visit } from './visit'
import type { RememberedConsent } from '../authorization/owners'
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

/** Each function runs once, and only if it counts. */
export class OwnerQuestions {
  private question: Promise<AskedQuestion | undefined> | undefined
  private approval: Eventual<boolean> | undefined
  private memory: Promise<RememberedConsent | undefined> | undefined
  /** What the memory must still say when the approval is stored. */
  private readonly demands: ((consent: RememberedConsent) => boolean)[] = []

  constructor(private readonly visit: Visit) {}

  asked(): Promise<AskedQuestion | undefined> {
    this.question ??= this.ask()
    return this.question
  }

  /** Undefined unless one answer is offered, or this owner has given this client one of those offered before. */
  async answer(): Promise<OwnerAnswerTo | undefined> {
    const asked = await this.asked()
    if (asked === undefined) return undefined
    const { extension, question } = asked
    const answers = question.answers.map((given) => ({ extension, name: question.name, given }))
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

  /** Empty if the page asks a question: the scope may be new for the next answer. */
  async allowedBefore(): Promise<Scope> {
    const remembered = await this.remembered()
    if (remembered === undefined || asksOnPage(await this.asked())) return []
    const { scope, facts } = this.visit.parsed
    const choice = choiceKey(await this.answer())
    const allowed = allowedScope(remembered, { choice, facts: factKeys(facts) }) ?? []
    return scope.filter((token) => allowed.includes(token))
  }

  offeredMemory(): OfferedMemory | undefined {
    if (!this.mayRemember()) return undefined
    const { client, parsed } = this.visit
    const { facts } = parsed
    return { fingerprint: clientFingerprint(client), facts: factKeys(facts), claims: claimKeys(facts) }
  }

  /**
   * A response with a token always needs a new approval. So does a request without a redirection URI: its owner
   * compares the code (RFC 8628 5.4).
   */
  get mayApprove(): boolean {
    const { parsed, redirectUri } = this.visit
    const { grantTypes } = parsed.responseType
    const isOfCode = grantTypes.every((name) => name === 'authorization_code')
    return redirectUri !== undefined && isOfCode && isProven(this.visit)
  }

  hasApproved(): Eventual<boolean> {
    this.approval ??= this.askAboutApproval()
    return this.approval
  }

  private async ask(): Promise<AskedQuestion | undefined> {
    const { owner, host, parsed } = this.visit
    if (owner === undefined) return undefined
    const described = this.described(owner)
    const askHost = () => host.choices(described)
    let asked: AskedQuestion | undefined
    for (const { extension, ask } of parsed.questions) {
      const question: unknown = await ask({ ...described, askHost })
      if (question === undefined) continue
      requireQuestion(question, `The extension "${extension}" asks a question with mistakes:`, parsed.scope)
      if (asked !== undefined)
        throw new TypeError(
          `The extensions "${asked.extension}" and "${extension}" both ask about one request.`,
        )
      asked = { extension, question }
    }
    return asked
  }

  private askAboutApproval(): Eventual<boolean> {
    const { owner, redirectUri, parsed } = this.visit
    if (owner === undefined || redirectUri === undefined || !this.mayApprove) return false
    const described = { ...this.described(owner), redirectUri }
    return parsed.questions.length === 0
      ? this.skipsPage(described, undefined)
      : this.skipsPageWithAnswer(described)
  }

  private async skipsPageWithAnswer(described: PriorConsentQuestion): Promise<boolean> {
    if (await this.lacksAnswer()) return false
    const answer = await this.answer()
    const choice = answer && { [answer.name]: answer.given.value }
    return this.skipsPage(choice === undefined ? described : { ...described, choice }, answer)
  }

  private skipsPage(question: PriorConsentQuestion, answer: OwnerAnswerTo | undefined): Eventual<boolean> {
    return following(
      this.visit.host.skipConsent(question),
      (skips) => skips || (this.visit.server.store.consents !== undefined && this.isRemembered(answer)),
    )
  }

  private async isRemembered(answer: OwnerAnswerTo | undefined): Promise<boolean> {
    const remembered = await this.remembered()
    const { scope, facts } = this.visit.parsed
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

  async isStillRemembered(): Promise<boolean> {
    const consent = await this.lookUp()
    return consent !== undefined && this.demands.every((holds) => holds(consent))
  }

  private remembered(): Promise<RememberedConsent | undefined> {
    this.memory ??= this.lookUp()
    return this.memory
  }

  private async lookUp(): Promise<RememberedConsent | undefined> {
    const { client, owner } = this.visit
    if (owner === undefined || !this.mayRemember()) return undefined
    return this.visit.server.store.consents?.find(owner.subject, client)
  }

  /** Everybody can register a client under any name. */
  private mayRemember(): boolean {
    const { server, client, redirectUri } = this.visit
    if (server.store.consents === undefined || client.selfRegistered === true) return false
    return redirectUri === undefined ? isProven(this.visit) : this.mayApprove
  }

  private described({ subject }: ResourceOwner): ChoicesQuestion {
    const { client, redirectUri, parsed } = this.visit
    const { scope, facts } = parsed
    return { clientId: client.client_id, subject, scope, facts, redirectUri }
  }
}

export const asksOnPage = (asked: AskedQuestion | undefined): boolean =>
  asked !== undefined && asked.question.answers.length !== 1

export function offeredBy(asked: AskedQuestion | undefined): OfferedQuestion | undefined {
  if (asked === undefined) return undefined
  const { name } = asked.question
  const answers = asked.question.answers.map((answer) => {
    const { label: _, ...given } = answer
    return given
  })
  return { extension: asked.extension, name, answers }
}

/**
 * A public client needs an https redirection URI: otherwise another app could pass for it (RFC 6749 10.2, RFC 8252
 * 8.6).
 */
const isProven = ({ client, redirectUri }: Visit): boolean =>
  client.client_type === 'confidential' || (redirectUri !== undefined && protocolOf(redirectUri) === 'https:')
