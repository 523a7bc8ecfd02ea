import type { RequestProposal } from '../authorization/requested'
import type { StoredAuthorization } from '../authorization/store'
import type { Client } from '../protocol/client'
import type { ConsentFact } from '../protocol/extension'
import type { LoginRequest, ResourceOwner } from '../protocol/resource-owner'
import type { Parameters } from '../protocol/parameters'
import type { OwnPage, OwnPageRequest } from './page-endpoint'

/**
 * Requests of clients without a redirection URI, such as devices (RFC 8628): each rule and each page of the
 * authorization endpoint, with a page before it that names the request, and polls in place of a redirect.
 */
export interface PolledRequests {
  /** @throws OAuthError every refusal of the authorization endpoint. */
  parse(client: Client, parameters: Parameters, grantType: string): Promise<ParsedPolledRequest>
  /** Undefined for a request that this owner cannot enter: all reasons look alike. */
  find(id: string, owner: ResourceOwner): Promise<FoundRequest | undefined>
  /**
   * The consent page of a request; the login that its owner needs before; undefined if another owner was faster.
   *
   * @throws OAuthError the refusals of the authorization endpoint.
   */
  enter(request: OwnPageRequest, found: FoundRequest, terms: EnteringTerms): Promise<Entered | undefined>
  /** @throws OAuthError the refusals of a decision. */
  decide(request: OwnPageRequest, grantType: string): Promise<Decided>
  /** Opens the request of a form for another account of its owner. */
  release(request: OwnPageRequest): Promise<void>
}

interface ParsedPolledRequest {
  readonly proposal: RequestProposal
  /** For an owner who decides on no page of the server, such as the resources. */
  readonly facts: readonly ConsentFact[]
  /** For `openRequest`. */
  readonly parameters: string
}

export interface FoundRequest {
  readonly found: StoredAuthorization
  /** The decision of this owner; undefined if it is still to come. */
  readonly answer: 'approved' | 'denied' | undefined
}

export interface EnteringTerms {
  readonly grantType: string
  /** Derives the consent token of the form: a text that only the server knows, the same for one request and owner. */
  readonly secret: string
  /** What the owner compares with the device. */
  readonly device: DeviceOfRequest
  /** Hidden fields of the form besides the consent token. */
  readonly fields: Readonly<Record<string, string>>
}

/** The device from which a request comes. */
interface DeviceOfRequest {
  readonly userCode: string
  /** The device's address; undefined if it is not known. */
  readonly requestedFrom: string | undefined
  /** When the device asked, in seconds since the epoch. */
  readonly requestedAt: number
  /** The time of the page, in seconds since the epoch. */
  readonly now: number
}

export type Entered =
  { readonly page: Awaited<ReturnType<OwnPage['handle']>> } | { readonly login: LoginRequest }

type Decided =
  { readonly answer: 'approved' | 'denied'; readonly client: Client } | { readonly login: LoginRequest }
