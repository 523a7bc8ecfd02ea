import type { Attempt, Endpoint } from './attempt'
import { bodyOf, targetOf, type Message } from './message'
import { mustLose } from './oracle'
import { registeredPlaces } from '../parties'
import { headerOf, type Answer } from './wire'

/** A request that was sent, and all that is known of it. */
export interface Sent {
  readonly attempt: Attempt
  readonly message: Message
  readonly mark: string
  /** What was mixed into it: it may have become a good request of this kind. */
  readonly other?: Attempt
  /** Why it must lose whatever it looks like. */
  readonly dead?: string
}

const toClient = [200, 400, 401, 405]
const statuses: Readonly<Record<Endpoint, readonly number[]>> = {
  authorize: [200, 303, 400, 405],
  token: toClient,
  revoke: toClient,
  introspect: toClient,
  // The photos are the host's: Express answers for them whether they have changed, and what methods they have.
  photos: [200, 304, 400, 401, 403, 404],
  metadata: [200, 405],
}

const ofClients = ['invalid_request', 'invalid_client', 'unauthorized_client']
const ofGrants = ['invalid_grant', 'invalid_scope', 'invalid_target', 'unsupported_grant_type']
const ofRedirects = ['invalid_request', 'unauthorized_client', 'access_denied']
const codes: Readonly<Record<Endpoint, readonly string[]>> = {
  authorize: [...ofRedirects, 'unsupported_response_type', 'invalid_scope'],
  token: [...ofClients, ...ofGrants],
  revoke: ofClients,
  introspect: ofClients,
  photos: ['invalid_request', 'invalid_token', 'insufficient_scope'],
  metadata: [],
}

/** Everything that is wrong with this answer. */
export function complaintsAbout(sent: Sent, answer: Answer, isCalm: boolean): readonly string[] {
  if (answer.status === 0) return isCalm ? withoutAnswer(sent, answer) : []
  // Node refused what is no HTTP before anybody saw it.
  if (isNodes(answer)) return []
  const complaints = [
    ...(isCalm || !isTrouble(answer) ? statusComplaints(endpointOf(sent.message), answer) : []),
    ...echoes(sent, answer),
    ...redirectComplaints(answer),
    ...cacheComplaints(sent.message, answer),
  ]
  const why = sent.dead ?? whyBad(sent)
  if (why !== undefined && sent.attempt.won(answer)) complaints.push(`won although ${why}`)
  return complaints
}

function whyBad({ attempt, message, other }: Sent): string | undefined {
  const why = mustLose(attempt, message, other?.secrets)
  return other !== undefined && mustLose(other, message, attempt.secrets) === undefined ? undefined : why
}

// A client that sends more than the server reads finds the connection reset, answered or not.
const isLarge = (message: Message): boolean =>
  bodyOf(message).length + targetOf(message).length + JSON.stringify(message.headers).length > 15_000

function withoutAnswer({ message }: Sent, { ended }: Answer): string[] {
  return ended === 'reset' && isLarge(message)
    ? []
    : [ended === 'hung' ? 'no answer, while others are answered' : `no answer: ${ended}`]
}

const isNodes = (answer: Answer): boolean =>
  (answer.status === 400 || answer.status === 431) && headerOf(answer, 'x-powered-by') === undefined

/** The endpoint that the request reaches; undefined for a place where the suite is not. */
function endpointOf({ path }: Message): Endpoint | undefined {
  if (path === '/.well-known/oauth-authorization-server') return 'metadata'
  return (['authorize', 'token', 'revoke', 'introspect', 'photos'] as const).find(
    (name) => path === `/${name}`,
  )
}

/** What any endpoint may say while something breaks. */
const isTrouble = (answer: Answer): boolean =>
  answer.status === 503 || codeIn(answer) === 'temporarily_unavailable'

function statusComplaints(endpoint: Endpoint | undefined, answer: Answer): string[] {
  const { status } = answer
  if (status >= 500) return [`status ${status}`]
  if (endpoint === undefined) return []
  if (!statuses[endpoint].includes(status)) return [`status ${status}`]
  const code = codeIn(answer)
  // A program that accepts JSON learns in this way that its client is unknown.
  const isForProgram = endpoint === 'authorize' && status === 400 && code === 'invalid_client'
  const known = code === undefined || codes[endpoint].includes(code) || isForProgram
  return known ? [] : [`error ${code}`]
}

function codeIn(answer: Answer): string | undefined {
  const location = headerOf(answer, 'location')
  const [, redirected] = /[?&]error=([^&]*)/.exec(location ?? '') ?? []
  const [, error] = /^\{"error":"([^"]*)"/.exec(answer.body) ?? []
  return redirected ?? error
}

function echoes({ attempt, message, mark }: Sent, answer: Answer): string[] {
  // Whatever Express itself finds nowhere, it names in its page.
  if (answer.status === 404 || (endpointOf(message) === undefined && answer.status !== 200)) return []
  const { headers } = answer
  // The link to another account is the URL of the page itself, so that the same question comes again.
  // A refused scope is named: a scope token needs no escape.
  const body = answer.body
    .replace(/<a href="\?[^"]*">|"switchAccount":"\?[^"]*"/g, '')
    .replace(/The scope [\x21\x23-\x5b\x5d-\x7e]{1,128} /, '')
  const texts = headers.filter(([name]) => name !== 'location').flat()
  return [
    ...(body.includes(mark) ? ['the body echoes the request'] : []),
    ...(texts.some((text) => text.includes(mark)) ? ['a header echoes the request'] : []),
    ...(attempt.secrets.some((secret) => body.includes(secret) || texts.some((text) => text.includes(secret)))
      ? ['the answer shows a secret of the request']
      : []),
  ]
}

function redirectComplaints(answer: Answer): string[] {
  const location = headerOf(answer, 'location')
  if (location === undefined) return answer.status >= 300 && answer.status < 304 ? ['leads nowhere'] : []
  if (!/^[\x21-\x7e]+$/.test(location)) return ['leads to what is no URI']
  const [place = ''] = location.split(/[?#]/)
  if (registeredPlaces.has(place)) return []
  // A request by POST of another site goes on by GET. It names its client.
  if (/^\/authorize\?(?:.*&)?client_id=/.test(location)) return []
  const back = new URL(location, 'http://localhost').searchParams.get('return_to') ?? ''
  return place === '/login' && back.startsWith('/authorize?')
    ? []
    : ['leads to a place that is not registered']
}

function cacheComplaints(message: Message, answer: Answer): string[] {
  const endpoint = endpointOf(message)
  const ofTheHost =
    endpoint === 'metadata' || endpoint === undefined || (endpoint === 'photos' && answer.status === 200)
  const isJson = headerOf(answer, 'content-type')?.startsWith('application/json') === true
  if (ofTheHost || !isJson || headerOf(answer, 'cache-control') === 'no-store') return []
  return ['JSON that may be cached']
}
