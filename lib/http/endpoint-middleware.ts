import { handler } from './router'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { type AuditNotes, requestIdHeader } from '../audit/audit-log'
import type { OnCommitted } from '../authorization/transition'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { noClientAuthentication } from '../client-authentication/read-credential'
import { type Client, hasCredentials } from '../protocol/client'
import { aTable, textTable, aWhole } from '../primitives/fields'
import { type Eventual, isLater } from '../primitives/eventual'
import { optional, requireShape, shape } from '../primitives/schema'
import {
  type EndpointResponse,
  type EndpointHandling,
  type EndpointDescription,
  type EndpointRequest,
  hasBody,
} from '../protocol/endpoint'
import { type Evidence, noEvidence } from '../protocol/evidence'
import type { Extension } from '../protocol/extension'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { Parameters } from '../protocol/parameters'
import type { SingleUse } from '../protocol/single-use'
import { urlBelow } from '../endpoints/server-metadata'
import { methodsOf, refuseMethod } from './methods'
import { bodyMayCome, formAtOnce, formOf, hasLongBody, HttpRequest, jsonOf, queryOf } from './request'
import type { Edge } from './edge'
import { ClientRequest, credentialOf } from './client-authenticator'
import { sendClientFailure } from './client-failure'
import { endpointCors, type Share } from './endpoint-cors'
import { senderOf } from './sender-of'
import { closing } from './requests-in-flight'
import type { RequestLimit } from './network-limits'
import { sendJson, sendNoContent } from './response'
import { requireTls } from './transport'
import { useLast, useUp } from './use-up'

export type EndpointRow = EndpointDescription &
  EndpointHandling<Committing> & {
    /** For events, such as the credential. */
    readonly notesOf?: (form: Parameters) => Partial<AuditNotes>
    /** Default: only failures count. */
    readonly limit?: RequestLimit | undefined
  }

interface Committing {
  readonly onCommitted: OnCommitted
}

/** One middleware of an endpoint. */
interface Part {
  readonly server: Edge
  readonly endpoint: EndpointRow
  readonly share: Share | undefined
  /** Which middleware authenticates the client: one before, this one, or this one unless another has. */
  readonly authenticates: 'before' | 'here' | 'once'
  /** Undefined: the part authenticates the client, and passes the request on. */
  readonly answering: Answering | undefined
}

interface Answering {
  readonly place: Place
  /** With `prepare`. */
  readonly preparing: readonly Extension[]
  /** Hosts write endpoints, also in JavaScript. */
  readonly isOfHost: boolean
}

/** The host mounts client authentication before it. */
export const mountedEndpoint = (server: Edge, endpoint: EndpointRow): RequestHandler =>
  answeringPart(server, endpoint, 'before')

export const wholeEndpoint = (server: Edge, endpoint: EndpointRow): RequestHandler =>
  answeringPart(server, endpoint, 'here')

/** A strategy of the host may have authenticated the client. */
export const singleEndpoint = (server: Edge, endpoint: EndpointRow): RequestHandler =>
  answeringPart(server, endpoint, 'once')

function answeringPart(
  server: Edge,
  endpoint: EndpointRow,
  authenticates: Part['authenticates'],
): RequestHandler {
  const { settings } = server
  const answering = {
    place: { server, endpoint, url: urlBelow(settings.issuer, endpoint.path) },
    preparing: settings.extensions.filter((extension) => extension.prepare !== undefined),
    isOfHost: settings.endpoints.some((own) => own === endpoint),
  }
  return served({ server, endpoint, share: endpointCors(server, endpoint), authenticates, answering })
}

export function clientAuthentication(
  server: Edge,
  endpoint: EndpointRow,
  share: Share | undefined,
): RequestHandler {
  return served({ server, endpoint, share, authenticates: 'here', answering: undefined })
}

