import type { ClientRegistration } from '../protocol/client'
import { isRecord, isText } from '../protocol/configuration'

/** A registration as text: JSON. */
export function encodeRegistration(registration: ClientRegistration): string {
  return JSON.stringify(registration)
}

/**
 * The registration in this text, frozen. Of a stored one only its identity is looked at here: who uses it reads it whole,
 * with every rule, against what the server has.
 *
 * @throws Error when it is no registration.
 */
export function decodeRegistration(text: string): ClientRegistration {
  const value = frozenJson(text)
  if (!isRegistration(value)) throw new Error('The stored text is no registration of a client.')
  return value
}

// What JSON.parse says of its failure quotes the text, and so perhaps a digest.
function frozenJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, member: unknown) => Object.freeze(member))
  } catch {
    return undefined
  }
}

const isRegistration = (value: unknown): value is ClientRegistration =>
  isRecord(value) && isText(value['client_id'])
