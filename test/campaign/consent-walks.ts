import type { Response } from 'supertest'
import express from 'express'
import { createAuthorizationServer, type ConsentView, memoryStore } from '../../lib/index'
import { canonicalOptions, withoutLimits } from '../support/flows/application'
import { bent } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { authorizationRequest, Flow, formOf, redemption, type RepeatedFields } from '../support/flows/flow'
import { gallery, job, threeResources } from '../support/flows/resources'
import { startServer } from '../support/start-server'
import type { Chance } from '../support/chance'

/** What an owner saw and approved, or what the host said that the owner had approved before. */
interface Seen {
  readonly scope: readonly string[]
  readonly resources: readonly string[]
  readonly choice: string | undefined
}

/** The most of any token: each scope for each resource and choice. */
const allowancesOf = ({ scope, resources: named, choice }: Seen): readonly string[] =>
  scope.flatMap((token) => named.map((resource) => JSON.stringify([token, resource, choice])))

/** What the tokens of an owner may be good for. */
interface Allowed {
  readonly owner: string
  readonly allowances: ReadonlySet<string>
}

/** A page that some owner has before them. */
interface Page {
  readonly owner: string
  readonly view: ConsentView
  /** The answers of the host when the page was asked for. */
  readonly answers: readonly string[]
  /** Whether a decision has given a code: a later one of the same page decides nothing more. */
  isDecided: boolean
}

const client = bent(gallery, { grant_types: ['authorization_code', 'refresh_token'] })
const introspecting = bent(job, { grant_types: ['client_credentials'] })
const owners = ['alice', 'bob'] as const
const everyScope = ['photos:read', 'photos:print', 'reports:write'] as const
const hostileScopes = ['admin', '__proto__', 'photos:read photos:print', ''] as const
const resources = Object.keys(threeResources)
const memorySeconds = 600
const json = { Accept: 'application/json' }

/** Walks so many times: owners, pages, decisions and refreshes at random, each token held against what its owner saw. */
export async function walkConsents(walks: number, chance: Chance) {
  const all = new ConsentWalks(chance)
  const server = await startServer(express().use(all.oauth.router()))
  try {
    for (let done = 0; done < walks && all.complaints.length === 0; done++)
      await all.walk(new Flow(`http://127.0.0.1:${server.port}`))
  } finally {
    await server.stop()
  }
  return all
}

class ConsentWalks {
  readonly complaints: string[] = []
  /** What has happened. */
  readonly happened = new Set<string>()
  private flow = new Flow('')
  private pages: Page[] = []
  private refreshTokens: { readonly token: string; readonly allowed: Allowed }[] = []
  private readonly clock = new Clock()
  /** By the words of the guide: what each owner allowed on a page, and until when it counts. */
  private readonly memory = new Map<string, Map<string, number>>(owners.map((owner) => [owner, new Map()]))

  // The host, whose mind changes with each request.
  private answers: readonly string[] | undefined
  private approvedBefore = false
  private stillAllowed: boolean | 'away' = true
  /** What the host said that an owner had approved before, at the last request. */
  private remembered: Seen | undefined
  readonly oauth = createAuthorizationServer({
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
    store: memoryStore({ clock: this.clock.read }),
    clock: this.clock.read,
    authorizations: true,
    rememberConsent: { seconds: memorySeconds },
    resourceOwner: (request) => {
      const subject = request.get('X-Owner')
      return subject && { subject, authTime: Math.floor(this.clock.read() / 1000) }
    },
    choices: () =>
      this.answers && {
        name: 'workspace',
        text: 'Which workspace?',
        answers: this.answers.map((value) => ({ value, label: value })),
      },
    skipConsent: (_request, { scope, facts, choice }) => {
      if (!this.approvedBefore) return false
      this.remembered = { scope, resources: valuesOf(facts), choice: choice?.['workspace'] }
      return true
    },
    stillAllowed: async () => {
      if (this.stillAllowed === 'away') throw new Error('The host is away.')
      return this.stillAllowed
    },
  })

  constructor(private readonly chance: Chance) {
    this.oauth.events.on('failure', () => {})
  }

