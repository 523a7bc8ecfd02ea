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
const scope = 'photos:read'
const own = { grant_type: 'client_credentials', scope }
const host: Pair = ['Host', 'localhost']
const alice: Pair = ['X-Owner', 'alice']

/** A request that succeeds when its body has this. */
const shows =
  (part: string) =>
  ({ status, body }: Answer) =>
    status === 200 && body.includes(part)
const codeIn = (answer: Answer) =>
  new URL(headerOf(answer, 'location') ?? 'about:blank').searchParams.get('code') ?? ''

const bringsCode = (answer: Answer) => /[?&]code=/.test(headerOf(answer, 'location') ?? '')

/** An attempt whose kind is not known yet. */
type Made = Omit<Attempt, 'kind'>
type Bend = Partial<Made>

/** Makes valid requests of every kind at a running server, in whose time it lives. */
export class ValidRequests {
  /** Makes one more of each kind. */
  readonly kinds: Readonly<Record<string, () => Promise<Made>>> = {
    'authorization request by GET': async () => asking(question(book)),
    'authorization request by POST': async () =>
      asking(form('/authorize', authorizationRequest(book), [alice])),
    decision: () => this.decision(book),
    'code of a public client': () => this.code(book),
    'code of a confidential client': () => this.code(print),
    refresh: async () => {
      const refresh_token = await this.token('refresh_token')
      const bend = { once: !this.hasGrace, secrets: [refresh_token] }
      return grant(print, { grant_type: 'refresh_token', refresh_token }, bend)
    },
    password: async () => grant(print, { grant_type: 'password', ...wonderland, scope }),
    'client credentials': async () => grant(service, own, { anyClient: true }),
    'JWT assertion': async () => {
      const assertion = jwt(hubOnCurve, claimsAt(Math.floor(this.clock() / 1000), hubOnCurve))
      const fields = { grant_type: jwtBearerName, assertion, scope }
      return grant(print, fields, { once: true, secrets: [assertion] })
    },
    'token exchange': async () => {
      const token = await this.token()
      return grant(service, exchangeOf(token, { scope }), { dies: token, secrets: [token] })
    },
    // Any token is answered alike (RFC 7009 2.2), so the token itself decides nothing.
    revocation: async () =>
      ofClient('revoke', print, { token: await this.token() }, shows(''), { decisive: {}, anyClient: true }),
    introspection: async () => {
      const token = await this.token()
      const bend = { dies: token, secrets: [token] }
      return ofClient('introspect', service, { token }, shows('"active":true'), bend)
    },
    metadata: async () => {
      const path = '/.well-known/oauth-authorization-server'
      return attempt('metadata', get(path, [host]), shows('"issuer"'))
    },
    'guard by bearer': async () => {
      const token = await this.token()
      return guarded('localhost', `Bearer ${token}`, {}, { secrets: [token], dies: token })
    },
    'guard by mac': async () => {
      const { access_token = '', mac_key = '', mac_algorithm = '' } = await this.granted(grant(signer, own))
      const tokens = { access_token, mac_key, mac_algorithm }
      const header = macHeader(tokens, { port: '80', ts: this.clock() })
      const decisive = { host: 'api.example.com' }
      const secrets = [access_token, mac_key]
      return guarded(decisive.host, header, decisive, { secrets, signed: true, once: true })
    },
  }

  constructor(
    private readonly processes: Processes,
    /** Whether a refresh token may come again: then it is not used up by its use. */
    private readonly hasGrace: boolean,
  ) {}

  async make(kind: string): Promise<Attempt> {
    const make = this.kinds[kind]
    if (make === undefined) throw new Error(`There is no kind ${kind}.`)
    return { ...(await make()), kind }
  }

  async send(message: Message): Promise<Answer> {
    const [port = 0] = this.processes.ports
    return converse(port, bytesOf(message))
  }

  /** Complains of each kind that does not work. */
  async tryEach(notes: Notes): Promise<void> {
    for (const kind of Object.keys(this.kinds)) {
      const made = await this.make(kind).catch(() => undefined)
      const answer = made && (await this.send(made.message))
      if (!answer || !made.won(answer)) notes.lacks(kind, answer?.body ?? '')
    }
  }

