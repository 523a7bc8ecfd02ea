import { generateKeyPairSync } from 'node:crypto'
import { generateClientSecret, type ClientRegistration } from '../../../lib/index'
import type { ClientApplication } from '../flows/clients'
import { jwkOf } from './jwk'

const generated = generateClientSecret()
const scope = 'mcp:read mcp:write'
const confidential = {
  client_type: 'confidential',
  client_secret_hashes: [generated.client_secret_hash],
  scope,
} as const

/** An MCP client on a desk: public, at any port of the loopback address. */
export const desk = {
  registration: {
    client_id: 'desk',
    client_type: 'public',
    client_name: 'Notes for the desk',
    redirect_uris: ['http://127.0.0.1/callback', 'http://127.0.0.1/oauth/callback'],
    loopback_redirect_uris: true,
    grant_types: ['authorization_code'],
    scope,
  },
} satisfies ClientApplication

/** An MCP client on a server: confidential. */
export const cloud = {
  registration: {
    client_id: 'cloud',
    ...confidential,
    client_name: 'Notes in the cloud',
    redirect_uris: ['https://cloud.example/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
  },
  secret: generated.client_secret,
} satisfies ClientApplication

/** A job that acts for itself. */
export const robot = {
  registration: {
    client_id: 'robot',
    ...confidential,
    client_name: 'Robot',
    grant_types: ['client_credentials'],
  },
  secret: generated.client_secret,
} satisfies ClientApplication

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** A job that acts for itself and has a key in place of a secret. */
export const keyRobot = {
  registration: {
    client_id: 'key-robot',
    client_type: 'confidential',
    client_name: 'Robot with a key',
    credentials: { private_key_jwt: { keys: [jwkOf(keys.publicKey)] } },
    token_endpoint_auth_method: 'private_key_jwt',
    grant_types: ['client_credentials'],
    scope,
  },
  privateKey: jwkOf(keys.privateKey),
} satisfies ClientApplication & { readonly privateKey: object }

/** The MCP client of a company whose identity provider says who may use it. */
export const company = {
  registration: {
    client_id: 'company',
    ...confidential,
    client_name: 'Notes of the company',
    grant_types: ['urn:ietf:params:oauth:grant-type:jwt-bearer'],
  },
  secret: generated.client_secret,
} satisfies ClientApplication

export const mcpClients: readonly ClientRegistration[] = [desk, cloud, robot, keyRobot, company].map(
  ({ registration }) => registration,
)
