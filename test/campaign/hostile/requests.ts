import { claimsAt, hubOnCurve, jwt } from '../../support/assertions/jwt'
import type { ClientApplication } from '../../support/flows/clients'
import { consentFormOf } from '../../support/flows/consent-form'
import { authorizationRequest, basic, redemption, type Fields } from '../../support/flows/flow'
import { macHeader } from '../../support/flows/mac'
import { wonderland } from '../../support/flows/password'
import { exchangeOf } from '../../support/flows/token-exchange'
import type { Attempt, Endpoint } from './attempt'
import type { Processes } from '../processes'
import { bytesOf, encodedPairs, type Message, type Pair } from './message'
import { book, jwtBearerName, print, service, signer } from '../parties'
import type { Notes } from './notes'
import { converse, headerOf, type Answer } from './wire'

const formType = 'application/x-www-form-urlencoded'
const own = { grant_type: 'client_credentials', scope: 'photos:read' }
const host: Pair = ['Host', 'localhost']
const alice: Pair = ['X-Owner', 'alice']
const givesToken = ({ status, body }: Answer) => status === 200 && body.includes('"access_token"')
const asksOwner = ({ status, body }: Answer) =>
  status === 200 && body.includes('name="authorization_request"')
const sendsCode = (answer: Answer) => /[?&]code=/.test(headerOf(answer, 'location') ?? '')
const codeIn = (answer: Answer) =>
  new URL(headerOf(answer, 'location') ?? 'about:blank').searchParams.get('code') ?? ''

/** Makes valid requests of every kind at a running server, in whose time it lives. */
export class ValidRequests {
  /** Makes one more of each kind. */
  readonly kinds: Readonly<Record<string, () => Promise<Attempt>>> = {
    'authorization request by GET': async () => this.authorization('GET'),
    'authorization request by POST': async () => this.authorization('POST'),
    decision: async () => this.decision(await this.consent(book)),
    'code of a public client': () => this.code(book),
    'code of a confidential client': () => this.code(print),
    refresh: () => this.refresh(),
    password: async () =>
      this.grant('password', print, { grant_type: 'password', ...wonderland, scope: 'photos:read' }),
    'client credentials': async () => ({
      ...this.grant('client credentials', service, own),
      anyClient: true,
    }),
    'JWT assertion': async () => this.assertion(),
    'token exchange': async () => this.exchange(),
    revocation: async () => this.revocation(),
    introspection: async () => this.introspection(),
    metadata: async () => this.metadata(),
    'guard by bearer': async () => this.bearer(),
    'guard by mac': async () => this.mac(),
  }

  constructor(
    private readonly processes: Processes,
    /** Whether a refresh token may come again: then it is not used up by its use. */
    private readonly hasGrace: boolean,
  ) {}

  async make(kind: string): Promise<Attempt> {
    const make = this.kinds[kind]
    if (make === undefined) throw new Error(`There is no kind ${kind}.`)
    return make()
  }

  async send(message: Message): Promise<Answer> {
    const [port = 0] = this.processes.ports
    return converse(port, bytesOf(message))
  }

  /** Complains of each kind that does not work. */
  async tryEach(notes: Notes): Promise<void> {
    for (const kind of Object.keys(this.kinds)) {
      const attempt = await this.make(kind).catch(() => undefined)
      const answer = attempt && (await this.send(attempt.message))
      if (!answer || !attempt.won(answer)) notes.lacks(kind, answer?.body ?? '')
    }
  }

  /** Milliseconds since the epoch, as the server has it. */
  private clock(): number {
    return this.processes.clock(0)
  }

  /** Uses a request up: what it brings is not given again. A decision is used up by the redemption of its code. */
  async useUp({ kind, message }: Attempt): Promise<void> {
    const answer = await this.send(message)
    if (kind === 'decision') await this.send(this.grant(kind, book, redemption(book, codeIn(answer))).message)
  }

  private authorization(method: 'GET' | 'POST'): Attempt {
    const request = authorizationRequest(book)
    const { client_id, redirect_uri, response_type, code_challenge_method } = request
    const fields = encodedPairs(request)
    const message =
      method === 'GET'
        ? { method, path: '/authorize', query: fields, headers: [host, alice], body: [] }
        : form('/authorize', request, [alice])
    return {
      ...plain(`authorization request by ${method}`, 'authorize', message),
      decisive: { client_id, response_type, code_challenge_method },
      decisiveIfSent: { redirect_uri: String(redirect_uri) },
      won: asksOwner,
    }
  }

  private async consent(client: ClientApplication): Promise<Fields> {
    const query = encodedPairs(authorizationRequest(client))
    const { status, body } = await this.send({
      method: 'GET',
      path: '/authorize',
      query,
      headers: [host, alice],
      body: [],
    })
    return { ...consentFormOf({ status, text: body }, '/authorize').fields, decision: 'approve' }
  }

  private decision(fields: Fields): Attempt {
    const { authorization_request = '', decision = '' } = fields
    return {
      ...plain('decision', 'authorize', form('/authorize', fields, [alice])),
      decisive: { authorization_request, decision },
      decisiveHeaders: { 'x-owner': 'alice' },
      secrets: [authorization_request],
      once: true,
      won: sendsCode,
    }
  }

  private async code(client: ClientApplication): Promise<Attempt> {
    const answer = await this.send(this.decision(await this.consent(client)).message)
    const code = codeIn(answer)
    const kind = client === book ? 'code of a public client' : 'code of a confidential client'
    const attempt = this.grant(kind, client, redemption(client, code))
    return { ...attempt, once: true, secrets: [...attempt.secrets, code] }
  }

