import type { Response } from 'supertest'
import express from 'express'
import {
  type AuthorizationServer,
  createAuthorizationServer,
  type ConsentView,
  memoryStore,
  type OwnerQuestion,
} from '../../lib/index'
import { canonicalOptions, withoutLimits } from '../support/flows/application'
import { bent } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { authorizationRequest, Flow, formOf, redemption, type RepeatedFields } from '../support/flows/flow'
import { gallery, job, threeResources } from '../support/flows/resources'
import { startServer } from '../support/rooms/start-server'
import type { Chance } from '../support/chance'

/** What all walks of a run found. */
interface ConsentWalkResult {
  readonly complaints: readonly string[]
  /** How often something happened. */
  readonly counts: Readonly<Record<string, number>>
}

/** What an owner saw and approved, or what the host said that the owner had approved before. */
interface Seen {
  readonly owner: string
  readonly scope: readonly string[]
  readonly resources: readonly string[]
  readonly choice: string | undefined
}

/** The most of any token: each scope for each resource and choice, as `allowance` writes them. */
interface Allowed {
  readonly owner: string
  readonly allowances: ReadonlySet<string>
}

const allowance = (scope: string, resource: string, choice: string | undefined) =>
  JSON.stringify([scope, resource, choice])

const allowancesOf = ({ scope, resources: named, choice }: Omit<Seen, 'owner'>): readonly string[] =>
  scope.flatMap((token) => named.map((resource) => allowance(token, resource, choice)))

/** A page that some owner has before them. */
interface Page {
  readonly owner: string
  readonly view: ConsentView
  /** The answers of the host when the page was asked for. */
  readonly answers: readonly string[]
  /** Whether a decision has given a code: a later one of the same page decides nothing more. */
  isDecided: boolean
}

/** A host whose mind changes with each request. */
interface World {
  answers: readonly string[] | undefined
  approvedBefore: boolean
  stillAllowed: boolean | 'away'
  /** What the host said that an owner had approved before, at the last request. */
  remembered: Omit<Seen, 'owner'> | undefined
}

/** Remembers, by the words of the guide, what each owner allowed on a page, and until when it counts. */
type Memory = Map<string, Map<string, number>>

interface Walker {
  readonly oauth: AuthorizationServer
  readonly memory: Memory
  readonly flow: Flow
  readonly chance: Chance
  readonly world: World
  readonly clock: Clock
  readonly complaints: string[]
  readonly counts: Record<string, number>
  readonly pages: Page[]
  readonly refreshTokens: { readonly token: string; readonly allowed: Allowed }[]
}

const client = bent(gallery, { grant_types: ['authorization_code', 'refresh_token'] })
const introspecting = bent(job, { grant_types: ['client_credentials'] })
const owners = ['alice', 'bob'] as const
const everyScope = ['photos:read', 'photos:print', 'reports:write'] as const
const hostileScopes = ['admin', '__proto__', 'photos:read photos:print', ''] as const
const workspaces = ['w1', 'w2', 'w3'] as const
const resources = Object.keys(threeResources)
const memorySeconds = 600
const json = { Accept: 'application/json' }

/** Walks so many times: owners, pages, decisions and refreshes at random, each token held against what its owner saw. */
export async function walkConsents(walks: number, chance: Chance): Promise<ConsentWalkResult> {
  const world: World = {
    answers: undefined,
    approvedBefore: false,
    stillAllowed: true,
    remembered: undefined,
  }
  const clock = new Clock()
  const { app, oauth } = hostOf(world, clock)
  const server = await startServer(app)
  const memory: Memory = new Map(owners.map((owner) => [owner, new Map()]))
  const flow = new Flow(`http://127.0.0.1:${server.port}`)
  const [complaints, counts]: [string[], Record<string, number>] = [[], {}]
  try {
    for (let done = 0; done < walks && complaints.length === 0; done++)
      await walk({
        oauth,
        memory,
        flow,
        chance,
        world,
        clock,
        complaints,
        counts,
        pages: [],
        refreshTokens: [],
      })
  } finally {
    await server.stop()
  }
  return { complaints, counts }
}

function hostOf(world: World, clock: Clock) {
  const oauth = createAuthorizationServer({
    ...canonicalOptions,
    ...withoutLimits,
    clients: [client.registration, introspecting.registration],
    scopes: {
      'photos:read': 'See your photos',
      'photos:print': { description: 'Print your photos', optional: true },
      'reports:write': { description: 'Write reports', weight: 'danger', optional: true },
    },
    resources: threeResources,
    defaultResource: resources[1] ?? '',
    store: memoryStore({ clock: clock.read }),
    clock: clock.read,
    authorizations: true,
    rememberConsent: { seconds: memorySeconds },
    resourceOwner: (request) => {
      const subject = request.get('X-Owner')
      return subject && { subject, authTime: Math.floor(clock.read() / 1000) }
    },
    choices: () => world.answers && questionOf(world.answers),
    skipConsent: (_request, { scope, facts, choice }) => {
      if (!world.approvedBefore) return false
      const named = facts.flatMap(({ values }) => values.map(({ value }) => value))
      world.remembered = { scope, resources: named, choice: choice?.['workspace'] }
      return true
    },
    stillAllowed: async () => {
      if (world.stillAllowed === 'away') throw new Error('The host is away.')
      return world.stillAllowed
    },
  })
  oauth.events.on('failure', () => {})
  return { app: express().use(oauth.router()), oauth }
}

