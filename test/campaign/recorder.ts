import { isRecord } from '../../lib/primitives/values'
import type { ClientApplication } from '../support/flows/clients'
import { formOf } from '../support/flows/flow'
import { answerOf, get, requestOf, type Act, type Party } from './acts'
import { Exchange, type Message } from './exchange'
import { grantedBy, groupsOf, type Answer, type Attempt } from './history'
import { book, service } from './parties'

/** An access token without a refresh token, and its line. */
interface Grant {
  readonly line: number
  readonly accessToken: string
}

/** The clients of servers that stand for one: it writes down what they asked and what came, and when. */
export class Recorder {
  readonly attempts: Attempt[] = []
  private readonly exchanges: readonly Exchange[]
  private readonly parties = new Map<number, Party>()
  private lines = 0
  /** The server that visitors ask nothing. */
  resting: number | undefined

  constructor(urls: readonly string[]) {
    this.exchanges = urls.map((url) => new Exchange(url))
  }

  get servers(): number {
    return this.exchanges.length
  }

  /** @param client whose tokens come of it; with an owner of this line alone, unless another one is told. */
  newLine(client: ClientApplication = book, owner?: string): number {
    const line = (this.lines += 1)
    const isOwned = client !== service || owner !== undefined
    this.parties.set(line, { client, ...(isOwned ? { owner: owner ?? `owner-${line}` } : {}) })
    return line
  }

  private partyOf(line: number): Party {
    return this.parties.get(line) ?? { client: service }
  }

  /** A client exchanges an access token of the line. What it gets belongs to a new line: it outlives the exchanged token. */
  async exchange(server: number, line: number, accessToken: string): Promise<Grant | undefined> {
    const sentAt = performance.now()
    const answer = await this.answer(server, line, 'exchange', accessToken)
    const times = { sentAt, answeredAt: performance.now() }
    const [granted] = grantedBy({ answer })
    const judged: Answer = granted === undefined ? answer : { kind: 'accepted' }
    this.attempts.push({ line, act: 'exchange', presented: accessToken, ...times, answer: judged })
    if (granted === undefined) return undefined
    const own = this.newLine(service, this.partyOf(line).owner)
    this.attempts.push({ line: own, act: 'grant', presented: '', ...times, answer })
    return { line: own, accessToken: granted }
  }

  /** @param server whose turn it is; any number. */
  async attempt(server: number, line: number, act: Act, presented: string): Promise<Answer> {
    const sentAt = performance.now()
    const answer = await this.answer(server, line, act, presented)
    this.attempts.push({ line, act, presented, sentAt, answeredAt: performance.now(), answer })
    return answer
  }

  private async answer(server: number, line: number, act: Act, presented: string): Promise<Answer> {
    const exchange = this.exchanges[server % this.exchanges.length]
    if (exchange === undefined) throw new Error('There is no server.')
    const party = this.partyOf(line)
    try {
      const message = requestOf(act, presented, party)
      const sent = act === 'enter' ? await withForm(exchange, message) : message
      return answerOf(act, await exchange.send(sent), party)
    } catch (error) {
      return { kind: 'unanswered', what: error instanceof Error ? error.message : String(error) }
    }
  }

  /** A server has moved: it was started again. */
  moved(server: number, url: string): void {
    this.exchanges[server]?.moveTo(url)
  }

  close(): void {
    for (const exchange of this.exchanges) exchange.close()
  }
}

/** The owner opens the page of devices first: what is sent has the fields of its form. */
async function withForm(exchange: Exchange, message: Message): Promise<Message> {
  const headers = { ...message.headers, Accept: 'application/json' }
  const body: unknown = JSON.parse((await exchange.send(get(message.path, headers))).text)
  const fields = isRecord(body) && isRecord(body['fields']) ? body['fields'] : {}
  return { ...message, body: `${message.body}&${formOf({ form: String(fields['form']) })}` }
}

const several = 8

/** Presents everything once more, at each process, when all faults are over and all that is late has come. */
export async function finalReads(recorder: Recorder): Promise<void> {
  const lines = groupsOf(recorder.attempts, ({ line }) => line).entries()
  const look = async (): Promise<void> => {
    // Several look, who share the one list.
    for (const [turn, attempts] of lines) await lookAt(recorder, attempts, turn)
  }
  await Promise.all(Array.from({ length: several }, look))
}

async function lookAt(recorder: Recorder, attempts: readonly Attempt[], turn: number): Promise<void> {
  const line = attempts[0]?.line ?? 0
  const granted = (...acts: readonly Act[]): readonly (readonly string[])[] =>
    attempts.filter(({ act }) => acts.includes(act)).map(grantedBy)
  const present = async (act: Act, credentials: readonly string[], at = turn): Promise<void> => {
    for (const credential of new Set(credentials)) await recorder.attempt(at, line, act, credential)
  }
  const pairs = granted('redeem', 'refresh', 'poll')
  const accessTokens = [...pairs, ...granted('grant')].flatMap((pair) => pair.slice(0, 1))
  for (let server = 0; server < recorder.servers; server += 1) await present('guard', accessTokens, server)
  for (const act of ['configure', 'authenticate'] as const) await present(act, granted('register').flat())
  // The last one: an earlier one would end the authorization.
  await present('refresh', pairs.flatMap((pair) => pair.slice(1)).slice(-1))
  await present('decide', granted('ask').flat())
  // A code that was redeemed ends its authorization now, and whatever came of it.
  await present('redeem', granted('decide').flat())
  await present('guard', accessTokens)
}
