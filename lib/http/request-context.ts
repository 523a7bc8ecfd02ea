import type { Request } from 'express'
import { type AuditNotes, noNotes } from '../audit/audit-log'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { privateState } from '../primitives/private-state'
import type { Client } from '../protocol/client'
import type { SingleUse } from '../protocol/single-use'

const nothingUsed: ReadonlySet<string> = new Set()
const nothingToUse: readonly SingleUse[] = []

class RequestContext {
  /** No response may contain them. */
  readonly notes: AuditNotes = noNotes()
  /** Proven by this request. */
  client: ProvenClient | undefined = undefined
  /** By the network limit on requests. */
  isCounted = false
  /** Several guards on the way of a request count as one use. */
  usedOnce: ReadonlySet<string> = nothingUsed
  /** Used up once nothing else refuses the request. */
  singleUses: readonly SingleUse[] = nothingToUse
  /** For the language of its pages. */
  uiLocales: string | undefined = undefined
  /** An error page may lead back to this client. */
  askingClient: Client | undefined = undefined
}

/**
 * A private field of the request: nothing that a host writes onto it, and no client of another server, passes
 * for a proven client.
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
