import { yesOrNo } from '../primitives/fields'
import { optional } from '../primitives/schema'
import type { ConfigurationIssue } from '../primitives/configuration-error'
import type { OptionsReader } from '../primitives/options-reader'
import type { Client } from './client'

const path = 'refresh_token_rotation'

/** Undefined: what the server says. */
export const readRotation = (reading: OptionsReader): boolean | undefined =>
  reading.field(path, optional(yesOrNo))

/** Refresh tokens of a public client rotate in any case. @param bindsRefreshTokens undefined if unknown. */
export function rotationMistakes(
  { client_type, refresh_token_rotation }: Client,
  bindsRefreshTokens: boolean | undefined,
): readonly ConfigurationIssue[] {
  if (refresh_token_rotation !== false || client_type !== 'public' || bindsRefreshTokens !== false) return []
  const message =
    'must not be false for a public client here: no extension binds its refresh tokens to a key, so they rotate (RFC 9700 2.2.2).'
  return [{ path, message }]
}
