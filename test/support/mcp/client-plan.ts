import type { JWK } from 'jose'

/** What the program of MCP clients is told in a line. */
export interface ClientPlan {
  /** `1`: the SDK 1.x. `2`: its successor. `remote`: mcp-remote between this program and the server. */
  readonly generation: 1 | 2 | 'remote'
  /** The URL of the MCP server. */
  readonly server: string
  /** The issuer that the credentials of the client are for. */
  readonly issuer: string
  readonly client: ClientIdentity
  /** The tools to call, in order. */
  readonly tools: readonly string[]
  /** The command that starts mcp-remote, as a shell reads it. Default: the one that the client's identity asks for. */
  readonly command?: string
  /** The headers of the owner's browser, such as its cookies. Default: those of a test's host. */
  readonly owner?: Readonly<Record<string, string>>
  /** The arguments of tools, by their names. Default none. */
  readonly arguments?: Readonly<Record<string, Record<string, unknown>>>
  /** The folder in which mcp-remote keeps registration and tokens, from run to run. Default: one for this run. */
  readonly folder?: string
}

/** How the client is known to the authorization server. */
export type ClientIdentity =
  | { readonly kind: 'document'; readonly url: string; readonly redirectUri: string }
  | { readonly kind: 'dynamic'; readonly redirectUri: string; readonly grantTypes?: readonly string[] }
  | (Known & { readonly kind: 'known'; readonly redirectUri: string })
  | (Known & { readonly kind: 'secret'; readonly scope?: string })
  | (Known & {
      readonly kind: 'key'
      readonly privateKey: JWK
      readonly algorithm: string
      readonly scope?: string
    })
  | (Known & { readonly kind: 'id-jag'; readonly identityProvider: string; readonly idToken: string })

interface Known {
  readonly clientId: string
  readonly clientSecret?: string
}

/** What the program tells, one line of JSON each. */
export type ClientReport =
  | { readonly authorization: string }
  | { readonly answer: string }
  | { readonly tool: string; readonly text: string }
  | { readonly scope: string | undefined; readonly refreshToken: boolean }
  | { readonly error: string; readonly message: string }
  /** The last line about a plan. */
  | { readonly ended: true }
