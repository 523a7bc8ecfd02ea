import { isRecord } from '../../../lib/primitives/options-reader'
import type { Reply } from './exchange'
import type { Act, Answer } from './history'
import type { Holder } from './recorder'

const wrong = ({ status, headers, text }: Reply): Answer => ({
  kind: 'wrong',
  what: `${status} ${headers.location?.split('?')[0] ?? text.slice(0, 200)}`,
})

/** Reads a reply, in the one form that its endpoint has for it. */
export function answerOf(act: Act, reply: Reply, holder?: Holder): Answer {
  return readers[act](reply, holder) ?? wrong(reply)
}

/** @param holder whom an accepted token must be of. */
type Reader = (reply: Reply, holder?: Holder) => Answer | undefined

const refused: Answer = { kind: 'refused' }
const trouble: Answer = { kind: 'trouble' }

const hiddenField = /<input type="hidden" name="([^"]*)" value="([^"]*)"/g

const asked: Reader = (reply) => {
  if (reply.status !== 200) return redirected(reply)
  const form = new URLSearchParams()
  for (const [, name = '', value = ''] of reply.text.matchAll(hiddenField)) form.append(name, value)
  return { kind: 'granted', credentials: [form.toString()] }
}

const decided: Reader = (reply) => {
  if (reply.status === 303) return redirected(reply)
  // The page for a form that was answered before, whose code is spent: it brings nothing.
  if (reply.status === 200 && reply.text.includes('You allowed access already')) return refused
  const [, code] = /<code>(\w+)<\/code>/.exec(reply.text) ?? []
  if (reply.status === 503 && code === 'temporarily_unavailable') return trouble
  return reply.status === 400 && code === 'invalid_request' ? refused : undefined
}

/** An answer at the client's redirection URI (RFC 6749 4.1.2). */
const redirected: Reader = ({ status, headers }) => {
  if (status !== 303 || headers.location === undefined) return undefined
  const { searchParams } = new URL(headers.location)
  const code = searchParams.get('code')
  if (code !== null) return { kind: 'granted', credentials: [code] }
  return searchParams.get('error') === 'temporarily_unavailable' ? trouble : undefined
}

const exchanged: Reader = (reply) => {
  const { access_token: accessToken, refresh_token: refreshToken, error } = bodyOf(reply)
  if (isTrouble(reply, 400)) return trouble
  if (reply.status === 400 && error === 'invalid_grant') return refused
  if (reply.status !== 200) return undefined
  if (typeof accessToken !== 'string' || typeof refreshToken !== 'string') return undefined
  return { kind: 'granted', credentials: [accessToken, refreshToken] }
}

/** Trouble says when to come again. */
function isTrouble(reply: Reply, status: number): boolean {
  const { error } = bodyOf(reply)
  return (
    reply.status === status && error === 'temporarily_unavailable' && reply.headers['retry-after'] === '1'
  )
}

/** A token of another owner or client, or for another scope, is as wrong as one that no server issued. */
function acceptedFor(found: Holder, holder: Holder | undefined): Answer | undefined {
  const isOf =
    holder === undefined ||
    (found.owner === holder.owner && found.clientId === holder.clientId && found.scope === holder.scope)
  return isOf ? { kind: 'accepted' } : undefined
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

const introspected: Reader = (reply, holder) => {
  if (isTrouble(reply, 503)) return trouble
  if (reply.status !== 200) return undefined
  const { active, sub, client_id: clientId, scope } = bodyOf(reply)
  // The subject of a client that acts for itself is the client.
  const owner = sub === clientId ? undefined : sub
  if (active === true) return acceptedFor(holderIn(owner, clientId, scope), holder)
  return active === false ? refused : undefined
}

const revoked: Reader = (reply) => {
  if (isTrouble(reply, 503)) return trouble
  return reply.status === 200 && reply.text === '{}' ? { kind: 'done' } : undefined
}

const tokenOf = (reply: Reply): Answer | undefined => {
  const { access_token: accessToken } = bodyOf(reply)
  return reply.status === 200 && typeof accessToken === 'string'
    ? { kind: 'granted', credentials: [accessToken] }
    : undefined
}

const granted: Reader = (reply) => (isTrouble(reply, 400) ? trouble : tokenOf(reply))

// RFC 8693 2.2.2: a subject token that is not valid makes the request invalid.
const exchangedToken: Reader = (reply) => {
  if (reply.status === 400 && bodyOf(reply)['error'] === 'invalid_request') return refused
  return granted(reply)
}

const registered: Reader = (reply) => {
  if (isTrouble(reply, 503)) return trouble
  const { client_id, client_secret, registration_access_token } = bodyOf(reply)
  const parts = [client_id, client_secret, registration_access_token].map(textOf)
  return reply.status === 201 && !parts.includes('')
    ? { kind: 'granted', credentials: [parts.join(' ')] }
    : undefined
}

/** RFC 7592 2: the token of a client that is gone is refused. */
const unknownClient = (reply: Reply): Answer | undefined =>
  reply.status === 401 && bodyOf(reply)['error'] === 'invalid_token' ? refused : undefined

const configured: Reader = (reply) => {
  if (isTrouble(reply, 503)) return trouble
  return reply.status === 200 ? { kind: 'accepted' } : unknownClient(reply)
}

const authenticated: Reader = (reply) => {
  if (isTrouble(reply, 400)) return trouble
  if (reply.status === 401 && bodyOf(reply)['error'] === 'invalid_client') return refused
  return tokenOf(reply) && { kind: 'accepted' }
}

const unregistered: Reader = (reply) => {
  if (isTrouble(reply, 503)) return trouble
  return reply.status === 204 ? { kind: 'done' } : unknownClient(reply)
}

const readers: Readonly<Record<Act, Reader>> = {
  ask: asked,
  decide: decided,
  redeem: exchanged,
  refresh: exchanged,
  guard: guarded,
  introspect: introspected,
  revoke: revoked,
  grant: granted,
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
