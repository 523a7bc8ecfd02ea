import { isList, isRecord, isText, isTexts } from '../primitives/values'
import type { Client } from '../protocol/client'
import { digest } from '../protocol/credential'
import type { ConsentFact } from '../protocol/extension'
import { covers, type Scope } from '../protocol/scope'
import type { GivenAnswer } from '../protocol/extension-decision'

export interface OwnerAnswerTo extends GivenAnswer {
  readonly extension: string
}

export interface RememberedConsent {
  /** The client when the owner decided. */
  readonly fingerprint: string
  readonly entries: readonly AllowedEntry[]
}

/** For certain facts and one answer. */
interface AllowedEntry {
  /** Seconds since the epoch. */
  readonly at: number
  /** Empty if the page asked nothing. */
  readonly choice: string
  readonly facts: readonly string[]
  readonly scope: Scope
}

interface Circumstances {
  readonly choice: string
  readonly facts: readonly string[]
}

export interface RememberedDecision extends Circumstances {
  readonly at: number
  readonly fingerprint: string
  /** The scope, and the claims, that the page showed. */
  readonly shown: Scope
  readonly allowed: Scope
}

/** Empty without an answer. */
export function choiceKey(answer: OwnerAnswerTo | undefined): string {
  if (answer === undefined) return ''
  return digest(JSON.stringify([answer.extension, answer.name, answer.value]))
}

/**
 * One name for each resource, together with all other facts. Each resource counts by itself. Other facts count only all
 * together: only their extension knows what a part of them means.
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

/** Each claim counts by itself, as a scope does. */
export const claimKeys = (facts: readonly ConsentFact[]): readonly string[] =>
  facts.filter(isClaims).flatMap((fact) => valuesOf(fact).map((value) => claimMark + value))

export const askedFor = (scope: Scope, facts: readonly ConsentFact[]): Scope => [
  ...scope,
  ...claimKeys(facts),
]

/** Names the destinations and the keys of the client. A rotation of its secrets changes nothing. */
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

/** Undefined if the owner was never asked. */
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

export function allowedIn({ entries }: RememberedConsent): { scope: Scope; claims: readonly string[] } {
  const all = [...new Set(entries.flatMap(({ scope }) => scope))]
  const claims = all.filter((each) => each.startsWith(claimMark))
  return {
    scope: all.filter((each) => !claims.includes(each)),
    claims: claims.map((each) => each.slice(claimMark.length)),
  }
}

/** Leaves out what the owner decided before this time. */
export const since = (consent: RememberedConsent, time: number): RememberedConsent => ({
  ...consent,
  entries: consent.entries.filter(({ at }) => at > time),
})

/** What the page showed counts as this decision says. The rest stays, unless the client has changed. */
export function withDecision(
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

/** Characters. */
const longestConsent = 16_384

/** Drops the oldest entries of a text that is too long; undefined if even the newest entry is. */
export function encodeConsent({ fingerprint, entries }: RememberedConsent): string | undefined {
  for (let dropped = 0; dropped < entries.length; dropped++) {
    const rows = entries.slice(dropped).map(({ at, choice, facts, scope }) => [at, choice, facts, scope])
    const text = JSON.stringify([fingerprint, rows])
    if (text.length <= longestConsent) return text
  }
  return undefined
}

/** Undefined for anything else. */
export function decodeConsent(text: string): RememberedConsent | undefined {
  const [fingerprint, rows] = listOf(parsed(text))
  if (!isText(fingerprint) || !isList(rows)) return undefined
  const entries = rows.map(entryOf).filter((entry) => entry !== undefined)
  return entries.length === rows.length ? { fingerprint, entries } : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const listOf = (value: unknown): readonly unknown[] => (isList(value) ? value : [])

function entryOf(row: unknown): AllowedEntry | undefined {
  const [at, choice, facts, scope] = listOf(row)
  if (typeof at !== 'number' || typeof choice !== 'string' || !isTexts(facts) || !isTexts(scope))
    return undefined
  return { at, choice, facts, scope }
}