  /** Uses a request up: what it brings is not given again. A decision is used up by the redemption of its code. */
  async useUp({ kind, message }: Attempt): Promise<void> {
    const answer = await this.send(message)
    if (kind === 'decision') await this.send(grant(book, redemption(book, codeIn(answer))).message)
  }

  /** The request that revokes this token. */
  revocationOf(token: string): Message {
    return ofClient('revoke', print, { token }, shows('')).message
  }

  /** Milliseconds since the epoch, as the server has it. */
  private clock(): number {
    return this.processes.clock(0)
  }

  private async decision(client: ClientApplication): Promise<Made> {
    const { status, body } = await this.send(question(client))
    const { fields } = consentFormOf({ status, text: body }, '/authorize')
    const { authorization_request = '' } = fields
    const decided = { ...fields, decision: 'approve' }
    return attempt('authorize', form('/authorize', decided, [alice]), bringsCode, {
      decisive: { authorization_request, decision: 'approve' },
      decisiveHeaders: { 'x-owner': 'alice' },
      secrets: [authorization_request],
      once: true,
    })
  }

  private async code(client: ClientApplication): Promise<Made> {
    const code = codeIn(await this.send((await this.decision(client)).message))
    if (code === '') throw new Error('No code came.')
    return grant(client, redemption(client, code), { once: true, secrets: [code] })
  }

  private async token(name = 'access_token'): Promise<string> {
    return (await this.granted(await this.code(print)))[name] ?? ''
  }

  private async granted({ message }: Made): Promise<Readonly<Record<string, string>>> {
    const { status, body } = await this.send(message)
    if (status !== 200) throw new Error(`No tokens came: ${status} ${body}`)
    return JSON.parse(body)
  }
}

function attempt(endpoint: Endpoint, message: Message, won: Attempt['won'], bend: Bend = {}): Made {
  const nothing = { decisive: {}, decisiveHeaders: {}, secrets: [], dies: undefined }
  const is = { signed: false, anyClient: false, once: false }
  return { endpoint, message, won, ...nothing, ...is, ...bend }
}

function asking(message: Message): Made {
  const { client_id, redirect_uri, response_type, code_challenge_method } = authorizationRequest(book)
  return attempt('authorize', message, shows('name="authorization_request"'), {
    decisive: { client_id, response_type, code_challenge_method },
    decisiveIfSent: { redirect_uri: String(redirect_uri) },
  })
}

/** A request of a client, in which everything but the scope decides. */
function ofClient(
  endpoint: Endpoint,
  { registration: { client_id }, secret }: ClientApplication,
  fields: Fields,
  won: Attempt['won'],
  { secrets = [], ...bend }: Bend = {},
): Made {
  const sent: Fields = { ...(secret === undefined ? { client_id } : {}), ...fields }
  const authorization = secret === undefined ? undefined : basic(client_id, secret)
  const headers: readonly Pair[] = authorization === undefined ? [] : [['Authorization', authorization]]
  const { scope: _asked, ...decisive } = defined(sent)
  return attempt(endpoint, form(`/${endpoint}`, sent, headers), won, {
    decisive,
    decisiveHeaders: { 'content-type': formType, ...(authorization && { authorization }) },
    secrets: [...(secret === undefined ? [] : [secret]), ...secrets],
    ...bend,
  })
}

const grant = (client: ClientApplication, fields: Fields, bend?: Bend): Made =>
  ofClient('token', client, fields, shows('"access_token"'), bend)

const get = (path: string, headers: readonly Pair[], query: readonly Pair[] = []): Message => ({
  method: 'GET',
  path,
  query,
  headers,
  body: [],
})

const question = (client: ClientApplication): Message =>
  get('/authorize', [host, alice], encodedPairs(authorizationRequest(client)))

const form = (path: string, fields: Fields, headers: readonly Pair[]): Message => ({
  method: 'POST',
  path,
  query: [],
  headers: [host, ['Content-Type', formType], ...headers],
  body: encodedPairs(fields),
})

/** A call of the photos, by the name of a host. */
function guarded(name: string, authorization: string, decisive: Attempt['decisive'], bend: Bend): Made {
  const message = get('/photos', Object.entries({ Host: name, Authorization: authorization }))
  const decisiveHeaders = { authorization, ...decisive }
  return attempt('photos', message, shows('"clientId"'), { decisiveHeaders, ...bend })
}

const defined = (fields: Fields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
