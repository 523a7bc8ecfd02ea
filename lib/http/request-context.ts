import type { Request } from 'express'
import { type AuditNotes, noNotes } from '../audit/audit-log'
import type { ClientVerification, ProvenClient } from '../client-authentication/authenticate-client'
import type { PresentedClient } from '../client-authentication/method'
import type { ClientRequest } from '../passport/strategies'
import { Parameters } from '../protocol/parameters'
import { privateState } from '../protocol/private-state'
import type { FailureLimit } from './network-limit'
import { credentialSourcesOf, formOf } from './request'

/** The state of one request at one server, or at one guard without a server. */
export class RequestContext {
  /** Notes for events only. No response may contain them. */
  readonly notes: AuditNotes = noNotes()
  /** The client that the request presents. The server finds it once, and has proven nothing about it. */
  presented: Promise<PresentedClient> | undefined = undefined
  /** The client that a strategy of this server has proven. */
  client: ProvenClient | undefined = undefined
  /** Whether the limit on requests of a network has counted this request. */
  isCounted = false
  /**
   * The single-use keys, such as nonces, that this request has used. Several guards on the way of a request count as
   * one use.
   */
  usedOnce: ReadonlySet<string> = new Set()
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

/** The parts of the server that client authentication uses. */
export interface AuthenticationHttp {
  readonly verification: ClientVerification
  readonly contexts: RequestContexts
  readonly failures: FailureLimit
  /** Seconds within which a body must arrive. */
  readonly bodyDeadline: number
}

/** A request as the strategies of one server see it. */
export function clientRequest(
  { verification, contexts, failures, bodyDeadline }: AuthenticationHttp,
  request: Request,
): ClientRequest {
  const context = contexts.of(request)
  const examine = async (): Promise<PresentedClient> => {
    // A GET has no body, so its client can present a credential only in a header.
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

/**
 * Finds the client that a request presents with this form, and notes the client for events. @throws OAuthError if the
 * request presents no client.
 */
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
