import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import {
  createAuthorizationServer,
  memoryStore,
  tokenExchange,
  type ConsentView,
  type ExchangePolicy,
} from '../../../lib/index'
import { canonicalOptions, withoutLimits } from '../../support/flows/application'
import { authorizationRequest, Flow, redemption, type RepeatedFields } from '../../support/flows/flow'
import { codeOf } from '../../support/flows/redirection'
import { gallery, job, mountResources, pathOf, printApi, threeResources } from '../../support/flows/resources'
import { exchangeOf } from '../../support/flows/token-exchange'
import type { Chance } from '../../support/races/chance'

/** What was approved: the most that a token may ever give. */
interface Approved {
  readonly resources: ReadonlySet<string>
  readonly scope: ReadonlySet<string>
}

/** A token that a walk has got, and what its owner, its client or its subject token allowed. */
interface Held {
  readonly accessToken: string
  readonly bound: Approved
}

/** How many requests of all walks gave tokens, and how many were refused. */
export interface WalkResult {
  readonly complaints: readonly string[]
  readonly granted: number
  readonly refused: number
}

const resources = Object.keys(threeResources)
const scopeOf = new Map<string, readonly string[]>(
  Object.entries(threeResources).map(([uri, { scopes }]) => [uri, scopes]),
)
const lifetimeOf = new Map<string, number>(
  Object.entries(threeResources).map(([uri, options]) => [
    uri,
    'accessTokenLifetime' in options ? options.accessTokenLifetime : 3600,
  ]),
)
const everyScope = ['photos:read', 'photos:print', 'reports:write'] as const
const elsewhere = 'https://elsewhere.example'
const nameOfHost = 'a name of the host'
const hostile = [elsewhere, '/photos', 'photos', `${printApi}#`, '__proto__', '*'] as const

/** One walk over a server. */
interface Walker {
  readonly flow: Flow
  readonly chance: Chance
  readonly result: Result
  readonly held: Held[]
}

/** One walk: a client tries at random what gives tokens, and each token is held against what was approved. */
async function walk(walker: Walker): Promise<void> {
  const { chance, held } = walker
  const some = () => held[chance.below(held.length)]
  await begin(walker)
  for (let steps = 1 + chance.below(4); steps > 0; steps--) {
    const subject = some()
    if (subject === undefined || chance.below(3) === 0) await actForItself(walker)
    else await exchange(walker, subject)
  }
}

async function begin(walker: Walker): Promise<void> {
  const { flow, chance, result } = walker
  const asked = { ...resourceOf(chance), ...scopeAsked(chance) }
  const page = await flow.ask({ ...authorizationRequest(gallery), scope: undefined, ...asked }, 'alice')
  if (page.status !== 200) return void result.refused++
  // The owner approves exactly what the page shows.
  const view: ConsentView = page.body
  const bound = {
    resources: new Set(view.facts.flatMap(({ values }) => values.map(({ value }) => value))),
    scope: new Set(view.scope.map(({ token }) => token)),
  }
  requireWithin(result, 'the page', bound, {
    resources: new Set(resources),
    scope: scopesOf(bound.resources),
  })
  const approved = await flow.submit('/authorize', { ...view.fields, decision: 'approve' }, 'alice')
  const code = codeOf(approved)
  let refresh = ''
  for (let tries = 0; refresh === '' && tries < 4; tries++) {
    const bend = tries === 3 ? {} : resourceOf(chance)
    refresh = await take(walker, { bound, bend, fields: redemption(gallery, code) })
  }
  for (let times = chance.below(4); refresh !== '' && times > 0; times--) {
    const bend = { ...resourceOf(chance), ...scopeAsked(chance) }
    const fields = { grant_type: 'refresh_token', refresh_token: refresh }
    // A refused refresh leaves the refresh token good: the next round uses it.
    refresh = (await take(walker, { bound, bend, fields })) || refresh
  }
  if (refresh === '') result.complaints.push('A good code gave no tokens.')
}

interface Ask {
  /** The most that the token may give; the request alone bounds a client that acts for itself. */
  readonly bound: Approved
  readonly bend: RepeatedFields
  readonly fields: RepeatedFields
  readonly client?: typeof gallery
}

