import type { Request } from 'express'
import { type AuditNotes, noNotes } from '../audit/audit-log'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { privateState } from '../primitives/private-state'
import type { SingleUse } from '../protocol/single-use'

const nothingUsed: ReadonlySet<string> = new Set()
const nothingToUse: readonly SingleUse[] = []

/** At one server, or at one guard without a server. */
class RequestContext {
  /** For events only. No response may contain them. */
  readonly notes: AuditNotes = noNotes()
  /** Proven by this request; for the endpoint behind client authentication, and for limits. */
  client: ProvenClient | undefined = undefined
  /** By the network limit on requests. */
  isCounted = false
  /** Single-use keys, such as nonces. Several guards on the way of a request count as one use. */
  usedOnce: ReadonlySet<string> = nothingUsed
  /** Used up once nothing else refuses the request. */
  singleUses: readonly SingleUse[] = nothingToUse
}

/**
 * Each context stands in a private field of its request, so nothing that a host writes onto a request, and no
 * client of another server, passes for a proven client.
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
