import type { Client } from '../protocol/client'
import type { Extension, ExtensionQuestionRequest } from '../protocol/extension'
import { dataOf } from '../protocol/extension-data'
import { type OwnerQuestion, requireQuestion } from '../protocol/owner-question'
import type { Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { ServerContext } from '../server/context'
import type { ParsedAuthorizationRequest } from './authorization-request'
import type { OfferedQuestion, OwnerAnswerTo } from './consent-offer'
import { type ChoicesQuestion, mayHavePriorConsent, type PriorConsentQuestion } from './prior-consent'

/** A question for the owner of a request, and the extension that asks. */
interface AskedQuestion {
  readonly extension: string
  readonly question: OwnerQuestion
}

/** The functions of the host that know the owner. */
export interface OwnerHost {
  /** Whether the owner has approved before. If true, the server shows no consent page. */
  skipConsent(question: PriorConsentQuestion): Promise<boolean>
  /** What the option `choices` returns for a request; undefined without the option. */
  choices(question: ChoicesQuestion): Promise<unknown>
}

/** A valid request. */
interface RequestInQuestion {
  readonly client: Client
  readonly redirectUri: string
  /** The parameters of the request, after extensions had their say. */
  readonly parameters: Parameters
  readonly parsed: ParsedAuthorizationRequest
  /** Undefined if no owner is logged in. */
  readonly resourceOwner: ResourceOwner | undefined
}

/** What the host and the extensions say about one request and its owner. Each function runs once, and only if it counts. */
export class OwnerQuestions {
  private question: Promise<AskedQuestion | undefined> | undefined
  private approval: Promise<boolean> | undefined

  constructor(
    private readonly askers: ServerContext['askers'],
    private readonly request: RequestInQuestion,
    private readonly host: OwnerHost,
  ) {}

  /**
   * The question for the owner; undefined if no extension asks one.
   *
   * @throws TypeError for what is no question, and for a second question: the page has room for one.
   */
  asked(): Promise<AskedQuestion | undefined> {
    this.question ??= this.ask()
    return this.question
  }

  /** Whether the request may be approved without a page, and the host says that the owner has approved before. */
  hasApproved(): Promise<boolean> {
    this.approval ??= this.askAboutApproval()
    return this.approval
  }

  private async ask(): Promise<AskedQuestion | undefined> {
    const { askers = [] } = this
    const { resourceOwner, client, parameters, parsed } = this.request
    if (resourceOwner === undefined) return undefined
    const { responseType, scope, extensionData } = parsed
    const askHost = () => this.host.choices(this.described(resourceOwner))
    const request = { client, parameters, responseType, scope, askHost }
    let asked: AskedQuestion | undefined
    for (const extension of askers) {
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

  private async askAboutApproval(): Promise<boolean> {
    const { resourceOwner, client, redirectUri, parsed } = this.request
    if (resourceOwner === undefined || !mayHavePriorConsent(client, parsed.responseType, redirectUri))
      return false
    const described = this.described(resourceOwner)
    if (this.askers === undefined) return this.host.skipConsent(described)
    const asked = await this.asked()
    if (lacksAnswer(asked)) return false
    const answer = onlyAnswer(asked)
    const choice = answer && { [answer.name]: answer.value }
    return this.host.skipConsent(choice === undefined ? described : { ...described, choice })
  }

  private described({ subject }: ResourceOwner): ChoicesQuestion {
    const { client, redirectUri, parsed } = this.request
    const { scope, facts } = parsed
    return { clientId: client.client_id, subject, scope, facts, redirectUri }
  }
}

async function questionOf(
  extension: Extension,
  owner: ResourceOwner,
  request: ExtensionQuestionRequest,
): Promise<OwnerQuestion | undefined> {
  const question: unknown = await extension.askOwner?.(owner, request)
  if (question === undefined) return undefined
  requireQuestion(question, `The extension "${extension.name}" asks a question with mistakes:`)
  return question
}

/** Whether only the owner can answer: there is no answer, or a choice. */
export function lacksAnswer(asked: AskedQuestion | undefined): boolean {
  return asked !== undefined && asked.question.answers.length !== 1
}

/** The only answer of a question; undefined without a question, and for a choice. */
export function onlyAnswer(asked: AskedQuestion | undefined): OwnerAnswerTo | undefined {
  const [only, second] = asked?.question.answers ?? []
  if (asked === undefined || only === undefined || second !== undefined) return undefined
  return { extension: asked.extension, name: asked.question.name, value: only.value }
}

/** What the record keeps of a question until the decision. */
export function offeredBy(asked: AskedQuestion | undefined): OfferedQuestion | undefined {
  if (asked === undefined) return undefined
  const { name, answers } = asked.question
  return { extension: asked.extension, name, answers: answers.map(({ value }) => value) }
}
