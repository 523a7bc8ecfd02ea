import { photoBook, photoFrame } from '../support/flows/clients'
import {
  authorizationRequest,
  basic,
  formOf,
  redemption,
  usualPaths,
  type Fields,
} from '../support/flows/flow'
import { answerOf } from './answer'
import { Exchange, type Message } from './exchange'
import type { Act, Answer, Attempt } from './history'

const identified = { client_id: photoBook.registration.client_id }
const resourceServer = {
  Authorization: basic(photoFrame.registration.client_id, photoFrame.secret),
}
const owner = { 'X-Owner': 'alice' }

const post = (path: string, fields: Fields | string, headers: Message['headers'] = {}): Message => ({
  method: 'POST',
  path,
  headers,
  body: formOf(fields),
})

/** The request by which Photo Book, its owner or a resource server does this. */
const messages: Readonly<Record<Act, (presented: string) => Message>> = {
  ask: () => ({
    method: 'GET',
    path: `${usualPaths.authorize}?${formOf(authorizationRequest(photoBook))}`,
    headers: owner,
  }),
  decide: (form) => post(usualPaths.authorize, `${form}&decision=approve`, owner),
  redeem: (code) => post(usualPaths.token, { ...identified, ...redemption(photoBook, code) }),
  refresh: (refreshToken) =>
    post(usualPaths.token, { ...identified, grant_type: 'refresh_token', refresh_token: refreshToken }),
  guard: (accessToken) => ({
    method: 'GET',
    path: usualPaths.photos,
    headers: { Authorization: `Bearer ${accessToken}` },
  }),
  introspect: (token) => post(usualPaths.introspect, { token }, resourceServer),
  revoke: (token) => post(usualPaths.revoke, { ...identified, token }),
}

/**
 * A client of several servers that stand for one: it writes down what it asked and what came, and when. The last of them
 * only guards.
 */
export class Recorder {
  readonly attempts: Attempt[] = []
  private readonly issuing: readonly [Exchange, ...Exchange[]]
  private readonly exchanges: readonly Exchange[]
  private lines = 0

  constructor([first, ...others]: readonly [string, ...string[]], guarding: string) {
    this.issuing = [new Exchange(first), ...others.map((url) => new Exchange(url))]
    this.exchanges = [...this.issuing, new Exchange(guarding)]
  }

  get servers(): number {
    return this.exchanges.length
  }

  newLine(): number {
    return (this.lines += 1)
  }

  /** @param server whose turn it is; any number. */
  async attempt(server: number, line: number, act: Act, presented: string): Promise<Answer> {
    const sentAt = performance.now()
    const answer = await this.answer(server, act, presented)
    this.attempts.push({ line, act, presented, sentAt, answeredAt: performance.now(), answer })
    return answer
  }

  private async answer(server: number, act: Act, presented: string): Promise<Answer> {
    const able = act === 'guard' ? this.exchanges : this.issuing
    const exchange = able[server % able.length] ?? this.issuing[0]
    try {
      return answerOf(act, await exchange.send(messages[act](presented)))
    } catch (error) {
      return { kind: 'wrong', what: error instanceof Error ? error.message : String(error) }
    }
  }

  close(): void {
    for (const exchange of this.exchanges) exchange.close()
  }
}