/** The way of a request, which waits for its body, for the host and for the store. */
function served(part: Part): RequestHandler {
  const { server, endpoint, share, answering } = part
  const { settings, requests, requireService } = server
  const methods = methodsOf(endpoint)
  return handler(async (request, response, next) => {
    if (share?.(request, response) === true) return
    try {
      if (!methods.includes(request.method)) return refuseMethod(server, endpoint, request, response)
      requireTls(request, settings.tlsRequired)
      server.watchHost(request)
      if (!requests.enter(request, response)) await turnAway(server, endpoint, request)
      if (requireService !== undefined && endpoint.duringMaintenance !== true) await requireService()
      const context = server.contexts.of(request)
      const isToProve = needsProof(part, context.client)
      if (isToProve && mustProveFirst(server, request))
        context.client = await proveClient(server, request, Parameters.none, 'required')
      const isForm = hasForm(endpoint, request.method)
      if (isForm) await bodyMayCome
      const parameters = isForm
        ? (formAtOnce(request) ?? (await formOf(request, settings.bodyDeadline)))
        : queryOf(request)
      if (isToProve) {
        const form = isForm ? parameters : Parameters.none
        const proven = proveClient(server, request, form, endpoint.clientAuthentication)
        context.client = isLater(proven) ? await proven : proven
      }
      if (answering !== undefined) await answer(answering, request, response, parameters)
      // What comes next may have effects.
      else if (context.client !== undefined) await useUp(server, request, context.client.client)
    } catch (error) {
      return sendClientFailure(server, endpoint, request, response, error)
    }
    // Outside of `try`: errors of the host are no failures of the client.
    if (answering === undefined) next()
  })
}

function needsProof({ endpoint, authenticates }: Part, proven: ProvenClient | undefined): boolean {
  if (authenticates === 'before' && proven === undefined)
    throw new Error(
      `oauth.${endpoint.name}() found no authenticated client: mount oauth.clientAuthentication() before it, or a strategy of oauth.strategies.`,
    )
  if (authenticates === 'before' || endpoint.clientAuthentication === 'none') return false
  return authenticates === 'here' || proven === undefined
}

/** A network over its limit must prove a client by the `Authorization` header before a long body is read. */
const mustProveFirst = ({ networkLimits }: Edge, request: Request): boolean =>
  hasLongBody(request) && networkLimits.clients?.refusalOf(request) !== undefined

/** Undefined if the request presents no client, and needs none. */
function proveClient(
  server: Edge,
  request: Request,
  form: Parameters,
  need: EndpointRow['clientAuthentication'],
): Eventual<ProvenClient | undefined> {
  const context = server.contexts.of(request)
  // Drops an earlier proof.
  context.client = undefined
  context.singleUses = []
  const credential = credentialOf(server, request, form)
  if (credential === undefined) {
    if (need === 'optional') return undefined
    throw noClientAuthentication(form.mentions('client_id'))
  }
  return server.verification.prove(credential, new ClientRequest(server, request))
}

async function answer(
  { place, preparing, isOfHost }: Answering,
  request: Request,
  response: Response,
  parameters: Parameters,
): Promise<void> {
  const { server, endpoint } = place
  const asked = noted(place, request, response, parameters)
  if (endpoint.limit !== undefined) await endpoint.limit(request, response)
  if (hasJson(endpoint, request)) asked.json = await jsonOf(request, server.settings.bodyDeadline)
  requireKind(endpoint, asked)
  if (preparing.length > 0 && isOfClient(asked)) asked.evidence = await evidenceIn(preparing, asked)
  if (endpoint.usesUpLast !== true && asked.useUp !== undefined) await asked.useUp()
  const answered = await handled(endpoint, asked)
  if (isOfHost)
    requireShape(answerShape, answered, `The endpoint "${endpoint.name}" returned a wrong result:`, undefined)
  if (endpoint.usesUpLast === true && asked.useUp !== undefined) await asked.useUp()
  respond(place, asked.client, request, response, answered)
}

function noted(place: Place, request: Request, response: Response, parameters: Parameters): Asked {
  const { server, endpoint } = place
  const proven = endpoint.clientAuthentication === 'none' ? undefined : server.contexts.of(request).client
  if (endpoint.notesOf !== undefined) server.audit.note(request, endpoint.notesOf(parameters))
  if (proven?.byOldSecret === true)
    server.audit.reportOldSecret({
      request,
      response,
      endpoint: endpoint.name,
      clientId: proven.client.client_id,
    })
  return new RequestAtEndpoint(request, place, proven?.client, parameters)
}

function respond(
  { server, endpoint }: Place,
  client: Client | undefined,
  request: Request,
  response: Response,
  { members, status = 200, headers }: EndpointResponse,
): void {
  const audited = { request, response, endpoint: endpoint.name, clientId: client?.client_id }
  const requestId = server.audit.reportSuccess(audited)
  const all = requestId === undefined ? headers : { ...headers, ...requestIdHeader(requestId) }
  if (status === 204) sendNoContent(response, all)
  else sendJson(response, status, members, all)
}

