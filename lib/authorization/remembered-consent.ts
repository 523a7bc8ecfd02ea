import { isRecord } from '../primitives/values'
import { inTurns } from '../primitives/concurrency'
import type { Client } from '../protocol/client'
import { digest } from '../protocol/credential'
import type { ConsentFact } from '../protocol/extension'
import { covers, type Scope } from '../protocol/scope'
import type { AllowedEntry, OwnedClient, RememberedConsent, Owners } from './owners'
import type { GivenAnswer } from '../protocol/owner-question'

export interface OwnerAnswerTo {
  readonly extension: string
  readonly name: string
  readonly given: GivenAnswer
}

interface Circumstances {
  readonly choice: string
  readonly facts: readonly string[]
}

export interface RememberedDecision extends Circumstances {
  readonly at: number
  readonly fingerprint: string
  readonly shown: Scope
  readonly allowed: Scope
}

export function choiceKey(answer: OwnerAnswerTo | undefined): string {
  if (answer === undefined) return ''
  return digest(JSON.stringify([answer.extension, answer.name, answer.given.value]))
}

/**
 * Each resource counts by itself; other facts only all together: only their extension knows what a part of them means.
 */
export function factKeys(facts: readonly ConsentFact[]): readonly string[] {
  const others = facts
    .filter((fact) => !isResource(fact) && !isClaims(fact))
    .map((fact) => JSON.stringify([fact.name, valuesOf(fact).toSorted()]))
    .toSorted()
  const resources = new Set(facts.filter(isResource).flatMap(valuesOf))
  const about = resources.size === 0 ? [undefined] : [...resources]
  return about.map((resource) => digest(JSON.stringify([others, resource ?? null])))
}

const isResource = ({ name, values }: ConsentFact) => name === 'resource' && values.length > 0
const isClaims = ({ name }: ConsentFact) => name === 'claims'
const valuesOf = ({ values }: ConsentFact) => values.map(({ value }) => value)

// A scope token has no space.
const claimMark = 'claim '

export const claimKeys = (facts: readonly ConsentFact[]): readonly string[] =>
  facts.filter(isClaims).flatMap((fact) => valuesOf(fact).map((value) => claimMark + value))

export const askedFor = (scope: Scope, facts: readonly ConsentFact[]): Scope => [
  ...scope,
  ...claimKeys(facts),
]

/** The destinations and the keys: a rotation of secrets changes nothing. */
export function clientFingerprint(client: Client): string {
  const { client_type, token_endpoint_auth_method, credentials, redirect_uris, members } = client
  const { loopback_redirect_uris, dynamic_redirect_query, insecure_redirect_uris } = client
  const rules = [loopback_redirect_uris, dynamic_redirect_query, insecure_redirect_uris]
  const keys = [credentials, members['jwks'], members['jwks_uri']]
  const parts = [client_type, token_endpoint_auth_method, redirect_uris.toSorted(), rules, keys]
  return digest(JSON.stringify(parts, inOrder))
}

