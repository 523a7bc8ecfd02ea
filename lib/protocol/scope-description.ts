import { aFlag, oneOf } from '../primitives/fields'
import { type Field, type Fields, group, kind, needed, optional, usual } from '../primitives/schema'
import { isRecord } from '../primitives/values'
import { aLocalizedText, isLocalizedText, type Text } from './localized-text'
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

export type ScopeDescription = ReturnType<typeof scopeOptions>

export const scopeDescriptions: Field<ReadonlyMap<string, ScopeDescription>> = (given, at, name) => {
  const scopes = new Map<string, ScopeDescription>()
  for (const [token, description] of Object.entries(scopeTable(given, at, name))) {
    if (parseScope(token)?.length !== 1)
      at.wrong(
        name,
        `names "${token}", which is not a scope token: printable ASCII without space, quote and backslash.`,
      )
    scopes.set(token, scopeDescription(description, at, `${name}["${token}"]`))
  }
  return scopes
}

const scopeTable = needed(
  {},
  kind(
    (value): value is Readonly<Record<string, unknown>> => isRecord(value) && Object.keys(value).length > 0,
    "must be an object of scope and description, such as { 'photos:read': 'See your photos' }.",
  ),
)

const scopeDescription: Field<ScopeDescription> = (given, at, name) => {
  // No language has a tag of eleven letters: `description` is never one.
  if (isRecord(given) && Object.hasOwn(given, 'description')) return scopeOptions(given, at, name)
  const description = needed('', kind(isLocalizedText, descriptionCure))(given, at, name)
  return { description, group: undefined, weight: 'read', optional: false }
}

const descriptionCure =
  "must be a text, texts by language such as { en: 'See your photos' }, or { description, group, weight, optional }."

const scopeOptions = group({
  description: needed<Text>('', aLocalizedText),
  group: optional(aLocalizedText),
  weight: usual<ScopeWeight>('read', oneOf('read', 'write', 'danger')),
  optional: aFlag(false),
} satisfies Fields<ScopeOptions>)
