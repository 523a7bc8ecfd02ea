import type { Reply } from './exchange'
import type { Act, Answer } from './history'

const wrong = ({ status, headers, text }: Reply): Answer => ({
  kind: 'wrong',
  what: `${status} ${headers.location?.split('?')[0] ?? text.slice(0, 200)}`,
})

/** Reads a reply, in the one form that its endpoint has for it. */
export function answerOf(act: Act, reply: Reply): Answer {
  return readers[act](reply) ?? wrong(reply)
}

type Reader = (reply: Reply) => Answer | undefined

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

const guarded: Reader = (reply) => {
  if (reply.status === 200) return { kind: 'accepted' }
  if (isTrouble(reply, 503)) return trouble
  return reply.status === 401 && bodyOf(reply)['error'] === 'invalid_token' ? refused : undefined
}

const introspected: Reader = (reply) => {
  if (isTrouble(reply, 503)) return trouble
  if (reply.status !== 200) return undefined
  const { active } = bodyOf(reply)
  if (active === true) return { kind: 'accepted' }
  return active === false ? refused : undefined
}

const revoked: Reader = (reply) => {
  if (isTrouble(reply, 503)) return trouble
  return reply.status === 200 && reply.text === '{}' ? { kind: 'done' } : undefined
}

const readers: Readonly<Record<Act, Reader>> = {
  ask: asked,
  decide: decided,
  redeem: exchanged,
  refresh: exchanged,
  guard: guarded,
  introspect: introspected,
  revoke: revoked,
}

function bodyOf({ text }: Reply): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? { ...body } : {}
  } catch {
    return {}
  }
}
