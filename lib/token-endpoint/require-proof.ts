import { isKeepable, keepableCure } from '../protocol/bindings'
import {
  ConfigurationError,
  isBoolean,
  isRecord,
  isText,
  type ConfigurationIssue,
} from '../protocol/configuration'
import { isSubject, subjectCure } from '../protocol/resource-owner'
import { isScope, scopeCure } from '../protocol/scope'
import type { GrantResult } from './grant-type'

/**
 * Checks what a grant type returned: it is often a host's, and what it read from a database may be null, a number or a
 * Buffer. Nothing but what it promises becomes a record.
 *
 * @throws ConfigurationError that names the grant type and every mistake.
 */
export function requireProof(answer: unknown, grantType: string): asserts answer is GrantResult {
  const issues = issuesIn(answer)
  if (issues.length > 0)
    throw new ConfigurationError(`The grant type "${grantType}" returned what gives no token:`, issues)
}

// A digest of it is stored, and a body brings no more.
const longestKey = 65_536

/** What a field must be; `mayLack` where it need not be there. */
interface Rule {
  readonly accepts: (value: unknown) => boolean
  readonly message: string
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
const isExtensionData = (value: unknown) =>
  isRecord(value) && (Object.keys(value).length === 0 || isKeepable(value))
const isKey = (value: unknown) => isText(value) && value.length <= longestKey

const members: Rule = {
  accepts: (value) => value === undefined || isMembers(value),
  message: 'must be an object of texts.',
  mayLack: true,
}

const moveRules: Rules = new Map<string, Rule>([
  ['members', members],
  ['authorizationId', { accepts: isId, message: 'must be the id of an authorization.' }],
  ['transition', { accepts: isFunction, message: 'must be a function.' }],
])

const beginRules: Rules = new Map<string, Rule>([
  ['members', members],
  ['grant', { accepts: isRecord, message: 'must be an object.' }],
])

const grantRules: Rules = new Map<string, Rule>([
  [
    'subject',
    {
      accepts: isSubject,
      message: `${subjectCure} Where a look-up found nobody, refuse; for a client that acts for itself, leave it out.`,
      mayLack: true,
    },
  ],
  ['scope', { accepts: isScope, message: scopeCure }],
  ['refreshToken', { accepts: isBoolean, message: 'must be true or false.' }],
  ['extensionData', { accepts: isExtensionData, message: `must be an object, and ${keepableCure}` }],
  ['expiresAt', { accepts: isEnd, message: 'must be whole seconds since the epoch.', mayLack: true }],
  ['oneTimeUse', { accepts: isUse, message: 'must be { key, until, refusal }.', mayLack: true }],
])

const useRules: Rules = new Map<string, Rule>([
  ['key', { accepts: isKey, message: `must be a text of 1 to ${longestKey} characters.` }],
  ['until', { accepts: isWholeSecond, message: 'must be whole seconds since the epoch.' }],
  ['refusal', { accepts: isFunction, message: 'must be a function that makes an OAuth error.' }],
])

function issuesIn(answer: unknown): readonly ConfigurationIssue[] {
  if (!isRecord(answer)) return [{ path: 'handle()', message: 'must return an object.' }]
  if ('transition' in answer) return broken(answer, moveRules, '')
  const { grant } = answer
  const issues = broken(answer, beginRules, '')
  if (!isRecord(grant)) return issues
  issues.push(...broken(grant, grantRules, 'grant.'))
  const use = grant['oneTimeUse']
  if (isRecord(use)) issues.push(...broken(use, useRules, 'grant.oneTimeUse.'))
  return issues
}

function broken(value: Readonly<Record<string, unknown>>, rules: Rules, path: string): ConfigurationIssue[] {
  const issues: ConfigurationIssue[] = []
  for (const [key, { accepts, message, mayLack }] of rules) {
    if (mayLack && !(key in value)) continue
    if (!accepts(value[key])) issues.push({ path: path + key, message })
  }
  for (const key of Object.keys(value))
    if (!rules.has(key))
      issues.push({
        path: path + key,
        message: `is not known here; the known names are ${[...rules.keys()].join(', ')}.`,
      })
  return issues
}
