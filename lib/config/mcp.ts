import { anything } from '../primitives/fields'
import { type Fields, kind, needed, type Place, type Read, readOptions } from '../primitives/schema'
import {
  metadataDocuments,
  type MetadataDocumentsOptions,
} from '../clients/metadata-documents/metadata-documents'
import type { AuthorizationServerOptions } from './options'
import { metadataUrlOf } from '../endpoints/protected-resource-metadata'
import { isRecord, isText, isTexts } from '../primitives/values'

export interface McpOptions extends Omit<MetadataDocumentsOptions, 'registered' | 'scope' | 'grantTypes'> {
  /**
   * The URL of the MCP server, as clients write it: `https://api.example.com/mcp`; or a list; or URLs and
   * names: `{ 'https://api.example.com/mcp': 'Notes' }`. The first stands for requests and guards that name
   * none.
   */
  readonly resource: string | readonly [string, ...string[]] | Readonly<Record<string, string>>
  /** Each with a text for the consent page. */
  readonly scopes: AuthorizationServerOptions['scopes']
  /** Of a request that names none, separated by spaces. Default: every scope. */
  readonly defaultScope?: string
  /** Clients that you register: a list, a store or a registry. Default none. */
  readonly clients?: MetadataDocumentsOptions['registered']
  /**
   * Whether `http://localhost` in a document matches every port, as most MCP clients on a desktop need.
   * Deviates from RFC 8252 8.3: another program may answer there. PKCE and the consent page bound the damage.
   * Default `true`.
   */
  readonly localhostRedirects?: boolean
}

export type McpServerOptions = Required<
  Pick<
    AuthorizationServerOptions,
    | 'scopes'
    | 'defaultScope'
    | 'resources'
    | 'defaultResource'
    | 'clients'
    | 'pkce'
    | 'redirectUris'
    | 'guards'
    | 'offlineAccess'
  >
>

/**
 * Returns the options of an authorization server for MCP servers and their clients (MCP 2026-07-28,
 * Authorization): `createAuthorizationServer({ issuer, ...mcp({ resource, scopes }), resourceOwner })`.
 *
 * Tokens are for the MCP server alone (RFC 8707). The `client_id` is the URL of a metadata document; for
 * clients without one, set `dynamicRegistration`. Every client must use PKCE, and a redirection URI at https
 * or loopback; set `redirectUris: { schemes }` after these options for the scheme of an app. Guards fill
 * `request.auth` for the SDK of MCP, and serve browsers of every origin.
 *
 * @throws ConfigurationError that lists every mistake in these options. The server checks their values.
 */
export function mcp(options: McpOptions): McpServerOptions {
  readOptions('mcp()', fields, options, { check: checkPlace })
  const { resource, scopes, clients = [], ...others } = options
  const names = Object.keys(scopes)
  const { defaultScope = names.join(' '), ...documents } = others
  const servers = serversIn(resource)
  const [[first] = ['']] = servers
  return {
    scopes,
    defaultScope,
    resources: Object.fromEntries(servers.map(([uri, named]) => [uri, { scopes: names, ...named }])),
    defaultResource: first,
    clients: metadataDocuments({ localhostRedirects: true, ...documents, registered: clients }),
    pkce: 'all',
    redirectUris: 'https or loopback',
    guards: { authInfo: true, cors: true },
    offlineAccess: true,
  }
}

const textByName = kind(
  isTextByName,
  "must be an object of scope and description, such as { 'notes:read': 'Read your notes' }.",
)

const fields = {
  resource: needed<McpOptions['resource']>(
    '',
    kind(
      isResource,
      'must be the URL of the MCP server, such as https://api.example.com/mcp, a list of such URLs, or an object of such URLs and their names.',
    ),
  ),
  scopes: textByName,
  // `metadataDocuments()` and the server check them.
  defaultScope: anything,
  clients: anything,
  localhostRedirects: anything,
  allow: anything,
  lookup: anything,
  ca: anything,
  documents: anything,
} satisfies Fields<McpOptions>

// RFC 9728 3: clients look for the metadata at the host of the resource.
function checkPlace({ resource }: Read<typeof fields>, at: Place<undefined>): void {
  if (serversIn(resource).some(([uri]) => URL.canParse(uri) && metadataUrlOf(uri) === undefined))
    at.wrong('resource', 'must be at https, or at http on a loopback host, without a user name and password.')
}

function serversIn(resource: McpOptions['resource']): readonly (readonly [string, { name?: string }])[] {
  if (typeof resource === 'string') return [[resource, {}]]
  if (isTexts(resource)) return resource.map((uri) => [uri, {}])
  return Object.entries(resource).map(([uri, name]) => [uri, { name }])
}

function isResource(value: unknown): value is McpOptions['resource'] {
  return isText(value) || (isTexts(value) && value.length > 0) || isTextByName(value)
}

function isTextByName(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.keys(value).length > 0 && Object.values(value).every(isText)
}
