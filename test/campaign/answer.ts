import { isRecord } from '../../lib/primitives/options-reader'
import { consentFormOf } from '../support/flows/consent-form'
import { formOf } from '../support/flows/flow'
import type { Reply } from './exchange'
import type { Act, Answer } from './history'

/** Whom the tokens of a line are of: what a guard and an introspection must say. */
export interface Holder {
  readonly owner?: string
  readonly clientId: string
  readonly scope: string
}

/** Reads a reply, in the one form that its endpoint has for it. */
export function answerOf(act: Act, reply: Reply, holder?: Holder): Answer {
  const { status, headers, text } = reply
  const what = `${status} ${headers.location?.split('?')[0] ?? text.slice(0, 200)}`
  return readers[act](reply, holder) ?? { kind: 'wrong', what }
}

/** @param holder whom an accepted token must be of. */
type Reader = (reply: Reply, holder?: Holder) => Answer | undefined

const refused: Answer = { kind: 'refused' }
const trouble: Answer = { kind: 'trouble' }
const accepted: Answer = { kind: 'accepted' }
const done: Answer = { kind: 'done' }
const granted = (...credentials: string[]): Answer => ({ kind: 'granted', credentials })

/** Trouble says when to come again. */
function isTrouble(reply: Reply, status: number): boolean {
  const isTold = bodyOf(reply)['error'] === 'temporarily_unavailable'
  return reply.status === status && isTold && reply.headers['retry-after'] === '1'
}

const orTrouble =
  (status: number, read: Reader): Reader =>
  (reply, holder) =>
    isTrouble(reply, status) ? trouble : read(reply, holder)

/** The form of a page with a question, as the text that its answer presents. */
const formIn =
  (path: string): Reader =>
  ({ status, text }) =>
    status === 200 && text.includes('value="approve"')
      ? granted(formOf(consentFormOf({ status, text }, path).fields))
      : undefined

/** An answer at the client's redirection URI (RFC 6749 4.1.2). */
const redirected: Reader = ({ status, headers }) => {
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
  (kind: 'granted' | 'done'): Reader =>
  (reply) => {
    const answer = redirected(reply)
    if (answer?.kind === kind || answer?.kind === 'trouble') return answer
    // The page for a form that was answered before, whose code is spent: it brings nothing.
    if (reply.status === 200 && reply.text.includes('You allowed access already')) return refused
    return refusingPage(reply)
  }

const exchanged = orTrouble(400, (reply) => {
  const { access_token: accessToken, refresh_token: refreshToken, error } = bodyOf(reply)
  if (reply.status === 400 && error === 'invalid_grant') return refused
  if (reply.status !== 200 || typeof accessToken !== 'string') return undefined
  return typeof refreshToken === 'string' ? granted(accessToken, refreshToken) : undefined
})

/** A token of another owner or client, or for another scope, is as wrong as one that no server issued. */
function acceptedFor(found: Holder, holder: Holder | undefined): Answer | undefined {
  const isOf =
    holder === undefined ||
    (found.owner === holder.owner && found.clientId === holder.clientId && found.scope === holder.scope)
  return isOf ? accepted : undefined
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Whom a token is of, in the words of a guard or of an introspection. */
function holderIn(owner: unknown, clientId: unknown, scope: unknown): Holder {
  return {
    clientId: textOf(clientId),
    scope: Array.isArray(scope) ? scope.join(' ') : textOf(scope),
    ...(typeof owner === 'string' ? { owner } : {}),
  }
}

const guarded: Reader = (reply, holder) => {
  const { subject, clientId, scope, error } = bodyOf(reply)
  if (reply.status === 200) return acceptedFor(holderIn(subject, clientId, scope), holder)
  if (isTrouble(reply, 503)) return trouble
  return reply.status === 401 && error === 'invalid_token' ? refused : undefined
}

const introspected = orTrouble(503, (reply, holder) => {
  if (reply.status !== 200) return undefined
  const { active, sub, client_id: clientId, scope } = bodyOf(reply)
  // The subject of a client that acts for itself is the client.
  const owner = sub === clientId ? undefined : sub
  if (active === true) return acceptedFor(holderIn(owner, clientId, scope), holder)
  return active === false ? refused : undefined
})

const revoked = orTrouble(503, (reply) => (reply.status === 200 && reply.text === '{}' ? done : undefined))

const tokenOf = orTrouble(400, (reply) => {
  const { access_token: accessToken } = bodyOf(reply)
  return reply.status === 200 && typeof accessToken === 'string' ? granted(accessToken) : undefined
})

// RFC 8693 2.2.2: a subject token that is not valid makes the request invalid.
const exchangedToken: Reader = (reply) =>
  reply.status === 400 && bodyOf(reply)['error'] === 'invalid_request' ? refused : tokenOf(reply)

const begun = orTrouble(503, (reply) => {
  const codes = [bodyOf(reply)['device_code'], bodyOf(reply)['user_code']].map(textOf)
  return reply.status === 200 && !codes.includes('') ? granted(...codes) : undefined
})

/** The page of devices again, with the form for a code: this one is not known (any more). */
const codeRefused = (reply: Reply): Answer | undefined =>
  reply.status === 400 && reply.text.includes('name="user_code"') ? refused : refusingPage(reply)

const entered: Reader = (reply) => formIn('/device')(reply) ?? codeRefused(reply)

const allowed: Reader = (reply) =>
  reply.status === 200 && reply.text.includes('Your device has access') ? accepted : codeRefused(reply)

const polled: Reader = (reply) => {
  const error = textOf(bodyOf(reply)['error'])
  if (reply.status === 400 && ['authorization_pending', 'slow_down'].includes(error))
    return { kind: 'pending' }
  return reply.status === 400 && ['access_denied', 'expired_token'].includes(error)
    ? refused
    : exchanged(reply)
}

const registered = orTrouble(503, (reply) => {
  const { client_id, client_secret, registration_access_token } = bodyOf(reply)
  const parts = [client_id, client_secret, registration_access_token].map(textOf)
  return reply.status === 201 && !parts.includes('') ? granted(parts.join(' ')) : undefined
})

/** RFC 7592 2: the token of a client that is gone is refused. */
const unknownClient = (reply: Reply): Answer | undefined =>
  reply.status === 401 && bodyOf(reply)['error'] === 'invalid_token' ? refused : undefined

const configured = orTrouble(503, (reply) => (reply.status === 200 ? accepted : unknownClient(reply)))

const authenticated: Reader = (reply) => {
  if (reply.status === 401 && bodyOf(reply)['error'] === 'invalid_client') return refused
  const answer = tokenOf(reply)
  return answer?.kind === 'granted' ? accepted : answer
}

const unregistered = orTrouble(503, (reply) => (reply.status === 204 ? done : unknownClient(reply)))

const readers: Readonly<Record<Act, Reader>> = {
  ask: (reply) => formIn('/authorize')(reply) ?? redirected(reply),
  decide: decided('granted'),
  deny: decided('done'),
  redeem: exchanged,
  refresh: exchanged,
  guard: guarded,
  introspect: introspected,
  revoke: revoked,
  begin: begun,
  enter: entered,
  allow: allowed,
  poll: polled,
  grant: tokenOf,
  revokeOwn: revoked,
  exchange: exchangedToken,
  register: registered,
  configure: configured,
  authenticate: authenticated,
  unregister: unregistered,
}

function bodyOf({ text }: Reply): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text)
    return isRecord(body) ? body : {}
  } catch {
    return {}
  }
}
