import { aFlag } from '../primitives/fields'
import { kind, optional } from '../primitives/schema'
import { OptionsReader } from '../primitives/options-reader'
import { isRecord } from '../primitives/values'
import { isLocalizedText, type Text, textExpectation } from './localized-text'
import { parseScope } from './scope'

/** What a scope lets a client do: look, change, or do what cannot be taken back. */
export type ScopeWeight = 'read' | 'write' | 'danger'

export interface ScopeOptions {
  /** For the consent page. */
  readonly description: Text
  /** The heading above scopes that belong together. Default: none. */
  readonly group?: Text
  /** The page marks `write`, and shows `danger` last. Default `read`. */
  readonly weight?: ScopeWeight
  /** Whether the owner may leave the scope out, and approve the rest. Default `false`. */
  readonly optional?: boolean
}

export interface ScopeDescription {
  readonly description: Text
  readonly group: Text | undefined
  readonly weight: ScopeWeight
  readonly optional: boolean
}

const key = 'scopes'
const cure = "must be an object of scope and description, such as { 'photos:read': 'See your photos' }."
const descriptionCure =
  "must be a text, texts by language such as { en: 'See your photos' }, or { description, group, weight, optional }."

export function readScopes(reading: OptionsReader): ReadonlyMap<string, ScopeDescription> {
  const scopes = new Map<string, ScopeDescription>()
  for (const [token, given] of Object.entries(reading.required(key, {}, isTable, cure))) {
    if (parseScope(token)?.length !== 1)
      reading.wrong(
        key,
        `names "${token}", which is not a scope token: printable ASCII without space, quote and backslash.`,
      )
    scopes.set(token, readScope(reading, token, given))
  }
  return scopes
}

function readScope(reading: OptionsReader, token: string, given: unknown): ScopeDescription {
  const path = `${key}["${token}"]`
  // No language has a tag of eleven letters: `description` is never one.
  if (isRecord(given) && Object.hasOwn(given, 'description'))
    return readOptions(new OptionsReader(given, reading.at(path), reading.issues))
  if (isLocalizedText(given)) return { description: given, group: undefined, weight: 'read', optional: false }
  reading.wrong(path, descriptionCure)
  return { description: token, group: undefined, weight: 'read', optional: false }
}

function readOptions(fields: OptionsReader): ScopeDescription {
  const scope = {
    description: fields.required<Text>('description', '', isLocalizedText, textExpectation),
    group: fields.field('group', optional(kind(isLocalizedText, textExpectation))),
    weight: fields.optional<ScopeWeight>('weight', 'read', isWeight, "must be 'read', 'write' or 'danger'."),
    optional: fields.field('optional', aFlag(false)),
  }
  fields.refuseUnknown()
  return scope
}

const isWeight = (value: unknown): value is ScopeWeight =>
  value === 'read' || value === 'write' || value === 'danger'
const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isRecord(value) && Object.keys(value).length > 0
