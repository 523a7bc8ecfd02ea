import { isText, isTexts } from '../primitives/options-reader'
import type { Login } from './resource-owner'

/**
 * Reads the login of an owner from the claims of a token or the members of an introspection (RFC 9068 2.2.1, RFC 9470
 * 6); undefined if they do not say when it was.
 */
export function loginIn({
  auth_time: authTime,
  acr,
  amr,
}: Readonly<Record<string, unknown>>): Login | undefined {
  if (typeof authTime !== 'number') return undefined
  return { authTime, ...(isText(acr) && { acr }), ...(isTexts(amr) && { amr }) }
}
