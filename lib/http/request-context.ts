import type { Request } from 'express'
import { type AuditNotes, noNotes } from '../audit/audit-log'
import type { ClientVerification, ProvenClient } from '../client-authentication/authenticate-client'
import type { PresentedClient } from '../client-authentication/method'
import type { AuthenticateBy } from '../passport/strategies'
import { hasBody } from '../protocol/endpoint'
import { Parameters } from '../protocol/parameters'
import { privateState } from '../protocol/private-state'
import type { FailureLimit } from './network-limit'
import { credentialSourcesOf, formOf } from './request'

const nothingUsed: ReadonlySet<string> = new Set()

/** The state of one request at one server, or at one guard without a server. */
export class RequestContext {
  /** Notes for events only. No response may contain them. */
  readonly notes: AuditNotes = noNotes()
  /** The client that the request presents. The server finds it once, and has proven nothing about it. */
  presented: PresentedClient | Promise<PresentedClient> | undefined = undefined
  /** The client that a strategy of this server has proven. */
  client: ProvenClient | undefined = undefined
  /** Whether the limit on requests of a network has counted this request. */
  isCounted = false
  /**
   * The single-use keys, such as nonces, that this request has used. Several guards on the way of a request count as
   * one use.
   */
  usedOnce: ReadonlySet<string> = nothingUsed
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

/** What the strategies of one server do with a request. */
export function clientAuthenticator({
  verification,
  contexts,
  failures,
  bodyDeadline,
}: AuthenticationHttp): AuthenticateBy {
  const examine = async (context: RequestContext, request: Request): Promise<PresentedClient> => {
    // A request without a body: its client can present a credential only in a header.
    const form = hasBody(request.method) ? await formOf(request, bodyDeadline) : Parameters.none
    return presentedBy(verification, context, request, form)
  }
  return async (request, method) => {
    const context = contexts.of(request)
    context.presented ??= examine(context, request)
    const presented = context.presented instanceof Promise ? await context.presented : context.presented
    if (presented.method.name !== method) return undefined
    context.client = await verification.verify(presented, {
      address: () => request.ip,
      networkRefusal: failures.refusalOf(request),
      clientFound: () => (context.notes.isRegistered = true),
    })
    return context.client.client
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
