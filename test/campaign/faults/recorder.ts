import { photoBook, photoFrame } from '../../support/flows/clients'
import {
  authorizationRequest,
  basic,
  formOf,
  redemption,
  usualPaths,
  type Fields,
} from '../../support/flows/flow'
import { tokenExchangeName, accessTokenType } from '../../support/flows/token-exchange'
import { answerOf } from './answer'
import { Exchange, type Message } from './exchange'
import { grantedBy, type Act, type Answer, type Attempt } from './history'

const identified = { client_id: photoBook.registration.client_id }
const resourceServer = {
  Authorization: basic(photoFrame.registration.client_id, photoFrame.secret),
}
const json = { 'Content-Type': 'application/json' }

/** Metadata of a client that registers itself and gets tokens for itself. */
const notesMachine = JSON.stringify({
  client_name: 'Notes Machine',
  grant_types: ['client_credentials'],
  response_types: [],
  token_endpoint_auth_method: 'client_secret_post',
  scope: 'photos:read',
})

/** An access token without a refresh token, and its line. */
export interface Grant {
  readonly line: number
  readonly accessToken: string
}

/** Whom the tokens of a line are of: what a guard and an introspection must say. */
export interface Holder {
  readonly owner?: string
  readonly clientId: string
  readonly scope: string
}

const ownerOf = (line: number): string => `owner-${line}`
const headersOf = (line: number) => ({ 'X-Owner': ownerOf(line) })
const ofPhotoBook = (line: number): Holder => ({
  owner: ownerOf(line),
  clientId: photoBook.registration.client_id,
  scope: photoBook.registration.scope,
})
const ofPhotoFrame: Holder = {
  clientId: photoFrame.registration.client_id,
  scope: photoFrame.registration.scope,
}

const post = (path: string, fields: Fields | string, headers: Message['headers'] = {}): Message => ({
  method: 'POST',
  path,
  headers,
  body: formOf(fields),
})

/** A registration as one text: the identifier, the secret, and the token for its configuration. */
const partsOf = (registration: string): readonly string[] => registration.split(' ')

const configuration = (method: 'GET' | 'DELETE', registration: string): Message => {
  const [client_id, , token = ''] = partsOf(registration)
  return {
    method,
    path: `/register/client?${formOf({ client_id })}`,
    headers: { Authorization: `Bearer ${token}` },
  }
}

const forItself = { grant_type: 'client_credentials', scope: ofPhotoFrame.scope }

/** The request by which Photo Book, its owner, a resource server or a machine does this. */
const messages: Readonly<Record<Act, (presented: string, line: number) => Message>> = {
  ask: (_, line) => ({
    method: 'GET',
    path: `${usualPaths.authorize}?${formOf(authorizationRequest(photoBook))}`,
    headers: headersOf(line),
  }),
  decide: (form, line) => post(usualPaths.authorize, `${form}&decision=approve`, headersOf(line)),
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
  grant: () => post(usualPaths.token, forItself, resourceServer),
  revokeOwn: (token) => post(usualPaths.revoke, { token }, resourceServer),
  exchange: (subject_token) =>
    post(
      usualPaths.token,
      {
        grant_type: tokenExchangeName,
        subject_token,
        subject_token_type: accessTokenType,
        scope: ofPhotoFrame.scope,
      },
      resourceServer,
    ),
  register: () => ({ method: 'POST', path: '/register', headers: json, body: notesMachine }),
  configure: (registration) => configuration('GET', registration),
  authenticate: (registration) => {
    const [client_id, client_secret] = partsOf(registration)
    return post(usualPaths.token, { ...forItself, client_id, client_secret })
  },
  unregister: (registration) => configuration('DELETE', registration),
}

/**
 * A client of several servers that stand for one: it writes down what it asked and what came, and when. The last of them
 * only guards.
 */
export class Recorder {
  readonly attempts: Attempt[] = []
  private readonly issuing: readonly [Exchange, ...Exchange[]]
  private readonly exchanges: readonly Exchange[]
  private readonly holders = new Map<number, Holder>()
  private lines = 0
  /** The server that visitors ask nothing. */
  resting: number | undefined

  /** @param patience milliseconds after which a request counts as never answered. */
  constructor([first, ...others]: readonly [string, ...string[]], guarding?: string, patience?: number) {
    this.issuing = [new Exchange(first, patience), ...others.map((url) => new Exchange(url, patience))]
    this.exchanges = [...this.issuing, ...(guarding === undefined ? [] : [new Exchange(guarding, patience)])]
  }

  get servers(): number {
    return this.exchanges.length
  }

  /** @param holder whom its tokens are of. Default: Photo Book and an owner of this line alone. */
  newLine(holder?: Holder): number {
    const line = (this.lines += 1)
    this.holders.set(line, holder ?? ofPhotoBook(line))
    return line
  }

  /** A client gets a token for itself, in a new line. */
  async grant(server: number): Promise<{ readonly line: number; readonly answer: Answer }> {
    const line = this.newLine(ofPhotoFrame)
    return { line, answer: await this.attempt(server, line, 'grant', '') }
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
    const { owner } = this.holders.get(line) ?? ofPhotoFrame
    const own = this.newLine({ ...ofPhotoFrame, ...(owner === undefined ? {} : { owner }) })
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
    const able = act === 'guard' ? this.exchanges : this.issuing
    const exchange = able[server % able.length] ?? this.issuing[0]
    try {
      const reply = await exchange.send(messages[act](presented, line))
      return answerOf(act, reply, this.holders.get(line))
    } catch (error) {
      return { kind: 'unanswered', what: error instanceof Error ? error.message : String(error) }
    }
  }

  /** A server has moved: it was started again. */
  moved(server: number, url: string): void {
    this.issuing[server]?.moveTo(url)
  }

  close(): void {
    for (const exchange of this.exchanges) exchange.close()
  }
}
