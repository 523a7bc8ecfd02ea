import type { Request } from 'express'
import { type AuditNotes, noNotes } from '../audit/audit-log'
import type { ClientVerification, ProvenClient } from '../client-authentication/authenticate-client'
import type { PresentedClient } from '../client-authentication/method'
import type { ClientRequest } from '../passport/strategies'
import { Parameters } from '../protocol/parameters'
import { privateState } from '../protocol/private-state'
import type { FailureLimit } from './network-limit'
import { credentialSourcesOf, formOf } from './request'

/** What one server, or one guard that stands by itself, knows of one request. */
export class RequestContext {
  /** For events alone: what the request led to must reach no answer. */
  readonly notes: AuditNotes = noNotes()
  /** The client that the request presents, examined once; nothing of it is proven. */
  presented: Promise<PresentedClient> | undefined = undefined
  /** The client that a strategy of this server has proven. */
  client: ProvenClient | undefined = undefined
  /** Whether the limit on requests of its network has counted it. */
  isCounted = false
  /** What it has used up, such as a nonce: several guards on its way are one use. */
  usedOnce: ReadonlySet<string> = new Set()
}

/**
 * The contexts of the requests of one server. Each stands beside its request in a private field: nothing that a host writes
 * onto a request, and no client that another server has authenticated, passes for a proven client.
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

/** What client authentication works with at the edge. */
export interface AuthenticationHttp {
  readonly verification: ClientVerification
  readonly contexts: RequestContexts
  readonly failures: FailureLimit
  /** Seconds in which a body must have come. */
  readonly bodyDeadline: number
}

/** A request as the strategies of one server see it. */
export function clientRequest(
  { verification, contexts, failures, bodyDeadline }: AuthenticationHttp,
  request: Request,
): ClientRequest {
  const context = contexts.of(request)
  const examine = async (): Promise<PresentedClient> => {
    // A GET has no body. Its client can show a credential in a header alone.
    const hasForm = request.method !== 'GET' && request.method !== 'HEAD'
    const form = hasForm ? await formOf(request, bodyDeadline) : Parameters.none
    return presentedBy(verification, context, request, form)
  }
  return {
    present: () => (context.presented ??= examine()),
    async prove(presented) {
      const proven = await verification.verify(presented, {
        address: () => request.ip,
        networkRefusal: failures.refusalOf(request),
        clientFound: () => (context.notes.isRegistered = true),
      })
      context.client = proven
      return proven
    },
  }
}

/** The client that a request presents with this form, which its events tell. @throws OAuthError when it presents none. */
export function presentedBy(
  verification: ClientVerification,
  { notes }: RequestContext,
  request: Request,
  form: Parameters,
): PresentedClient {
  const presented = verification.present(credentialSourcesOf(request, form))
  notes.claimedClientId = presented.clientId
  return presented
}