// A database may give the members of an object in another order.
const inOrder = (_name: string, value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value

export function allowedScope(
  consent: RememberedConsent,
  { choice, facts }: Circumstances,
): Scope | undefined {
  const allowed = facts.map((fact) => {
    const entries = consent.entries.filter((entry) => entry.choice === choice && entry.facts.includes(fact))
    return entries.length === 0 ? undefined : entries.flatMap(({ scope }) => scope)
  })
  const [first, ...others] = allowed.filter((scope) => scope !== undefined)
  if (first === undefined || others.length + 1 < facts.length) return undefined
  return [...new Set(first)].filter((token) => others.every((scope) => scope.includes(token)))
}

export function isRemembered(
  consent: RememberedConsent,
  scope: Scope,
  circumstances: Circumstances,
): boolean {
  const allowed = allowedScope(consent, circumstances)
  return allowed !== undefined && covers(allowed, scope)
}

export const hasChoice = ({ entries }: RememberedConsent, choice: string): boolean =>
  entries.some((entry) => entry.choice === choice)

function allowedIn({ entries }: RememberedConsent): { scope: Scope; claims: readonly string[] } {
  const all = [...new Set(entries.flatMap(({ scope }) => scope))]
  const claims = all.filter((each) => each.startsWith(claimMark))
  return {
    scope: all.filter((each) => !claims.includes(each)),
    claims: claims.map((each) => each.slice(claimMark.length)),
  }
}

const since = (consent: RememberedConsent, time: number): RememberedConsent => ({
  ...consent,
  entries: consent.entries.filter(({ at }) => at > time),
})

/** The rest stays, unless the client has changed. */
function withDecision(
  before: RememberedConsent | undefined,
  decision: RememberedDecision,
): RememberedConsent {
  const { at, fingerprint, choice, facts, allowed } = decision
  const known = before?.fingerprint === fingerprint ? before.entries : []
  const kept = known.flatMap((entry) => partsKept(entry, decision))
  return { fingerprint, entries: [...kept, { at, choice, facts, scope: allowed }] }
}

function partsKept(
  entry: AllowedEntry,
  { choice, facts, shown }: RememberedDecision,
): readonly AllowedEntry[] {
  if (entry.choice !== choice) return [entry]
  const elsewhere = { ...entry, facts: entry.facts.filter((fact) => !facts.includes(fact)) }
  const beyond = {
    ...entry,
    facts: entry.facts.filter((fact) => facts.includes(fact)),
    scope: entry.scope.filter((token) => !shown.includes(token)),
  }
  return [
    ...(elsewhere.facts.length > 0 ? [elsewhere] : []),
    ...(beyond.facts.length > 0 && beyond.scope.length > 0 ? [beyond] : []),
  ]
}

/** What an owner has allowed a client: it gets in without a page. */
export interface ListedConsent {
  readonly clientId: string
  readonly scope: Scope
  /** Single claims of OpenID Connect, allowed besides. */
  readonly claims: readonly string[]
  /** When the owner allowed the first part, in seconds since the epoch. */
  readonly grantedAt: number
  /** When the last part ends, in seconds since the epoch. */
  readonly expiresAt: number
}

interface MemoryTerms {
  readonly owners: Owners
  readonly seconds: number
  readonly now: () => number
  /** What owners allowed up to this second counts no more. Default: all counts (-Infinity). */
  readonly revokedBefore?: ((clientId: string) => Promise<number>) | undefined
}

export class ConsentMemory {
  constructor(private readonly terms: MemoryTerms) {}

  /** Undefined also if the client has changed. */
  async find(subject: string, client: Client): Promise<RememberedConsent | undefined> {
    const { client_id: clientId } = client
    const { consents } = await this.terms.owners.read(subject)
    const consent = consents.find((each) => each.clientId === clientId)?.consent
    if (consent === undefined) return undefined
    if (consent.fingerprint === clientFingerprint(client))
      return since(consent, await this.countsFrom(clientId))
    await this.terms.owners.forget(subject, clientId)
    return undefined
  }

  async list(consents: readonly OwnedClient[]): Promise<readonly ListedConsent[]> {
    const listed = await inTurns(consents, async ({ clientId, consent: stored }) => {
      const consent = since(stored, await this.countsFrom(clientId))
      if (consent.entries.length === 0) return []
      const times = consent.entries.map(({ at }) => at)
      const [grantedAt, expiresAt] = [Math.min(...times), Math.max(...times) + this.terms.seconds]
      return [{ clientId, ...allowedIn(consent), grantedAt, expiresAt }]
    })
    return listed.flat().toSorted((one, other) => (one.clientId < other.clientId ? -1 : 1))
  }

  /** An owner who has taken something back since the names were read is asked again. */
  async remember(
    subject: string,
    clientId: string,
    decision: RememberedDecision,
    names: string,
  ): Promise<void> {
    const { owners, seconds, now } = this.terms
    const from = await this.countsFrom(clientId)
    await owners.remember(subject, clientId, names, (before) => {
      const consent = withDecision(before && since(before, from), decision)
      return { clientId, consent, until: now() + seconds }
    })
  }

  private async countsFrom(clientId: string): Promise<number> {
    const { seconds, now, revokedBefore } = this.terms
    const mark = revokedBefore === undefined ? -Infinity : await revokedBefore(clientId)
    return Math.max(now() - seconds, mark)
  }
}