const questionOf = (answers: readonly string[]): OwnerQuestion => ({
  name: 'workspace',
  text: 'Which workspace?',
  answers: answers.map((value) => ({ value, label: value })),
})

async function walk(walker: Walker): Promise<void> {
  const { chance, world, clock } = walker
  for (let steps = 3 + chance.below(8); steps > 0; steps--) {
    world.answers = chance.below(3) === 0 ? undefined : chance.shuffled(workspaces).slice(0, chance.below(4))
    world.approvedBefore = chance.below(3) === 0
    world.stillAllowed = chance.among([true, true, true, false, 'away'])
    world.remembered = undefined
    const kind = chance.below(11)
    if (walker.pages.length === 0 || kind < 2) await ask(walker)
    else if (kind < 7) await decide(walker)
    else if (kind < 9) await refresh(walker)
    else if (kind < 10) await takeBack(walker)
    else clock.advance(chance.among([1, 2, 31, 200]))
  }
}

async function ask(walker: Walker): Promise<void> {
  const { flow, chance, world, pages } = walker
  const owner = chance.among(owners)
  const prompt = chance.among([undefined, undefined, 'none', 'consent', 'select_account', 'login'])
  const scope = chance
    .shuffled(everyScope)
    .slice(0, 1 + chance.below(3))
    .join(' ')
  const resource = chance.shuffled(resources).slice(0, chance.below(4))
  const fields = { ...authorizationRequest(client), scope, resource, prompt }
  let response = await flow.open(`/authorize?${formOf(fields)}`, owner, json)
  if (isLogin(response)) {
    const target = new URL(String(response.get('Location')), 'http://localhost')
    response = await flow.open(String(target.searchParams.get('return_to')), owner, json)
  }
  if (response.status === 200) {
    count(walker, 'page')
    return void pages.push({ owner, view: response.body, answers: world.answers ?? [], isDecided: false })
  }
  const code = codeIn(response)
  if (code === undefined) return count(walker, 'refused request')
  count(walker, 'code without a page')
  const { remembered } = world
  if (remembered === undefined) count(walker, 'code by memory')
  const allowances = remembered === undefined ? living(walker, owner) : allowancesOf(remembered)
  if (allowances.length === 0) return complain(walker, 'A code came although no owner approved.')
  if (prompt === 'consent') complain(walker, 'A code came without the page that prompt=consent demands.')
  await redeem(walker, code, { owner, allowances: new Set(allowances) })
}

/** What an owner has allowed on pages, as far as it still counts. */
const living = ({ memory, clock }: Walker, owner: string): readonly string[] =>
  [...(memory.get(owner) ?? [])].filter(([, until]) => until > clock.read()).map(([each]) => each)

/** What the page showed counts as the last decision says. */
function remember({ memory, clock }: Walker, { view }: Page, seen: Seen): void {
  const known = memory.get(seen.owner)
  const shown = view.scope.map(({ token }) => token)
  for (const each of allowancesOf({ ...seen, scope: shown })) known?.delete(each)
  for (const each of allowancesOf(seen)) known?.set(each, clock.read() + memorySeconds * 1000)
}

/** The host takes back what an owner has allowed, in each of its three ways. */
async function takeBack(walker: Walker): Promise<void> {
  const { oauth, chance, memory, clock } = walker
  const owner = chance.among(owners)
  const { authorizations } = oauth
  const [first] = (await authorizations.list(owner)).authorizations
  const way = chance.below(3)
  if (way === 0) await authorizations.revokeAll(owner)
  else if (way === 1 || first === undefined) await authorizations.revoke(owner, client.registration.client_id)
  else await oauth.revoke(first.authorizationId)
  memory.get(owner)?.clear()
  count(walker, 'taken back')
  // An approval within a second of it would fail, or not be remembered.
  clock.advance(2)
}

const isLogin = (response: Response) => String(response.get('Location')).startsWith('/login')

