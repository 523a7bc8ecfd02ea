import type { Attempt } from './attempt'
import { bodyOf, headersNamed, joined, type Message } from './message'
import { basic } from '../../support/flows/flow'
import { everyParty, registeredIds } from '../parties'

/** Why a mutated request must not win; undefined where this cannot tell. */
export function mustLose(
  attempt: Attempt,
  message: Message,
  /** Credentials of another valid request, with which it may be good in another way. */
  others: readonly string[] = [],
): string | undefined {
  const { endpoint } = attempt
  if (endpoint === 'metadata') return undefined
  const isForm = endpoint !== 'photos' && attempt.message.method === 'POST'
  if (isForm && message.method !== 'POST' && endpoint !== 'authorize') return 'another method'
  if (isForm && message.method === 'POST' && !isFormType(headersNamed(message, 'content-type')))
    return 'another content type'
  return (
    lacksParameter(attempt, message, others) ??
    lacksHeader(attempt, message) ??
    lacksSignature(attempt, message)
  )
}

function lacksParameter(attempt: Attempt, message: Message, others: readonly string[]): string | undefined {
  const inBody = message.method === 'POST'
  // Spaces at the end of the target stand between it and the protocol, and Node ends the target at a line break.
  const sent = decoded(inBody ? bodyOf(message) : joined(message.query).replace(/\s*(?:[\r\n].*)?$/s, ''))
  // A public client may name itself in a header with an empty secret (RFC 6749 2.3.1).
  const [named = ''] = headersNamed(message, 'authorization')
  for (const [name, value] of Object.entries(attempt.decisive)) {
    const values = sent.get(name) ?? []
    // A request of another registered client may be a good one, as long as nothing of this one is needed.
    if (name === 'client_id' && values.length === 0 && named === basic(value, '')) continue
    const another = attempt.endpoint === 'authorize' && name === 'client_id'
    if (values.length !== 1) return `${name} is there ${values.length} times`
    const [only = ''] = values
    if (only !== value && !others.includes(only) && !(another && registeredIds.has(only)))
      return `${name} has another value`
  }
  const [clientId] = sent.get('client_id') ?? []
  for (const [name, value] of Object.entries(attempt.decisiveIfSent ?? {}))
    if (clientId === attempt.decisive['client_id'])
      for (const one of sent.get(name) ?? [])
        if (one !== '' && one !== value) return `${name} has another value`
  return undefined
}

function lacksHeader(attempt: Attempt, message: Message): string | undefined {
  for (const [name, value] of Object.entries(attempt.decisiveHeaders)) {
    // What a content type may look like was judged before.
    if (name === 'content-type') continue
    const [only, second] = headersNamed(message, name)
    // Credentials may stand in the body as well, and a public client has none.
    if (only === undefined && name === 'authorization' && standsInBody(attempt, bodyOf(message))) continue
    if (only === undefined || second !== undefined) return `${name} is not there once`
    const good = name === 'authorization' && attempt.anyClient ? credentialsOfAll : [value]
    if (!good.some((one) => sameHeader(name, only, one))) return `${name} has another value`
  }
  return undefined
}

function lacksSignature(
  { signed, message: valid }: Attempt,
  { method, path, query }: Message,
): string | undefined {
  if (!signed) return undefined
  const same = method === valid.method && path.trim() === valid.path && joined(query) === joined(valid.query)
  return same ? undefined : 'what was signed is another request'
}

function sameHeader(name: string, sent: string, value: string): boolean {
  if (name === 'host') return withoutPort(sent) === value
  if (name !== 'authorization') return sent === value
  const [scheme = '', credentials = ''] = split(sent)
  const [goodScheme = '', good = ''] = split(value)
  if (scheme.toLowerCase() !== goodScheme.toLowerCase()) return false
  if (goodScheme === 'Basic') return credentialsIn(credentials) === credentialsIn(good)
  return goodScheme === 'MAC' ? attributesIn(credentials) === attributesIn(good) : credentials === good
}

const credentialsOfAll = everyParty.map(({ registration, secret = '' }) =>
  basic(registration.client_id, secret),
)

const split = (header: string): readonly string[] => /^(\S*)\s*(.*)$/s.exec(header)?.slice(1) ?? []
const withoutPort = (host: string): string => host.toLowerCase().replace(/:80$/, '')
const standsInBody = ({ anyClient }: Attempt, body: string): boolean =>
  body.includes('client_secret') || (anyClient && body.includes('client_id'))
const isFormType = ([only, second]: readonly string[]): boolean =>
  second === undefined && /^application\/x-www-form-urlencoded\s*(;|$)/i.test(only ?? '')

// Base64 has several spellings of the same bytes, and form encoding of the same text.
const credentialsIn = (base64: string): string =>
  decode(Buffer.from(base64.replace(/[^\w+/-].*$/s, ''), 'base64').toString('latin1'))

// Names in any case, in any order; the same values.
const attributesIn = (text: string): string =>
  [...text.matchAll(/(\w+)="([^"]*)"/g)]
    .map(([, name = '', value = '']) => `${name.toLowerCase()}=${value}`)
    .toSorted()
    .join()

/** The parameters of form encoded bytes, decoded once, by this file's own reading. */
function decoded(text: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const pair of text.split('&')) {
    const at = pair.indexOf('=')
    const name = decode(at < 0 ? pair : pair.slice(0, at))
    found.set(name, [...(found.get(name) ?? []), at < 0 ? '' : decode(pair.slice(at + 1))])
  }
  return found
}

const decode = (text: string): string =>
  text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
