import { isKeepable, keepableCure } from '../protocol/bindings'
import { ConfigurationError, isBoolean, isRecord, isText, type Mistake } from '../protocol/configuration'
import { isSubject, subjectCure } from '../protocol/resource-owner'
import { isScope, scopeCure } from '../protocol/scope'
import type { Proof } from './grant-type'

/**
 * Checks what a grant type returned: it is often a host's, and what it read from a database may be null, a number or a
 * Buffer. Nothing but what it promises becomes a record.
 *
 * @throws ConfigurationError that names the grant type and every mistake.
 */
export function requireProof(answer: unknown, grantType: string): asserts answer is Proof {
  const mistakes = mistakesIn(answer)
  if (mistakes.length > 0)
    throw new ConfigurationError(`The grant type "${grantType}" returned what gives no token:`, mistakes)
}

// A digest of it is stored, and a body brings no more.
const longestKey = 65_536

/** What a field must be; `mayLack` where it need not be there. */
interface Rule {
  readonly accepts: (value: unknown) => boolean
  readonly problem: string
  readonly mayLack?: true
}

type Rules = ReadonlyMap<string, Rule>

const isFunction = (value: unknown) => typeof value === 'function'
const isMembers = (value: unknown) =>
  isRecord(value) && Object.values(value).every((member) => typeof member === 'string')
const isId = (value: unknown) => typeof value === 'string' && /^[\w-]{22}$/.test(value)
const isWholeSecond = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0
// Whether it is a second to come is seen where the authorization begins.
const isEnd = (value: unknown) => value === undefined || typeof value === 'number'
const isUse = (value: unknown) => value === undefined || isRecord(value)
const areBindings = (value: unknown) =>
  isRecord(value) && (Object.keys(value).length === 0 || isKeepable(value))
const isKey = (value: unknown) => isText(value) && value.length <= longestKey

const members: Rule = {
  accepts: (value) => value === undefined || isMembers(value),
  problem: 'must be an object of texts.',
  mayLack: true,
}

const moveRules: Rules = new Map<string, Rule>([
  ['members', members],
  ['authorizationId', { accepts: isId, problem: 'must be the id of an authorization.' }],
  ['transition', { accepts: isFunction, problem: 'must be a function.' }],
])

const beginRules: Rules = new Map<string, Rule>([
  ['members', members],
  ['grant', { accepts: isRecord, problem: 'must be an object.' }],
])

const grantRules: Rules = new Map<string, Rule>([
  [
    'subject',
    {
      accepts: isSubject,
      problem: `${subjectCure} Where a look-up found nobody, refuse; for a client that acts for itself, leave it out.`,
      mayLack: true,
    },
  ],
  ['scope', { accepts: isScope, problem: scopeCure }],
  ['refreshToken', { accepts: isBoolean, problem: 'must be true or false.' }],
  ['bindings', { accepts: areBindings, problem: `must be an object, and ${keepableCure}` }],
  ['expiresAt', { accepts: isEnd, problem: 'must be whole seconds since the epoch.', mayLack: true }],
  ['oneTimeUse', { accepts: isUse, problem: 'must be { key, until, refusal }.', mayLack: true }],
])

const useRules: Rules = new Map<string, Rule>([
  ['key', { accepts: isKey, problem: `must be a text of 1 to ${longestKey} characters.` }],
  ['until', { accepts: isWholeSecond, problem: 'must be whole seconds since the epoch.' }],
  ['refusal', { accepts: isFunction, problem: 'must be a function that makes an OAuth error.' }],
])

function mistakesIn(answer: unknown): readonly Mistake[] {
  if (!isRecord(answer)) return [{ path: 'prove()', problem: 'must return an object.' }]
  if ('transition' in answer) return broken(answer, moveRules, '')
  const { grant } = answer
  const mistakes = broken(answer, beginRules, '')
  if (!isRecord(grant)) return mistakes
  mistakes.push(...broken(grant, grantRules, 'grant.'))
  const use = grant['oneTimeUse']
  if (isRecord(use)) mistakes.push(...broken(use, useRules, 'grant.oneTimeUse.'))
  return mistakes
}

function broken(value: Readonly<Record<string, unknown>>, rules: Rules, path: string): Mistake[] {
  const mistakes: Mistake[] = []
  for (const [key, { accepts, problem, mayLack }] of rules) {
    if (mayLack && !(key in value)) continue
    if (!accepts(value[key])) mistakes.push({ path: path + key, problem })
  }
  for (const key of Object.keys(value))
    if (!rules.has(key))
      mistakes.push({
        path: path + key,
        problem: `is not known here; the known names are ${[...rules.keys()].join(', ')}.`,
      })
  return mistakes
}
