import { isText, isTexts } from '../primitives/values'
import type { Login } from './resource-owner'

/**
 * From the claims of a token or an introspection (RFC 9068 2.2.1, RFC 9470 6); undefined if they do not say when the
 * login was.
 */
export function loginIn({
  auth_time: authTime,
  acr,
  amr,
}: Readonly<Record<string, unknown>>): Login | undefined {
  if (typeof authTime !== 'number') return undefined
  return { authTime, ...(isText(acr) && { acr }), ...(isTexts(amr) && { amr }) }
}
