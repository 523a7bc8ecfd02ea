import { handler } from './router'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { type AuditNotes, requestIdHeader } from '../audit/audit-log'
import type { OnCommitted } from '../authorization/transition'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { noClientAuthentication } from '../client-authentication/read-credential'
import { verifyCredential } from '../client-authentication/strategies'
import { type Client, hasCredentials } from '../protocol/client'
import { isRecord } from '../primitives/values'
import { optional, required, requireShape, shape } from '../primitives/shape'
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
import { formOf, hasLongBody, HttpRequest, jsonOf, queryOf } from './request'
import type { ServerContext } from '../server/context'
import { credentialOf } from './client-authenticator'
import { sendClientFailure } from './client-failure'
import { endpointCors, type Share } from './endpoint-cors'
import { senderOf } from './sender-of'
import { closing } from './requests-in-flight'
import type { RequestLimit } from './network-limits'
import { sendJson, sendNoContent } from './response'
import { requireTls } from './transport'
import { useLast, usingUp, useUp } from './use-up'

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

/** The host mounts client authentication before it. */
export function mountedEndpoint(server: ServerContext, endpoint: EndpointRow): RequestHandler {
  return answering(server, endpoint, async (request) => {
    const proven = server.contexts.of(request).client
    if (proven === undefined)
      throw new Error(
        `oauth.${endpoint.name}() found no authenticated client: mount oauth.clientAuthentication() before it, or a strategy of oauth.strategies.`,
      )
    return { parameters: await parametersOf(server, endpoint, request), proven }
  })
}

export function wholeEndpoint(server: ServerContext, endpoint: EndpointRow): RequestHandler {
  return answering(server, endpoint, (request) => authenticate(server, endpoint, request))
}

/** A strategy of the host may have authenticated the client. */
export function singleEndpoint(server: ServerContext, endpoint: EndpointRow): RequestHandler {
  return answering(server, endpoint, async (request) => {
    const proven = server.contexts.of(request).client
    if (proven === undefined) return authenticate(server, endpoint, request)
    return { parameters: await parametersOf(server, endpoint, request), proven }
  })
}

interface Identified {
  readonly parameters: Parameters
  readonly proven: ProvenClient | undefined
}

function answering(
  server: ServerContext,
  endpoint: EndpointRow,
  identify: (request: Request) => Promise<Identified>,
): RequestHandler {
  const { audit, settings } = server
  const { name, notesOf, limit } = endpoint
  const handle = handlingOf(server, endpoint)
  const respond: Act = async (request, response) => {
    const { parameters, proven } = await identify(request)
    const audited = { request, response, endpoint: name, clientId: proven?.client.client_id }
    if (notesOf !== undefined) audit.note(request, notesOf(parameters))
    if (proven?.byOldSecret === true) audit.reportOldSecret(audited)
    if (limit !== undefined) await limit(request, response)
    const json = hasJson(endpoint, request) ? await jsonOf(request, settings.bodyDeadline) : undefined
    const content = { parameters, json, onCommitted: audit.onCommitted(request) }
    const { members, status = 200, headers } = await handle(request, content, proven?.client)
    const all = { ...headers, ...requestIdHeader(audit.reportSuccess(audited)) }
    if (status === 204) sendNoContent(response, all)
    else sendJson(response, status, members, all)
  }
  return served(server, endpoint, respond, endpointCors(server, endpoint))
}

type Handle = (request: Request, content: Content, client: Client | undefined) => Promise<EndpointResponse>

function handlingOf(server: ServerContext, endpoint: EndpointRow): Handle {
  const { settings } = server
  const place = { server, name: endpoint.name, url: urlBelow(settings.issuer, endpoint.path) }
  const handle = handlingByClient(endpoint, place, settings.extensions)
  return settings.endpoints.some((own) => own === endpoint) ? checked(handle, endpoint.name) : handle
}

interface Place {
  readonly server: ServerContext
  readonly name: string
  readonly url: string
}

function handlingByClient(endpoint: EndpointRow, place: Place, extensions: readonly Extension[]): Handle {
  if (endpoint.clientAuthentication === 'none')
    return (request, content) => endpoint.handle(new RequestAtEndpoint(request, place, undefined, content))
  const preparing = extensions.filter((extension) => extension.prepare !== undefined)
  if (endpoint.clientAuthentication === 'optional')
    return (request, content, client) => {
      if (client === undefined)
        return endpoint.handle(new RequestAtEndpoint(request, place, undefined, content))
      const asked = new RequestAtEndpoint(request, place, client, content)
      return gatherEvidence(preparing, asked).then(() =>
        usingUp(endpoint, asked, () => endpoint.handle(asked)),
      )
    }
  const isConfidential = endpoint.clientAuthentication === 'confidential'
  return (request, content, client) => {
    if (client === undefined) throw new Error(`The endpoint ${endpoint.name} was reached without a client.`)
    if (isConfidential && !hasCredentials(client)) throw refused('client_not_confidential/endpoint')
    const asked = new RequestAtEndpoint(request, place, client, content)
    const handle = () => usingUp(endpoint, asked, () => endpoint.handle(asked))
    return preparing.length === 0 ? handle() : gatherEvidence(preparing, asked).then(handle)
  }
}