/** Sends a token request, and holds its token against the bound. Returns the refresh token, or an empty text. */
async function take(walker: Walker, ask: Ask): Promise<string> {
  const { flow, result, held } = walker
  const { bound, bend, fields, client = gallery } = ask
  const { status, body } = await flow.request(client, { ...fields, ...bend })
  const described = JSON.stringify({
    bend,
    grant: fields['grant_type'],
    status,
    body: { ...body, ...hidden },
  })
  if (status !== 200) {
    result.refused++
    if (!['invalid_target', 'invalid_scope'].includes(body.error))
      result.complaints.push(`Refused: ${described}`)
    if (isSound(bend, bound, fields)) result.complaints.push(`A sound request was refused: ${described}`)
    return ''
  }
  result.granted++
  const accessToken = String(body.access_token)
  const given = await whatItGives(walker, accessToken)
  requireWithin(result, described, given, bound)
  requireWithin(result, described, given, { ...bound, scope: availableTo(given.resources, bound) })
  const asked = namedIn(bend)
  if (asked.some((uri) => !given.resources.has(uri)))
    result.complaints.push(`For something else than was asked: ${described}`)
  if (asked.length > 0 && given.resources.size !== new Set(asked).size)
    result.complaints.push(`For more than was asked: ${described}`)
  const shortest = Math.min(...[...given.resources].map((uri) => lifetimeOf.get(uri) ?? 3600))
  if (Number(body.expires_in) > shortest) result.complaints.push(`Lives too long: ${described}`)
  if ([...given.scope].join(' ') !== body.scope) result.complaints.push(`Says another scope: ${described}`)
  held.push({ accessToken, bound: given })
  return String(body.refresh_token ?? '')
}

const hidden = { access_token: undefined, refresh_token: undefined }

async function actForItself(walker: Walker): Promise<void> {
  const { chance } = walker
  const bend = { ...resourceOf(chance), ...scopeAsked(chance) }
  const bound = { resources: new Set(resources), scope: new Set<string>(everyScope) }
  const fields = { grant_type: 'client_credentials' }
  await take(walker, { bound, bend, fields, client: job })
}

async function exchange(walker: Walker, { accessToken, bound }: Held): Promise<void> {
  const { chance } = walker
  const bend = { ...resourceOf(chance), ...scopeAsked(chance) }
  // A policy may approve targets that are no resources: the token is then for these, and opens no more than before.
  const targets = new Set([...bound.resources, elsewhere, nameOfHost])
  const fields = exchangeOf(accessToken)
  await take(walker, { bound: { ...bound, resources: targets }, bend, fields, client: job })
}

/** What a token gives, by introspection and by the guard of some resource, which must agree. */
async function whatItGives({ flow, chance, result }: Walker, accessToken: string): Promise<Approved> {
  const { body } = await flow.introspect(job, accessToken)
  const audience: readonly string[] = body.aud ?? []
  const [uri = ''] = chance.shuffled(resources)
  const path = pathOf[uri] ?? ''
  const guarded = await flow.open(path, undefined, { Authorization: `Bearer ${accessToken}` })
  if ((guarded.status === 200) !== audience.includes(uri))
    result.complaints.push(`The guard of ${uri} and introspection disagree: ${audience.join(' ')}`)
  if (guarded.status === 200 && JSON.stringify(guarded.body.audience) !== JSON.stringify(audience))
    result.complaints.push(`The guard tells another audience: ${JSON.stringify(guarded.body)}`)
  return { resources: new Set(audience), scope: new Set(String(body.scope).split(' ')) }
}

function requireWithin(result: Result, described: string, given: Approved, bound: Approved): void {
  for (const uri of given.resources)
    if (!bound.resources.has(uri)) result.complaints.push(`For ${uri}, which was not approved: ${described}`)
  for (const token of given.scope)
    if (!bound.scope.has(token)) result.complaints.push(`With ${token}, which was not approved: ${described}`)
  if (given.resources.size === 0) result.complaints.push(`For nothing: ${described}`)
}