function requireKind({ clientAuthentication: need }: EndpointRow, { client }: Asked): void {
  if (need === 'confidential' && client !== undefined && !hasCredentials(client))
    throw refused('client_not_confidential')
}

async function evidenceIn(
  preparing: readonly Extension[],
  request: RequestAtEndpoint<Client>,
): Promise<Evidence> {
  const evidence = new Map<string, unknown>()
  for (const extension of preparing) {
    const found: unknown = await extension.prepare?.(request)
    if (found !== undefined) evidence.set(extension.name, found)
  }
  return evidence
}

type Asked = RequestAtEndpoint<Client | undefined>

const isOfClient = (asked: Asked): asked is RequestAtEndpoint<Client> => asked.client !== undefined
const isOfNobody = (asked: Asked): asked is RequestAtEndpoint<undefined> => asked.client === undefined

function handled(endpoint: EndpointRow, asked: Asked): Promise<EndpointResponse> {
  if (endpoint.clientAuthentication === 'optional') return endpoint.handle(asked)
  if (endpoint.clientAuthentication !== 'none' && isOfClient(asked)) return endpoint.handle(asked)
  if (endpoint.clientAuthentication === 'none' && isOfNobody(asked)) return endpoint.handle(asked)
  throw new Error(`The endpoint ${endpoint.name} was reached without its client.`)
}

interface Place {
  readonly server: Edge
  readonly endpoint: EndpointRow
  readonly url: string
}

class RequestAtEndpoint<Caller extends Client | undefined>
  extends HttpRequest
  implements EndpointRequest<Caller>, Committing
{
  json: unknown = undefined
  evidence: Evidence = noEvidence

  constructor(
    request: Request,
    private readonly place: Place,
    readonly client: Caller,
    readonly parameters: Parameters,
  ) {
    super(request)
  }

  get endpoint(): string {
    return this.place.endpoint.name
  }

  get url(): string {
    return this.place.url
  }

  get onCommitted(): OnCommitted {
    return this.place.server.audit.onCommitted(this.request)
  }

  setHeader(name: string, value: string): void {
    this.request.res?.setHeader(name, value)
  }

  useLast(use: SingleUse): void {
    useLast(this.place.server, this.request, use)
  }

  get useUp(): (() => Promise<void>) | undefined {
    const { client, request, place } = this
    return client === undefined || place.server.contexts.of(request).singleUses.length === 0
      ? undefined
      : () => useUp(place.server, request, client)
  }

  get sender() {
    return senderOf(this.place.server, this.request)
  }
}

const answerShape = shape<EndpointResponse>(
  {
    members: aTable,
    status: optional(aWhole(200, 299, 'a status')),
    headers: optional(textTable),
  },
  'ignored',
)

export const hasForm = ({ body }: EndpointDescription, method: string): boolean =>
  body !== 'json' && hasBody(method)
const hasJson = ({ body }: EndpointDescription, { method }: Request) => body === 'json' && hasBody(method)

/** Strategies in a host's Passport report failures as errors. */
export function clientAuthenticationErrors(server: Edge, endpoint: EndpointRow): ErrorRequestHandler {
  const share = endpointCors(server, endpoint)
  return (thrown: unknown, request, response, next) => {
    const refusal = isPassportFailure(thrown) ? refused('client_not_authenticated') : thrown
    if (share?.(request, response) === true) return
    if (refusal instanceof OAuthError)
      sendClientFailure(server, endpoint, request, response, refusal).catch(next)
    else next(thrown)
  }
}

// Thrown with `failWithError`, for a method that the host has not listed.
const isPassportFailure = (error: unknown): boolean =>
  error instanceof Error && error.name === 'AuthenticationError'

/**
 * Reads the body first: the connection closes with the response, and a later body would reset it before the
 * client gets the response.
 */
async function turnAway({ settings }: Edge, endpoint: EndpointRow, request: Request): Promise<never> {
  try {
    if (hasJson(endpoint, request)) await jsonOf(request, settings.bodyDeadline)
    else if (hasForm(endpoint, request.method)) await formOf(request, settings.bodyDeadline)
  } catch {
    // The answer is the same.
  }
  throw closing()
}