  private async tokens(client: ClientApplication = print): Promise<Record<string, unknown>> {
    return this.granted(await this.code(client))
  }

  private async granted({ message }: Attempt): Promise<Record<string, unknown>> {
    const { status, body } = await this.send(message)
    if (status !== 200) throw new Error(`No tokens came: ${status} ${body}`)
    return JSON.parse(body)
  }

  private async refresh(): Promise<Attempt> {
    const refresh_token = String((await this.tokens())['refresh_token'])
    const attempt = this.grant('refresh', print, { grant_type: 'refresh_token', refresh_token })
    return { ...attempt, once: !this.hasGrace, secrets: [...attempt.secrets, refresh_token] }
  }

  private assertion(): Attempt {
    const assertion = jwt(hubOnCurve, claimsAt(Math.floor(this.clock() / 1000), hubOnCurve))
    const fields = { grant_type: jwtBearerName, assertion, scope: 'photos:read' }
    const attempt = this.grant('JWT assertion', print, fields)
    return { ...attempt, once: true, secrets: [...attempt.secrets, assertion] }
  }

  private async exchange(): Promise<Attempt> {
    const token = String((await this.tokens())['access_token'])
    const attempt = this.grant('token exchange', service, exchangeOf(token, { scope: 'photos:read' }))
    return { ...attempt, dies: token, secrets: [...attempt.secrets, token] }
  }

  /** A token request in which everything but the scope decides. */
  private grant(kind: string, client: ClientApplication, fields: Fields): Attempt {
    return { ...this.ofClient(kind, 'token', client, fields), won: givesToken }
  }

  private ofClient(
    kind: string,
    endpoint: Endpoint,
    client: ClientApplication,
    fields: Fields,
  ): Omit<Attempt, 'won'> {
    const { registration, secret } = client
    const sent: Fields = { ...(secret === undefined ? { client_id: registration.client_id } : {}), ...fields }
    const authorization = secret === undefined ? undefined : basic(registration.client_id, secret)
    const headers: Pair[] = authorization === undefined ? [] : [['Authorization', authorization]]
    const { scope: _asked, ...decisive } = defined(sent)
    return {
      ...plain(kind, endpoint, form(`/${endpoint}`, sent, headers)),
      decisive,
      decisiveHeaders: { 'content-type': formType, ...(authorization && { authorization }) },
      secrets: secret === undefined ? [] : [secret],
    }
  }

  private async revocation(): Promise<Attempt> {
    const token = String((await this.tokens())['access_token'])
    return {
      ...this.ofClient('revocation', 'revoke', print, { token }),
      // Any token is answered alike (RFC 7009 2.2), so the token itself decides nothing.
      decisive: {},
      anyClient: true,
      won: ({ status }) => status === 200,
    }
  }

  private async introspection(): Promise<Attempt> {
    const token = String((await this.tokens())['access_token'])
    const attempt = this.ofClient('introspection', 'introspect', service, { token })
    return {
      ...attempt,
      dies: token,
      secrets: [...attempt.secrets, token],
      won: ({ status, body }) => status === 200 && body.includes('"active":true'),
    }
  }

  /** The request that revokes this token. */
  revocationOf(token: string): Message {
    return this.ofClient('revocation', 'revoke', print, { token }).message
  }

  private metadata(): Attempt {
    const path = '/.well-known/oauth-authorization-server'
    const message = { method: 'GET', path, query: [], headers: [host], body: [] }
    return { ...plain('metadata', 'metadata', message), won: tellsIssuer }
  }

  private async bearer(): Promise<Attempt> {
    const token = String((await this.tokens())['access_token'])
    const authorization = `Bearer ${token}`
    return {
      ...plain('guard by bearer', 'photos', photos('localhost', authorization)),
      decisiveHeaders: { authorization },
      secrets: [token],
      dies: token,
      won: seesPhotos,
    }
  }

  private async mac(): Promise<Attempt> {
    const { access_token, mac_key, mac_algorithm } = await this.granted(this.grant('mac', signer, own))
    const key = { access_token: String(access_token), mac_key: String(mac_key) }
    const tokens = { ...key, mac_algorithm: String(mac_algorithm) }
    const authorization = macHeader(tokens, { port: '80', ts: this.clock() })
    return {
      ...plain('guard by mac', 'photos', photos('api.example.com', authorization)),
      decisiveHeaders: { authorization, host: 'api.example.com' },
      secrets: [key.access_token, key.mac_key],
      signed: true,
      once: true,
      won: seesPhotos,
    }
  }
}

const tellsIssuer = ({ status, body }: Answer) => status === 200 && body.includes('"issuer"')
const seesPhotos = ({ status, body }: Answer) => status === 200 && body.includes('"clientId"')

function plain(kind: string, endpoint: Endpoint, message: Message): Omit<Attempt, 'won'> {
  const nothing = { decisive: {}, decisiveHeaders: {}, secrets: [] }
  return {
    kind,
    endpoint,
    message,
    ...nothing,
    signed: false,
    anyClient: false,
    once: false,
    dies: undefined,
  }
}

function form(path: string, fields: Fields, headers: readonly Pair[]): Message {
  const type: Pair = ['Content-Type', formType]
  return { method: 'POST', path, query: [], headers: [host, type, ...headers], body: encodedPairs(fields) }
}

function photos(name: string, authorization: string): Message {
  const headers: Pair[] = [
    ['Host', name],
    ['Authorization', authorization],
  ]
  return { method: 'GET', path: '/photos', query: [], headers, body: [] }
}

function defined(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
