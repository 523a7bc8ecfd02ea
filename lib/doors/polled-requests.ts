import type { Polled } from '../authorization/authorization'
import type { PolledProposal } from '../authorization/polled'
import type { Client } from '../protocol/client'
import type { ConsentFact } from '../protocol/extension'
import type { OAuthError } from '../protocol/oauth-error'
import type { LoginRequest } from '../protocol/login-request'
import type { Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import type { ScopeDescription } from '../protocol/scope-description'
import type { Selection } from '../protocol/selection'

interface ParsedPolledRequest {
  readonly proposal: PolledProposal
  readonly facts: readonly ConsentFact[]
}

interface EnteredRequest {
  readonly client: Client
  readonly polled: Polled
  readonly grantType: string
  /** Seconds since the epoch. */
  readonly loginDemandedAt: number | undefined
}

/**
 * Requests of clients without a redirection URI, such as devices (RFC 8628), under the rules of the authorization
 * endpoint. Questions of extensions (`askOwner`) do not appear.
 */
export interface PolledRequests {
  parse(client: Client, parameters: Parameters, grantType: string): Promise<ParsedPolledRequest>
  /**
   * Undefined if the owner may have the request without a login.
   *
   * @throws OAuthError for an owner who may not have it.
   */
  lookAt(owner: ResourceOwner, request: EnteredRequest): Promise<LoginRequest | undefined>
  /** The decision is compared with what the page offers. */
  offer(polled: Polled): Polled
  optionalIn(polled: Polled): Scope
  /**
   * The record with the scope of the selection and the data of extensions; the refusal if the page does not offer the
   * selection.
   *
   * @throws OAuthError the refusal of an extension; `invalid_scope` if the client has lost the scope.
   */
  settle(
    client: Client,
    polled: Polled & { readonly subject: string },
    selection: Selection,
  ): Polled | OAuthError
  describe(token: string): ScopeDescription | undefined
  /** Where owners can end an access; undefined without such a page. */
  readonly manageAt: string | undefined
}
