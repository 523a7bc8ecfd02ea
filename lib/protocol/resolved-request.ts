import type { Parameters } from './parameters'
import type { Sender } from './sender'

export interface ResolvedRequest {
  /**
   * In place of those of the request, in form encoding or by `parameters.with(…)`. `client_id` must name the same
   * client.
   */
  readonly parameters: string | Parameters
  /**
   * The handle of a record of `openRequest`, if the request is good once. The record becomes this request's when an
   * owner sees its page or approves it. One that is claimed, expired or another client's refuses the request, on a
   * page. Default: nothing is used up.
   */
  readonly claims?: string
}

export interface RequestArrival {
  /** Whether a client pushes now, by `parseAuthorizationRequest`: claims no record, and may lack `client_id`. */
  readonly isPushed: boolean
  /** Of `prepare`, for a pushed request. */
  readonly evidence: unknown
  /** Whether an earlier extension has found the record. */
  readonly hasRecord: boolean
  /** For fetches. */
  readonly sender: Sender
}
