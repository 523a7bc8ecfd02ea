import { type ClientRegistration, hashClientSecret } from 'express-authorization-server'
import { legacyTokens } from 'express-authorization-server/legacy-tokens'

/** What your provider stored for a token: rename the members to yours. */
interface Row {
  clientId: string
  owner: string
  scopes: readonly string[]
  expiresAt?: number
}
type Find = (kind: 'access' | 'refresh', token: string) => Promise<Row | null | undefined>

/** `find` reads your storage, and `until` is the end of the move. */
export function tokensOfProvider(find: Find, until: number) {
  const tokenOf = (kind: 'access' | 'refresh') => async (token: string) => {
    const row = await find(kind, token)
    if (!row) return undefined
    const { clientId, owner: subject, scopes: scope, expiresAt = until } = row
    return { clientId, subject, scope, expiresAt }
  }
  return legacyTokens({
    form: /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/,
    until,
    findAccess: tokenOf('access'),
    findRefresh: tokenOf('refresh'),
  })
}

/** A client of your `clientsStore`. */
interface OldClient {
  client_id: string
  client_name?: string
  client_secret?: string
  redirect_uris: readonly string[]
}

export async function registrationOf(old: OldClient, scope: string): Promise<ClientRegistration> {
  const { client_id, client_name = client_id, client_secret, redirect_uris } = old
  const registration = {
    client_id,
    // Its own claim.
    client_name: `${client_name} (not verified)`,
    redirect_uris,
    grant_types: ['authorization_code', 'refresh_token'],
    scope,
  }
  if (client_secret === undefined) return { ...registration, client_type: 'public' }
  const client_secret_hashes = [await hashClientSecret(client_secret)]
  return { ...registration, client_type: 'confidential', client_secret_hashes }
}
