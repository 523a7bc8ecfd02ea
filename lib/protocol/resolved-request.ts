import type { Parameters } from './parameters'
import type { Sender } from './sender'

export interface ResolvedRequest {
  /**
   * In place of those of the request: in form encoding, such as `parameters.format()` of an earlier request, or those of
   * the request with others, such as `parameters.with(…)`. `client_id` must name the same client.
   */
  readonly parameters: string | Parameters
  /**
   * The handle of a record of `openRequest`, if the request is good once. It becomes the record of
   * this request, in one write, when an owner sees its page or approves it. A record that is claimed, expired, or of
   * another client refuses the request, on a page. Default: nothing is used up.
   */
  readonly claims?: string
}

export interface RequestArrival {
  /**
   * Whether the client pushes now, by `parseAuthorizationRequest` of a plug-in: claims no record, and may lack
   * `client_id`. False for a request of a browser.
   */
  readonly isPushed: boolean
  /** Of `prepare`, for a pushed request; else undefined. */
  readonly evidence: unknown
  /** Whether an earlier extension has found the record, checked when it began. */
  readonly hasRecord: boolean
  /** For fetches; the client itself, if it pushes. */
  readonly sender: Sender
}
