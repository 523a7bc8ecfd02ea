import { isMemberName, isOwnMember } from '../protocol/client-member'
import type { ClientRegistration } from '../protocol/client'
import { ConfigurationError } from '../primitives/options-reader'
import { type ClientRegistry, notesUses } from '../clients/client-store'

type Fields = Readonly<Record<string, unknown>>

/** @param subject the first line of the error. */
export function membersIn(given: readonly string[], subject: string): ReadonlyMap<string, unknown> {
  const wrongMember = (message: string) => new ConfigurationError(subject, [{ path: '--member', message }])
  const members = new Map<string, unknown>()
  for (const text of given) {
    const [name = ''] = text.split('=', 1)
    if (!isMemberName(name) || !text.includes('='))
      throw wrongMember('must be name=value, with a name in lower case such as subject_type.')
    if (isOwnMember(name)) throw wrongMember(`cannot set ${name}, which is no member of a plug-in.`)
    if (members.has(name)) throw wrongMember(`sets ${name} twice.`)
    members.set(name, jsonOrText(text.slice(name.length + 1)))
  }
  return members
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Days such as `2026-11-25`, by `client_id`. Empty if the registry notes no uses. */
export async function lastUsesIn(clients: ClientRegistry): Promise<ReadonlyMap<string, string>> {
  const days = notesUses(clients) ? await clients.lastUses() : new Map<string, number>()
  return new Map(
    Array.from(days, ([clientId, day]) => [clientId, new Date(day * 1000).toISOString().slice(0, 10)]),
  )
}

export function summaryOf(registration: ClientRegistration, lastUsed: string | undefined): Fields {
  const { client_id, client_name, client_type, grant_types, scope, disabled, client_secrets } =
    withoutDigests(registration)
  const last_used = lastUsed ?? null
  return { client_id, client_name, client_type, grant_types, scope, client_secrets, last_used, disabled }
}

/** A digest helps only an attacker, who can test guesses of a secret. */
export function withoutDigests({ client_secret_hashes, ...rest }: ClientRegistration): Fields & {
  readonly client_secrets: number
} {
  const client_secrets = Array.isArray(client_secret_hashes) ? client_secret_hashes.length : 0
  return { ...rest, disabled: rest.disabled === true, client_secrets }
}
