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
import type { Selection } from './selection'

/** A valid request of a client without a redirection URI. The resource owner is not known yet. */
interface ParsedPolledRequest {
  /** The members of the record that begins with the request. */
  readonly proposal: PolledProposal
  /** What extensions add to the consent page. */
  readonly facts: readonly ConsentFact[]
}

/** A request in a record, and what the record does not say. */
interface EnteredRequest {
  readonly client: Client
  readonly polled: Polled
  /** The grant type of the polls. */
  readonly grantType: string
  /** When a login was demanded for the request, in seconds since the epoch; undefined if none was. */
  readonly loginDemandedAt: number | undefined
}

/**
 * The requests of clients without a redirection URI, such as devices (RFC 8628): checked, offered and approved as the
 * authorization endpoint does it. Questions of extensions (`askOwner`) do not appear.
 */
export interface PolledRequests {
  /**
   * Checks the parameters of a request. `scope` and the parameters of extensions mean what they mean at the authorization
   * endpoint.
   *
   * @param grantType the grant type of the polls.
   * @throws OAuthError for each parameter that is missing, malformed or not allowed.
   */
  parse(client: Client, parameters: Parameters, grantType: string): Promise<ParsedPolledRequest>
  /**
   * Looks at an owner who enters or decides a request, as the authorization endpoint does.
   *
   * @returns what the login is asked for that has to come before; undefined if the owner may have the request.
   * @throws OAuthError for an owner who may not have it.
   */
  lookAt(owner: ResourceOwner, request: EnteredRequest): Promise<LoginRequest | undefined>
  /** Adds to a record what its page offers, so that the decision is compared with it. */
  offer(polled: Polled): Polled
  /** The scope tokens that the owner may leave out, by the offer in the record. */
  optionalIn(polled: Polled): Scope
  /**
   * The record as its owner has approved it: with the scope of the selection, and with what extensions keep of the
   * decision. The result is the refusal if the page does not offer the selection.
   *
   * @throws OAuthError the refusal of an extension; `invalid_scope` if the client has lost the scope.
   */
  settle(
    client: Client,
    polled: Polled & { readonly subject: string },
    selection: Selection,
  ): Polled | OAuthError
  /** What the option `scopes` says about a scope token; undefined if it says nothing. */
  describe(token: string): ScopeDescription | undefined
  /** Where owners can end an access; undefined without such a page. */
  readonly manageAt: string | undefined
}