async function gatherEvidence(
  preparing: readonly Extension[],
  request: RequestAtEndpoint<Client>,
): Promise<void> {
  const evidence = new Map<string, unknown>()
  for (const extension of preparing) {
    const found: unknown = await extension.prepare?.(request)
    if (found !== undefined) evidence.set(extension.name, found)
  }
  request.evidence = evidence
}

// Hosts write endpoints, also in JavaScript.
function checked(handle: Handle, name: string): Handle {
  return async (...request) => {
    const answer: unknown = await handle(...request)
    requireAnswer(answer, name)
    return answer
  }
}

class RequestAtEndpoint<Caller extends Client | undefined>
  extends HttpRequest
  implements EndpointRequest<Caller>, Committing
{
  readonly parameters: Parameters
  readonly json: unknown
  readonly onCommitted: OnCommitted
  evidence: Evidence = noEvidence

  constructor(
    request: Request,
    private readonly place: Place,
    readonly client: Caller,
    { parameters, json, onCommitted }: Content,
  ) {
    super(request)
    this.parameters = parameters
    this.json = json
    this.onCommitted = onCommitted
  }

  get endpoint(): string {
    return this.place.name
  }

  get url(): string {
    return this.place.url
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

function requireAnswer(answer: unknown, name: string): asserts answer is EndpointResponse {
  requireShape(answerShape, answer, `The endpoint "${name}" returned a wrong result:`, undefined)
}

const answerShape = shape<EndpointResponse>(
  {
    members: required(isRecord, 'must be an object.'),
    status: optional(
      (value) => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 299,
      'must be 200 to 299.',
    ),
    headers: optional(
      (value) => isRecord(value) && Object.values(value).every((text) => typeof text === 'string'),
      'must be an object of texts.',
    ),
  },
  'ignored',
)

/** @param endpoint as which this part reports failures. */
export function clientAuthentication(
  server: ServerContext,
  endpoint: EndpointRow,
  share: Share | undefined,
): RequestHandler {
  const identify: Act = async (request) => {
    const { proven } = await authenticate(server, endpoint, request)
    // What comes next may have effects.
    if (proven !== undefined) await useUp(server, request, proven.client)
  }
  return served(server, endpoint, identify, share, 'pass on')
}

/** A network over its limit must prove a client by the `Authorization` header before a long body is read. */
async function authenticate(
  server: ServerContext,
  endpoint: EndpointRow,
  request: Request,
): Promise<Identified> {
  const { clients: failures } = server.networkLimits
  const { clientAuthentication: need = 'required' } = endpoint
  if (need !== 'none' && hasLongBody(request) && failures?.refusalOf(request) !== undefined)
    await prove(server, request, Parameters.none, 'required')
  const parameters = await parametersOf(server, endpoint, request)
  if (need === 'none') return { parameters, proven: undefined }
  const form = hasForm(endpoint, request.method) ? parameters : Parameters.none
  return { parameters, proven: await prove(server, request, form, need) }
}

interface Content extends Committing {
  readonly parameters: Parameters
  readonly json: unknown
}

function parametersOf(
  { settings }: ServerContext,
  endpoint: EndpointRow,
  request: Request,
): Parameters | Promise<Parameters> {
  return hasForm(endpoint, request.method) ? formOf(request, settings.bodyDeadline) : queryOf(request)
}

export const hasForm = ({ body }: EndpointDescription, method: string): boolean =>
  body !== 'json' && hasBody(method)
const hasJson = ({ body }: EndpointDescription, { method }: Request) => body === 'json' && hasBody(method)

async function prove(
  server: ServerContext,
  request: Request,
  form: Parameters,
  need: EndpointRow['clientAuthentication'],
): Promise<ProvenClient | undefined> {
  const context = server.contexts.of(request)
  // Drops an earlier proof.
  context.client = undefined
  context.singleUses = []
  const credential = credentialOf(server, request, form)
  if (credential === undefined) {
    if (need === 'optional') return undefined
    throw noClientAuthentication(form.mentions('client_id'))
  }
  const strategy = server.strategies.get(credential.method.name)
  if (strategy === undefined) throw new Error(`The method ${credential.method.name} has no strategy.`)
  const proven = await verifyCredential(strategy, request, credential)
  context.client = proven
  return proven
}

/** Strategies in a host's Passport report failures as errors. */
export function clientAuthenticationErrors(
  server: ServerContext,
  endpoint: EndpointRow,
): ErrorRequestHandler {
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
function isPassportFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'AuthenticationError'
}

type Act = (request: Request, response: Response) => Promise<unknown>

function served(
  server: ServerContext,
  endpoint: EndpointRow,
  act: Act,
  share: Share | undefined,
  after: 'end' | 'pass on' = 'end',
): RequestHandler {
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
      await act(request, response)
    } catch (error) {
      return sendClientFailure(server, endpoint, request, response, error)
    }
    // Outside of `try`: errors of the host are no failures of the client.
    if (after === 'pass on') next()
  })
}

// Reads the body first: the connection closes with the response, and a later body would reset it before the client
// gets the response.
async function turnAway(server: ServerContext, endpoint: EndpointRow, request: Request): Promise<never> {
  try {
    await (hasJson(endpoint, request)
      ? jsonOf(request, server.settings.bodyDeadline)
      : parametersOf(server, endpoint, request))
  } catch {
    // The answer is the same.
  }
  throw closing()
}