  async walk(flow: Flow): Promise<void> {
    const { chance } = this
    this.flow = flow
    this.pages = []
    this.refreshTokens = []
    for (let steps = 3 + chance.below(8); steps > 0; steps--) {
      this.answers = chance.below(3) === 0 ? undefined : this.some(['w1', 'w2', 'w3'], 0, 4)
      this.approvedBefore = chance.below(3) === 0
      this.stillAllowed = chance.among([true, true, true, false, 'away'])
      this.remembered = undefined
      const kind = chance.below(11)
      if (this.pages.length === 0 || kind < 2) await this.ask()
      else if (kind < 7) await this.decide(chance.any(this.pages))
      else if (kind < 9) await this.refresh()
      else if (kind < 10) await this.takeBack()
      else this.clock.advance(chance.among([1, 2, 31, 200]))
    }
  }

  private some<T>(all: readonly T[], least: number, below: number): T[] {
    return this.chance.shuffled(all).slice(0, least + this.chance.below(below - least))
  }

  private complainUnless(isRight: boolean, what: string): void {
    if (!isRight) this.complaints.push(what)
  }

  private async ask(): Promise<void> {
    const { flow, chance } = this
    const owner = chance.among(owners)
    const prompt = chance.among([undefined, undefined, 'none', 'consent', 'select_account', 'login'])
    const scope = this.some(everyScope, 1, 4).join(' ')
    const fields = { ...authorizationRequest(client), scope, resource: this.some(resources, 0, 4), prompt }
    let response = await flow.open(`/authorize?${formOf(fields)}`, owner, json)
    const location = String(response.get('Location'))
    if (location.startsWith('/login')) {
      const { searchParams } = new URL(location, 'http://localhost')
      response = await flow.open(String(searchParams.get('return_to')), owner, json)
    }
    if (response.status === 200) {
      this.happened.add('page')
      this.pages.push({ owner, view: response.body, answers: this.answers ?? [], isDecided: false })
      return
    }
    const code = codeIn(response)
    if (code === undefined) return void this.happened.add('refused request')
    const { remembered } = this
    this.happened.add(remembered === undefined ? 'code by memory' : 'code without a page')
    const allowances = remembered === undefined ? this.living(owner) : allowancesOf(remembered)
    this.complainUnless(allowances.length > 0, 'A code came although no owner approved.')
    this.complainUnless(prompt !== 'consent', 'A code came without the page that prompt=consent demands.')
    await this.redeem(code, { owner, allowances: new Set(allowances) })
  }

  /** What an owner has allowed on pages, as far as it still counts. */
  private living(owner: string): readonly string[] {
    const known = [...(this.memory.get(owner) ?? [])]
    return known.filter(([, until]) => until > this.clock.read()).map(([each]) => each)
  }

  /** The host takes back what an owner has allowed, in each of its three ways. */
  private async takeBack(): Promise<void> {
    const owner = this.chance.among(owners)
    const { authorizations } = this.oauth
    const [first] = (await authorizations.list(owner)).authorizations
    const way = this.chance.below(3)
    if (way === 0) await authorizations.revokeAll(owner)
    else if (way === 2 && first !== undefined) await this.oauth.revoke(first.authorizationId)
    else await authorizations.revoke(owner, client.registration.client_id)
    this.memory.get(owner)?.clear()
    this.happened.add('taken back')
    // An approval within a second of it would fail, or not be remembered.
    this.clock.advance(2)
  }

  private async decide(page: Page): Promise<void> {
    const { chance } = this
    // A decision right after an approval would wait until its code has arrived.
    this.clock.advance(2)
    // Mostly the owner of the page, and sometimes the one who has logged in meanwhile.
    const owner = chance.below(6) === 0 ? chance.among(owners) : page.owner
    const selected = this.selectionOn(page.view)
    const decision = chance.below(8) === 0 ? 'deny' : 'approve'
    const form = { ...page.view.fields, ...selected, decision }
    const response = await this.flow.submit('/authorize', form, owner, json)
    const code = codeIn(response)
    if (code === undefined) return void this.happened.add(decision === 'deny' ? 'denial' : 'refused decision')
    this.happened.add('code of a page')
    this.complainUnless(decision !== 'deny', 'A denial gave a code.')
    this.complainUnless(owner === page.owner, 'Another owner got a code.')
    const seen = seenOn(page, selected)
    if (response.status === 200 && !page.isDecided) {
      // What the page showed counts as the last decision says.
      const known = this.memory.get(page.owner)
      const shown = page.view.scope.map(({ token }) => token)
      for (const each of allowancesOf({ ...seen, scope: shown })) known?.delete(each)
      for (const each of allowancesOf(seen)) known?.set(each, this.clock.read() + memorySeconds * 1000)
    }
    page.isDecided = true
    await this.redeem(code, { owner: page.owner, allowances: new Set(allowancesOf(seen)) })
  }

