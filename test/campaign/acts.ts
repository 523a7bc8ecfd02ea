import { isRecord } from '../../lib/primitives/values'
import type { ClientApplication } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
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
import type { Message, Reply } from './exchange'
import type { Answer } from './history'
import { book, service } from './parties'

/** Whom a line is about: its owner, if it has one, and the client that has its tokens. */
export interface Party {
  readonly owner?: string
  readonly client: ClientApplication
}

/** Reads a reply in the one form that its endpoint has for it; undefined for anything else. */
type Read = (reply: Reply, party: Party) => Answer | undefined

/** What is asked of a server: the request by which an app, its owner, a resource server or a machine does it. */
interface Operation {
  readonly ask: (presented: string, party: Party) => Message
  readonly read: Read
}

const refused: Answer = { kind: 'refused' }
const trouble: Answer = { kind: 'trouble' }
const accepted: Answer = { kind: 'accepted' }
const done: Answer = { kind: 'done' }
const granted = (...credentials: string[]): Answer => ({ kind: 'granted', credentials })

export function bodyOf({ text }: Reply): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text)
    return isRecord(body) ? body : {}
  } catch {
    return {}
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const isError = (reply: Reply, status: number, ...errors: readonly string[]): boolean =>
  reply.status === status && errors.includes(textOf(bodyOf(reply)['error']))

/** Trouble says when to come again. */
const orTrouble =
  (status: number, read: Read): Read =>
  (reply, party) =>
    isError(reply, status, 'temporarily_unavailable') && reply.headers['retry-after'] === '1'
      ? trouble
      : read(reply, party)

/** What a good reply brings: these members of its body as credentials. */
const bringing =
  (status: number, ...names: readonly string[]): Read =>
  (reply) => {
    const parts = names.map((name) => textOf(bodyOf(reply)[name]))
    return reply.status === status && !parts.includes('') ? granted(...parts) : undefined
  }

const refusing =
  (status: number, errors: readonly string[], read: Read): Read =>
  (reply, party) =>
    isError(reply, status, ...errors) ? refused : read(reply, party)

/** The form of a page with a question, as the text that its answer presents. */
const formIn =
  (path: string): Read =>
  ({ status, text }) =>
    status === 200 && text.includes('value="approve"')
      ? granted(formOf(consentFormOf({ status, text }, path).fields))
      : undefined

/** An answer at the client's redirection URI (RFC 6749 4.1.2). */
const redirected: Read = ({ status, headers }) => {
  if (status !== 303 || headers.location === undefined) return undefined
  const { searchParams } = new URL(headers.location)
  const code = searchParams.get('code')
  if (code !== null) return granted(code)
  const error = searchParams.get('error')
  if (error === 'access_denied') return done
  return error === 'temporarily_unavailable' ? trouble : undefined
}

/** A page of an error. */
function refusingPage({ status, text }: Reply): Answer | undefined {
  const [, code] = /<code>(\w+)<\/code>/.exec(text) ?? []
  if (status === 503 && code === 'temporarily_unavailable') return trouble
  return status === 400 && code === 'invalid_request' ? refused : undefined
}

const decided =
  (kind: 'granted' | 'done'): Read =>
  (reply, party) => {
    const answer = redirected(reply, party)
    if (answer?.kind === kind || answer?.kind === 'trouble') return answer
    // The page for a form that was answered before, whose code is spent: it brings nothing.
    if (reply.status === 200 && reply.text.includes('You allowed access already')) return refused
    return refusingPage(reply)
  }

/** A token of another owner or client, or for another scope, is as wrong as one that no server issued. */
function acceptedFor({ owner, client }: Party, ...found: readonly unknown[]): Answer | undefined {
  const { client_id, scope: whole } = client.registration
  // A machine and a television ask for a part of what they may have.
  const right = [owner, client_id, client === book ? whole : scope]
  return right.every((one, index) => one === found[index]) ? accepted : undefined
}

const guarded: Read = (reply, party) => {
  const { subject, clientId, scope: allowed } = bodyOf(reply)
  const words = Array.isArray(allowed) ? allowed.join(' ') : allowed
  return reply.status === 200 ? acceptedFor(party, subject, clientId, words) : undefined
}

const introspected: Read = (reply, party) => {
  const { active, sub, client_id: clientId, scope: allowed } = bodyOf(reply)
  if (reply.status !== 200) return undefined
  // The subject of a client that acts for itself is the client.
  if (active === true) return acceptedFor(party, sub === clientId ? undefined : sub, clientId, allowed)
  return active === false ? refused : undefined
}

const exchanged = orTrouble(
  400,
  refusing(400, ['invalid_grant'], bringing(200, 'access_token', 'refresh_token')),
)
const revoked = orTrouble(503, (reply) => (reply.status === 200 && reply.text === '{}' ? done : undefined))
const tokenOf = orTrouble(400, bringing(200, 'access_token'))

/** The page of devices again, with the form for a code: this one is not known (any more). */
const codeRefused = (reply: Reply): Answer | undefined =>
  reply.status === 400 && reply.text.includes('name="user_code"') ? refused : refusingPage(reply)

const polled: Read = (reply, party) =>
  isError(reply, 400, 'authorization_pending', 'slow_down')
    ? { kind: 'pending' }
    : refusing(400, ['access_denied', 'expired_token'], exchanged)(reply, party)

const registered: Read = (reply, party) => {
  const names = ['client_id', 'client_secret', 'registration_access_token']
  const answer = bringing(201, ...names)(reply, party)
  return answer?.kind === 'granted' ? granted(answer.credentials.join(' ')) : answer
}

/** At its configuration, the token of a client that is gone is refused (RFC 7592 2). */
const ofRegistration = (status: number, good: Answer): Read =>
  orTrouble(
    503,
    refusing(401, ['invalid_token'], (reply) => (reply.status === status ? good : undefined)),
  )

const authenticated: Read = (reply, party) => {
  const answer = tokenOf(reply, party)
  return answer?.kind === 'granted' ? accepted : answer
}

const scope = 'photos:read'
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

export const get = (path: string, headers: Headers): Message => ({ method: 'GET', path, headers })

/** A registration is one text: the identifier, the secret, and the token for its configuration. */
const configuration =
  (method: 'GET' | 'DELETE') =>
  (registration: string): Message => {
    const [client_id, , token = ''] = registration.split(' ')
    const path = `/register/client?${formOf({ client_id })}`
    return { method, path, headers: { Authorization: `Bearer ${token}` } }
  }

const forItself = { grant_type: 'client_credentials', scope }
const { token: atToken, revoke: atRevocation, introspect, photos, authorize } = usualPaths
const identified = ({ client }: Party): Fields => ({ client_id: client.registration.client_id })
const ownerOf = ({ owner = '' }: Party): Headers => ({ 'X-Owner': owner })

const operation = (ask: Operation['ask'], read: Read): Operation => ({ ask, read })

const operations = {
  ask: operation(
    (_, party) => get(`${authorize}?${formOf(authorizationRequest(book))}`, ownerOf(party)),
    (reply, party) => formIn('/authorize')(reply, party) ?? redirected(reply, party),
  ),
  decide: operation(
    (form, party) => post(authorize, `${form}&decision=approve`, ownerOf(party)),
    decided('granted'),
  ),
  deny: operation((form, party) => post(authorize, `${form}&decision=deny`, ownerOf(party)), decided('done')),
  redeem: operation(
    (code, party) => post(atToken, { ...identified(party), ...redemption(book, code) }),
    exchanged,
  ),
  refresh: operation(
    (refresh_token, party) =>
      post(atToken, { ...identified(party), grant_type: 'refresh_token', refresh_token }),
    exchanged,
  ),
  guard: operation(
    (accessToken) => get(photos, { Authorization: `Bearer ${accessToken}` }),
    orTrouble(503, refusing(401, ['invalid_token'], guarded)),
  ),
  introspect: operation((token) => post(introspect, { token }, serviceHeaders), orTrouble(503, introspected)),
  revoke: operation((token, party) => post(atRevocation, { ...identified(party), token }), revoked),
  /** A device begins, its owner enters the code and allows it, and the device polls. */
  begin: operation(
    (_, party) => post('/device_authorization', { ...identified(party), scope }),
    orTrouble(503, bringing(200, 'device_code', 'user_code')),
  ),
  enter: operation(
    (user_code, party) => post('/device', { user_code }, ownerOf(party)),
    (reply, party) => formIn('/device')(reply, party) ?? codeRefused(reply),
  ),
  allow: operation(
    (form, party) => post('/device', `${form}&decision=approve`, ownerOf(party)),
    (reply) =>
      reply.status === 200 && reply.text.includes('Your device has access') ? accepted : codeRefused(reply),
  ),
  poll: operation(
    (device_code, party) => post(atToken, { ...identified(party), grant_type: deviceCode, device_code }),
    polled,
  ),
  /** A client gets a token for itself, and revokes it. */
  grant: operation(() => post(atToken, forItself, serviceHeaders), tokenOf),
  revokeOwn: operation((token) => post(atRevocation, { token }, serviceHeaders), revoked),
  /** A client exchanges the presented access token. One that is not valid makes the request invalid (RFC 8693 2.2.2). */
  exchange: operation(
    (token) => post(atToken, exchangeOf(token, { scope }), serviceHeaders),
    refusing(400, ['invalid_request'], tokenOf),
  ),
  /** A client registers itself, reads its registration, gets a token for itself, and deletes its registration. */
  register: operation(
    () => post('/register', notesMachine, { 'Content-Type': 'application/json' }),
    orTrouble(503, registered),
  ),
  configure: operation(configuration('GET'), ofRegistration(200, accepted)),
  authenticate: operation(
    (registration) => {
      const [client_id, client_secret] = registration.split(' ')
      return post(atToken, { ...forItself, client_id, client_secret })
    },
    refusing(401, ['invalid_client'], authenticated),
  ),
  unregister: operation(configuration('DELETE'), ofRegistration(204, done)),
}

export type Act = keyof typeof operations

export const requestOf = (act: Act, presented: string, party: Party): Message =>
  operations[act].ask(presented, party)

export function answerOf(act: Act, reply: Reply, party: Party): Answer {
  const { status, headers, text } = reply
  const what = `${status} ${headers.location?.split('?')[0] ?? text.slice(0, 200)}`
  return operations[act].read(reply, party) ?? { kind: 'wrong', what }
}
