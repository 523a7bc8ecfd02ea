import type { Client } from './client'
import type { Parameters } from './parameters'
import type { Sender } from './sender'

/** Stands for the request that the server received. */
export interface ResolvedRequest {
  /**
   * In form encoding, such as `parameters.format()` of an earlier request. They replace those of the request.
   * `client_id` must name the same client.
   */
  readonly parameters: string
  /**
   * The handle of a record of `createUnclaimedAuthorization`, if the request is good once. It becomes the record of
   * this request, in one write, when an owner sees its page or approves it. A record that is claimed, expired, or of
   * another client refuses the request, on a page. Default: the request uses nothing up.
   */
  readonly claims?: string
}

export interface RequestArrival {
  /**
   * Whether the client pushes the request now, by `parseAuthorizationRequest` of a plug-in: it claims no record, and
   * may lack `client_id`. False for a request that a browser brings.
   */
  readonly isPushed: boolean
  /** Whether an earlier extension has found the record of the request, which was checked when it began. */
  readonly hasRecord: boolean
  /** For fetches that the request causes: the client itself, if it pushes. */
  readonly sender: Sender
}

/** A pushed request (RFC 9126). */
export interface ExtensionPushedRequest {
  readonly client: Client
  /** After extensions have replaced them. */
  readonly parameters: Parameters
  /** What `prepare` of this extension resolved to. */
  readonly evidence: unknown
}
