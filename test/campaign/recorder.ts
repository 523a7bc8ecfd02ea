import { isRecord } from '../../lib/primitives/options-reader'
import type { ClientApplication } from '../support/flows/clients'
import { deviceCode } from '../support/flows/device-stage'
import {
  authorizationRequest,
  basic,
  formOf,
  redemption,
  usualPaths,
  type Fields,
} from '../support/flows/flow'
import { exchangeOf } from '../support/flows/token-exchange'
import { answerOf, type Holder } from './answer'
import { Exchange, type Message } from './exchange'
import { grantedBy, type Act, type Answer, type Attempt } from './history'
import { book, service } from './parties'

const scope = 'photos:read'

/** Whom a line is about: its owner, if it has one, and the client that has its tokens. */
interface Party {
  readonly owner?: string
  readonly client: ClientApplication
}

const holderOf = ({ owner, client: { registration } }: Party): Holder => ({
  clientId: registration.client_id,
  // A machine and a television ask for a part of what they may have.
  scope: registration === book.registration ? registration.scope : scope,
  ...(owner === undefined ? {} : { owner }),
})

const serviceHeaders = { Authorization: basic(service.registration.client_id, service.secret ?? '') }

/** Metadata of a client that registers itself and gets tokens for itself. */
const notesMachine = JSON.stringify({
  client_name: 'Notes Machine',
  grant_types: ['client_credentials'],
  response_types: [],
  token_endpoint_auth_method: 'client_secret_post',
  scope,
})

type Headers = Readonly<Record<string, string>>

const post = (path: string, fields: Fields | string, headers: Headers = {}): Message => ({
  method: 'POST',
  path,
  headers,
  body: formOf(fields),
})

const get = (path: string, headers: Headers): Message => ({ method: 'GET', path, headers })

/** A registration is one text: the identifier, the secret, and the token for its configuration. */
const configuration = (method: 'GET' | 'DELETE', registration: string): Message => {
  const [client_id, , token = ''] = registration.split(' ')
  const path = `/register/client?${formOf({ client_id })}`
  return { method, path, headers: { Authorization: `Bearer ${token}` } }
}

const forItself = { grant_type: 'client_credentials', scope }
const { token: atToken, revoke: atRevocation, introspect, photos, authorize } = usualPaths
const identified = ({ client }: Party): Fields => ({ client_id: client.registration.client_id })
const ownerOf = ({ owner = '' }: Party): Headers => ({ 'X-Owner': owner })

/** The request by which an app, its owner, a resource server or a machine does this. */
const messages: Readonly<Record<Act, (presented: string, party: Party) => Message>> = {
  ask: (_, party) => get(`${authorize}?${formOf(authorizationRequest(book))}`, ownerOf(party)),
  decide: (form, party) => post(authorize, `${form}&decision=approve`, ownerOf(party)),
  deny: (form, party) => post(authorize, `${form}&decision=deny`, ownerOf(party)),
  redeem: (code, party) => post(atToken, { ...identified(party), ...redemption(book, code) }),
  refresh: (refresh_token, party) =>
    post(atToken, { ...identified(party), grant_type: 'refresh_token', refresh_token }),
  guard: (accessToken) => get(photos, { Authorization: `Bearer ${accessToken}` }),
  introspect: (token) => post(introspect, { token }, serviceHeaders),
  revoke: (token, party) => post(atRevocation, { ...identified(party), token }),
  begin: (_, party) => post('/device_authorization', { ...identified(party), scope }),
  enter: (user_code, party) => post('/device', { user_code }, ownerOf(party)),
  allow: (form, party) => post('/device', `${form}&decision=approve`, ownerOf(party)),
  poll: (device_code, party) => post(atToken, { ...identified(party), grant_type: deviceCode, device_code }),
  grant: () => post(atToken, forItself, serviceHeaders),
  revokeOwn: (token) => post(atRevocation, { token }, serviceHeaders),
  exchange: (token) => post(atToken, exchangeOf(token, { scope }), serviceHeaders),
  register: () => ({
    ...post('/register', notesMachine, { 'Content-Type': 'application/json' }),
  }),
  configure: (registration) => configuration('GET', registration),
  authenticate: (registration) => {
    const [client_id, client_secret] = registration.split(' ')
    return post(atToken, { ...forItself, client_id, client_secret })
  },
  unregister: (registration) => configuration('DELETE', registration),
}

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
      const message = messages[act](presented, party)
      const sent = act === 'enter' ? await withForm(exchange, message) : message
      return answerOf(act, await exchange.send(sent), holderOf(party))
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
