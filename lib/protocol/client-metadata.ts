import { aText } from '../primitives/fields'
import { type Field, optional, usual } from '../primitives/schema'
import { usualGrantTypes } from './client'
import type { ServerCapabilities } from './parse-client'
import { offeredNames } from './plug-in-names'
import { covers, parseScope, type Scope } from './scope'

/** RFC 7523 2.2: `credentials` holds a JWK set or `{ jwks_uri }`. */
export const privateKeyJwtName = 'private_key_jwt'

/** Default: every scope of the server. */
export const allowedScope: Field<Scope, ServerCapabilities> = (given, at, name) => {
  const { scope: known = [] } = at.context
  const text = optional(aText)(given, at, name)
  if (text === undefined) return known
  const scope = parseScope(text)
  if (scope === undefined || (at.context.scope !== undefined && !covers(known, scope)))
    at.wrong(name, `must hold scopes of this server: ${known.join(', ')}.`)
  return scope ?? []
}

/** Default: `authorization_code` and `refresh_token`. */
export const allowedGrantTypes = usual(
  [...usualGrantTypes, 'refresh_token'],
  offeredNames('grant types', ({ grantTypes }: ServerCapabilities) => grantTypes),
)