async function decide(walker: Walker): Promise<void> {
  const { flow, chance, pages } = walker
  const page = pages[chance.below(pages.length)]
  if (page === undefined) return
  const { view } = page
  // A decision right after an approval would wait until its code has arrived.
  walker.clock.advance(2)
  // Mostly the owner of the page, and sometimes the one who has logged in meanwhile.
  const owner = chance.below(6) === 0 ? chance.among(owners) : page.owner
  const selected = selectionOf(chance, page)
  const decision = chance.below(8) === 0 ? 'deny' : 'approve'
  const response = await flow.submit('/authorize', { ...view.fields, ...selected, decision }, owner, json)
  const code = codeIn(response)
  if (code === undefined) return count(walker, decision === 'deny' ? 'denial' : 'refused decision')
  count(walker, 'code of a page')
  if (decision === 'deny') complain(walker, 'A denial gave a code.')
  if (owner !== page.owner) complain(walker, 'Another owner got a code.')
  const seen = seenOn(page, selected)
  if (response.status === 200 && !page.isDecided) remember(walker, page, seen)
  page.isDecided = true
  await redeem(walker, code, { owner: seen.owner, allowances: new Set(allowancesOf(seen)) })
}

/** What a decision approves of its page, by the words of the guide and not by the code of the server. */
function seenOn({ owner, view, answers }: Page, selected: RepeatedFields): Seen {
  const whole = selected['scope']
  const scope = view.scope
    .filter(({ token, field }) =>
      typeof whole === 'string'
        ? whole.split(' ').includes(token)
        : field === undefined || selected[field] === 'yes',
    )
    .map(({ token }) => token)
  const offered =
    view.question?.answers.map(({ value }) => value) ?? answers.filter(() => answers.length === 1)
  const { choice = answers.length === 1 ? answers[0] : undefined } = selected
  const named = view.facts.flatMap(({ values }) => values.map(({ value }) => value))
  return {
    owner,
    scope,
    resources: named,
    choice: typeof choice === 'string' && offered.includes(choice) ? choice : undefined,
  }
}

function selectionOf(chance: Chance, { view }: Page): RepeatedFields {
  const fields: Record<string, string> = {}
  const answer = chance.among([
    'w1',
    'w9',
    '__proto__',
    ...(view.question?.answers.map(({ value }) => value) ?? []),
  ])
  if (view.question !== undefined || chance.below(4) === 0) fields['choice'] = answer
  if (chance.below(3) === 0)
    return {
      ...fields,
      scope: chance
        .shuffled(everyScope)
        .slice(0, 1 + chance.below(3))
        .join(' '),
    }
  for (const { field } of view.scope) if (field !== undefined && chance.below(2) === 0) fields[field] = 'yes'
  if (chance.below(8) === 0) fields[`scope:${chance.among([...everyScope, ...hostileScopes])}`] = 'yes'
  if (chance.below(8) === 0) fields[`scope:${chance.among(everyScope)}`] = chance.among(['on', 'no', ''])
  return fields
}

async function redeem(walker: Walker, code: string, allowed: Allowed): Promise<void> {
  // A code that stays in the browser may come again, as after a second press.
  if (walker.chance.below(4) === 0) return
  await take(walker, redemption(client, code), allowed)
}

async function refresh(walker: Walker): Promise<void> {
  const { chance, refreshTokens } = walker
  const held = refreshTokens[chance.below(refreshTokens.length)]
  if (held === undefined) return
  const fields = { grant_type: 'refresh_token', refresh_token: held.token }
  const bend =
    chance.below(2) === 0
      ? {}
      : {
          scope: chance
            .shuffled(everyScope)
            .slice(0, 1 + chance.below(3))
            .join(' '),
        }
  const more =
    chance.below(2) === 0 ? {} : { resource: chance.shuffled(resources).slice(0, 1 + chance.below(2)) }
  await take(walker, { ...fields, ...bend, ...more }, held.allowed)
}

async function take(walker: Walker, fields: RepeatedFields, allowed: Allowed): Promise<void> {
  const { flow, refreshTokens, world } = walker
  const { status, body } = await flow.request(client, fields)
  const described = `${String(fields['grant_type'])} ${JSON.stringify([...allowed.allowances])} ${JSON.stringify(world)}`
  if (status !== 200) return count(walker, `refused ${String(fields['grant_type'])}`)
  count(walker, String(fields['grant_type']))
  const { body: given } = await flow.introspect(introspecting, String(body.access_token))
  const audience = [given.aud ?? []].flat().map(String)
  const granted = String(given.scope).split(' ')
  const answer: unknown = given.choice?.workspace
  if (given.active !== true) return complain(walker, `A token was dead at once: ${described}`)
  if (given.sub !== allowed.owner) complain(walker, `A token of ${given.sub}: ${described}`)
  const choice = typeof answer === 'string' || answer === undefined ? answer : 'no text'
  for (const each of allowancesOf({ scope: granted, resources: audience, choice }))
    if (!allowed.allowances.has(each)) complain(walker, `With ${each}: ${described}`)
  refreshTokens.push({ token: String(body.refresh_token), allowed })
}

function codeIn(response: Response): string | undefined {
  const location = response.get('Location') ?? String(response.body.redirect_to ?? '')
  return URL.canParse(location) ? (new URL(location).searchParams.get('code') ?? undefined) : undefined
}

function count({ counts }: Walker, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1
}

const complain = ({ complaints }: Walker, what: string) => void complaints.push(what)
