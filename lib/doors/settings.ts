import type { GrantType } from '../authorization/grant-type'
import type { Lifetimes } from '../authorization/lifetimes'
import type { DocumentFetch } from '../clients/document-fetch/document-fetch'
import type { Resources } from '../extensions/resource-indicators/resources'
import type { AccessTokenFormat } from '../protocol/access-token-format'
import type { Client, FindClient } from '../protocol/client'
import type { Extension } from '../protocol/extension'
import type { Scope } from '../protocol/scope'
import type { ScopeDescription } from '../protocol/scope-description'
import type { TokenType } from '../protocol/token-type'

/** What servers and guards read of the options. */
export interface CommonSettings {
  readonly issuer: string
  readonly errorUri: string | undefined
  readonly resources: Resources | undefined
  /** `bearer` first. */
  readonly tokenTypes: readonly TokenType[]
  readonly extensions: readonly Extension[]
}

/** What the rooms of the endpoints read of the options. */
export interface Settings extends CommonSettings {
  /** The path of the issuer without a slash at its end. */
  readonly mount: string
  readonly scopes: ReadonlyMap<string, ScopeDescription>
  readonly defaultScope: Scope
  readonly tokenType: string
  /** New tokens get the first one that issues. */
  readonly accessTokenFormats: readonly AccessTokenFormat[]
  /** Of hosts and plug-ins only. */
  readonly grantTypes: readonly GrantType[]
  readonly findClient: FindClient
  readonly clientDocuments: DocumentFetch
  readonly dynamicRegistration:
    { readonly uses: { readonly holdForLogin: (client: Client) => Promise<void> } } | undefined
  readonly lifetimes: Lifetimes
  readonly refreshTokenExpiresIn: boolean
  readonly refreshTokenRotation: boolean
  readonly rememberConsent: { readonly seconds: number } | undefined
  /** Where owners can end an access. */
  readonly manageAt: string | undefined
  readonly storeDeadline: number
}
