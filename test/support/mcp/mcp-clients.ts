import { generateClientSecret, type ClientRegistration } from '../../../lib/index'
import type { ClientApplication } from '../flows/clients'

const generated = generateClientSecret()

/** An MCP client on a desk: public, at any port of the loopback address. */
export const desk = {
  registration: {
    client_id: 'desk',
    client_type: 'public',
    client_name: 'Notes for the desk',
    redirect_uris: ['http://127.0.0.1/callback', 'http://127.0.0.1/oauth/callback'],
    loopback_redirect_uris: true,
    grant_types: ['authorization_code'],
    scope: 'mcp:read mcp:write',
  },
} satisfies ClientApplication

/** An MCP client on a server: confidential. */
export const cloud = {
  registration: {
    client_id: 'cloud',
    client_type: 'confidential',
    client_name: 'Notes in the cloud',
    client_secret_hashes: [generated.client_secret_hash],
    redirect_uris: ['https://cloud.example/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'mcp:read mcp:write',
  },
  secret: generated.client_secret,
} satisfies ClientApplication

/** A job that acts for itself. */
export const robot = {
  registration: {
    client_id: 'robot',
    client_type: 'confidential',
    client_name: 'Robot',
    client_secret_hashes: [generated.client_secret_hash],
    grant_types: ['client_credentials'],
    scope: 'mcp:read mcp:write',
  },
  secret: generated.client_secret,
} satisfies ClientApplication

export const mcpClients: readonly ClientRegistration[] = [
  desk.registration,
  cloud.registration,
  robot.registration,
]
