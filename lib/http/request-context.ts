import type { Request } from 'express'
import { type AuditNotes, noNotes } from '../audit/audit-log'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { privateState } from '../primitives/private-state'
import type { SingleUse } from '../protocol/single-use'

const nothingUsed: ReadonlySet<string> = new Set()
const nothingToUse: readonly SingleUse[] = []

/** The state of one request at one server, or at one guard without a server. */
class RequestContext {
  /** Notes for events only. No response may contain them. */
  readonly notes: AuditNotes = noNotes()
  /** The client that this request has proven, for the endpoint behind client authentication, and for limits. */
  client: ProvenClient | undefined = undefined
  /** Whether the limit on requests of a network has counted this request. */
  isCounted = false
  /**
   * The single-use keys, such as nonces, that this request has used. Several guards on the way of a request count as
   * one use.
   */
  usedOnce: ReadonlySet<string> = nothingUsed
  /** What the request uses up once nothing else refuses it. */
  singleUses: readonly SingleUse[] = nothingToUse
}

/**
 * The contexts of the requests of one server. Each context stands in a private field of its request. Nothing that a
 * host writes onto a request, and no client that another server has authenticated, can pass for a proven client.
 */
export class RequestContexts {
  private readonly contexts = privateState<Request, RequestContext>()

  of(request: Request): RequestContext {
    const known = this.contexts.get(request)
    if (known !== undefined) return known
    const context = new RequestContext()
    this.contexts.set(request, context)
    return context
  }
}
