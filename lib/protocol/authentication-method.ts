import type { Json } from './bindings'
import { hasCredentials, type Client } from './client'

// They verify one of the client's `client_secret_hashes`.
const secretMethods: readonly string[] = ['client_secret_basic', 'client_secret_post']
/** The methods of client authentication that every server has. */
export const builtInMethods: readonly string[] = [...secretMethods, 'none']

/** What a method of client authentication that the host added holds a registration to. */
export interface AuthenticationMethodDescription {
  /** The name in the registry of token endpoint authentication methods, such as `private_key_jwt`, or an absolute URI. */
  readonly name: string
  /**
   * What is wrong with what a registration keeps for this method in `credentials`, as the rest of a sentence that begins
   * with the field, such as `must be a JWK set.`; undefined when it is sound. A throw refuses it, too. It tells nothing
   * of the value. Left out: any JSON value that is not empty will do.
   */
  mistakeIn?(credential: Json): string | undefined
}

/** Whether the registration has what the method proves: the mapping from client to method (RFC 6749 2.3.2). */
export function hasCredentialFor(method: string, client: Client): boolean {
  if (method === 'none') return !hasCredentials(client)
  if (secretMethods.includes(method)) return client.client_secret_hashes.length > 0
  return Object.hasOwn(client.credentials, method)
}
