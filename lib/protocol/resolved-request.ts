import type { Client } from './client'
import type { Parameters } from './parameters'
import type { Sender } from './sender'

/** The request that stands for the one that the server received. */
export interface ResolvedRequest {
  /**
   * The parameters in form encoding, such as `parameters.format()` of an earlier request. They replace those of the
   * request. `client_id` must name the same client.
   */
  readonly parameters: string
  /**
   * The handle of a record of `createUnclaimedAuthorization`, if the request is good once. The record becomes the record
   * of this request, in one write, when an owner sees its page or approves it. A record that an owner has claimed, that
   * has expired, or that belongs to another client refuses the request, on a page. Default: the request uses nothing up.
   */
  readonly claims?: string
}

/** How an authorization request came to the server. */
export interface RequestArrival {
  /**
   * Whether the client pushes the request now, by `parseAuthorizationRequest` of a plug-in. Such a request claims no
   * record, and may lack `client_id`. False for a request that a browser brings.
   */
  readonly isPushed: boolean
  /** Whether an extension before this one has found the record of the request, which was checked when it began. */
  readonly hasRecord: boolean
  /** The sender, for fetches that the request causes: the client itself, for a request that is pushed. */
  readonly sender: Sender
}

/** An authorization request that its client pushes to the server (RFC 9126), as an extension sees it. */
export interface ExtensionPushedRequest {
  /** The registration of the client. */
  readonly client: Client
  /** The parameters of the request, after extensions had replaced them. */
  readonly parameters: Parameters
  /** What `prepare` of this extension resolved to. */
  readonly evidence: unknown
}
