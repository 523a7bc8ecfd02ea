import type { AuthorizationServer } from '../../../lib/index'
import type { ClientMetadata } from '../../../lib/paths/registration'
import type { ClientApplication } from './clients'

export const webMetadata = {
  client_type: 'confidential',
  client_name: 'Photo Print',
  redirect_uris: ['https://print.example/callback'],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  scope: 'photos:read photos:print',
} satisfies ClientMetadata

/** Registers a client and returns it as its developers see it: what they told, and what they were given. */
export async function registered(
  oauth: AuthorizationServer,
  metadata: ClientMetadata = webMetadata,
): Promise<ClientApplication> {
  const { client_id, client_secret } = await oauth.registerClient(metadata)
  return withSecret({ registration: { ...metadata, client_id } }, client_secret)
}

/** Gives an application another secret. */
export function withSecret(
  { registration }: ClientApplication,
  secret: string | undefined,
): ClientApplication {
  return secret === undefined ? { registration } : { registration, secret }
}