  private selectionOn({ question, scope }: ConsentView): Readonly<Record<string, string>> {
    const { chance } = this
    const offered = question?.answers.map(({ value }) => value) ?? []
    const fields: Record<string, string> = {}
    if (question !== undefined || chance.below(4) === 0)
      fields['choice'] = chance.among(['w1', 'w9', '__proto__', ...offered])
    if (chance.below(3) === 0) return { ...fields, scope: this.some(everyScope, 1, 4).join(' ') }
    for (const { field } of scope) if (field !== undefined && chance.below(2) === 0) fields[field] = 'yes'
    if (chance.below(8) === 0) fields[`scope:${chance.among([...everyScope, ...hostileScopes])}`] = 'yes'
    if (chance.below(8) === 0) fields[`scope:${chance.among(everyScope)}`] = chance.among(['on', 'no', ''])
    return fields
  }

  private async redeem(code: string, allowed: Allowed): Promise<void> {
    // A code that stays in the browser may come again, as after a second press.
    if (this.chance.below(4) > 0) await this.take(redemption(client, code), allowed)
  }

  private async refresh(): Promise<void> {
    const { chance, refreshTokens } = this
    const held = refreshTokens[chance.below(refreshTokens.length)]
    if (held === undefined) return
    const fields = { grant_type: 'refresh_token', refresh_token: held.token }
    const scope = chance.below(2) === 0 ? {} : { scope: this.some(everyScope, 1, 4).join(' ') }
    const resource = chance.below(2) === 0 ? {} : { resource: this.some(resources, 1, 3) }
    await this.take({ ...fields, ...scope, ...resource }, held.allowed)
  }

  private async take(fields: RepeatedFields, allowed: Allowed): Promise<void> {
    const kind = String(fields['grant_type'])
    const { status, body } = await this.flow.request(client, fields)
    this.happened.add(status === 200 ? kind : `refused ${kind}`)
    if (status !== 200) return
    const { body: given } = await this.flow.introspect(introspecting, String(body.access_token))
    const { answers, approvedBefore, stillAllowed, remembered } = this
    const known = [...allowed.allowances, { answers, approvedBefore, stillAllowed, remembered }]
    const described = `${kind} ${JSON.stringify(known)}`
    this.complainUnless(given.active === true, `A token was dead at once: ${described}`)
    this.complainUnless(given.sub === allowed.owner, `A token of ${given.sub}: ${described}`)
    const answer: unknown = given.choice?.workspace
    const choice = typeof answer === 'string' || answer === undefined ? answer : 'no text'
    const scope = String(given.scope).split(' ')
    for (const each of allowancesOf({ scope, resources: [given.aud ?? []].flat().map(String), choice }))
      this.complainUnless(allowed.allowances.has(each), `With ${each}: ${described}`)
    this.refreshTokens.push({ token: String(body.refresh_token), allowed })
  }
}

const valuesOf = (facts: ConsentView['facts']) =>
  facts.flatMap(({ values }) => values.map(({ value }) => value))

/** What a decision approves of its page, by the words of the guide and not by the code of the server. */
function seenOn({ view, answers }: Page, selected: Readonly<Record<string, string>>): Seen {
  const whole = selected['scope']?.split(' ')
  const scope = view.scope.filter(({ token, field }) =>
    whole === undefined ? field === undefined || selected[field] === 'yes' : whole.includes(token),
  )
  const [only] = answers.length === 1 ? answers : []
  const offered = view.question?.answers.map(({ value }) => value) ?? [only]
  const { choice = only } = selected
  return {
    scope: scope.map(({ token }) => token),
    resources: valuesOf(view.facts),
    choice: choice !== undefined && offered.includes(choice) ? choice : undefined,
  }
}

function codeIn(response: Response): string | undefined {
  const location = response.get('Location') ?? String(response.body.redirect_to ?? '')
  return URL.canParse(location) ? (new URL(location).searchParams.get('code') ?? undefined) : undefined
}