/** Whether nothing is wrong with a request: it names approved resources, and a scope that these have. */
function isSound(bend: RepeatedFields, bound: Approved, { grant_type: grant }: RepeatedFields): boolean {
  const asked = namedIn(bend)
  // A client that acts for itself must name a resource where none is the default.
  if (asked.length === 0 && grant === 'client_credentials') return false
  const chosen = asked.length === 0 ? [...bound.resources] : asked
  const available = [...availableTo(new Set(chosen), bound)]
  const scope = grant === 'authorization_code' ? undefined : bend['scope']
  const wanted = typeof scope === 'string' ? scope.split(' ') : []
  return (
    chosen.every((uri) => bound.resources.has(uri)) &&
    available.length > 0 &&
    wanted.every((token) => available.includes(token))
  )
}

/** The scope of a token for these targets. Of targets that are no resources, the server knows no scope. */
function availableTo(targets: ReadonlySet<string>, { scope }: Approved): ReadonlySet<string> {
  const known = [...targets].some((uri) => scopeOf.has(uri))
  return known ? new Set([...scopesOf(targets)].filter((token) => scope.has(token))) : scope
}

const namedIn = ({ resource }: RepeatedFields): readonly string[] =>
  [resource ?? []].flat().filter((uri) => uri !== '')
const scopesOf = (uris: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...uris].flatMap((uri) => scopeOf.get(uri) ?? []))

function resourceOf(chance: Chance): RepeatedFields {
  const kind = chance.below(10)
  if (kind < 3) return {}
  if (kind === 3) return { resource: [chance.among(hostile), ...resources.slice(0, chance.below(3))] }
  if (kind === 4) return { resource: ['', ...resources.slice(0, 1 + chance.below(3)), ''] }
  return { resource: chance.shuffled(resources).slice(0, 1 + chance.below(3)) }
}

function scopeAsked(chance: Chance): RepeatedFields {
  if (chance.below(2) === 0) return {}
  return {
    scope: chance
      .shuffled(everyScope)
      .slice(0, 1 + chance.below(3))
      .join(' '),
  }
}

type Result = { complaints: string[]; granted: number; refused: number }

// The host is as careless as a host may be: its policies grant all there is, or what the client names.
const policies: readonly ExchangePolicy[] = [
  ({ resource }) => ({ subject: 'alice', scope: [...everyScope], audience: [...resource] }),
  ({ resource, audience }) => ({ subject: 'mallory', audience: [...resource, ...audience] }),
  ({ resource }) => ({ subject: 'alice', audience: [...resource, nameOfHost] }),
]

/** Walks so many times, over servers with each policy, with and without a default resource. */
export async function walkOften(walks: number, chance: Chance): Promise<WalkResult> {
  const result: Result = { complaints: [], granted: 0, refused: 0 }
  const servers = await Promise.all(
    policies.flatMap((policy) => [startServer(policy, undefined), startServer(policy, printApi)]),
  )
  try {
    for (let count = 0; count < walks && result.complaints.length === 0; count++) {
      const server = servers[count % servers.length]
      if (server !== undefined) await walk({ flow: flowAt(server), chance, result, held: [] })
    }
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
  return result
}

function flowAt(server: Server): Flow {
  const address = server.address()
  return new Flow(`http://127.0.0.1:${isBound(address) ? address.port : 0}`)
}

const isBound = (address: ReturnType<Server['address']>): address is AddressInfo =>
  typeof address === 'object' && address !== null

async function startServer(policy: ExchangePolicy, defaultResource: string | undefined): Promise<Server> {
  const oauth = createAuthorizationServer({
    ...canonicalOptions,
    ...withoutLimits,
    clients: [gallery.registration, job.registration],
    resources: threeResources,
    ...(defaultResource === undefined ? {} : { defaultResource }),
    defaultScope: everyScope.join(' '),
    grantTypes: [tokenExchange({ policy })],
    store: memoryStore(),
    pages: { consent: (_request, response, view) => response.json(view) },
  })
  const app = express()
  mountResources(app, oauth)
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server))
  })
}
