import type { Client, ClientRegistration } from '../../lib/protocol/client'
import type { ConfigurationIssue } from '../../lib/primitives/configuration-error'
import { parseClient, type ServerCapabilities } from '../../lib/protocol/parse-client'

export const capabilities: ServerCapabilities = {
  scope: ['photos.read', 'photos.write', 'profile'],
  grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
  responseTypes: [{ name: 'code', grantTypes: ['authorization_code'] }],
  tokenTypes: ['bearer', 'stamped'],
  authenticationMethods: [],
}

/** The canonical client: a web application that prints photos. Each test bends what it is about. */
export const registration = {
  client_id: 'photo-printer',
  client_type: 'confidential',
  client_secret_hashes: ['sha256:Qkk29NAGYdmKRyHKgdN2FrLLBb5RqLBtWTfGK3W7hEg'],
  redirect_uris: ['https://printer.example/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  scope: 'photos.read photos.write',
} satisfies ClientRegistration

/** What parseClient makes of a registration of any content, and every mistake it found. */
function parsed(source: unknown): {
  readonly client: Client
  readonly issues: readonly ConfigurationIssue[]
} {
  const issues: ConfigurationIssue[] = []
  return { client: parseClient(source, 'clients[0]', issues, capabilities), issues }
}

/** The canonical client, registered, with some fields bent. */
export function clientWith(bend: Partial<ClientRegistration> = {}): Client {
  const { client, issues } = parsed({ ...registration, ...bend })
  if (issues.length > 0) throw new Error(issues.map(({ path, message }) => `${path} ${message}`).join(' '))
  return client
}
