import type { Request, Response } from 'express'
import type { AuditNotes } from '../audit/audit-log'
import type { CommittedTransition, OnCommitted } from '../authorization/transition'
import type { Host, LoginDemand, PriorConsentQuestion, Question } from '../authorization-endpoint/visit'
import type { AuthenticationContext, ProvenClient } from '../client-authentication/authenticate-client'
import type { PageRequest } from '../doors/page-endpoint'
import { urlBelow } from '../endpoints/server-urls'
import { shareOf } from '../limits/shares'
import type { PageLocale } from '../pages/texts/locale'
import { attempt, type Eventual, following } from '../primitives/concurrency'
import { requireBoolean } from '../primitives/values'
import type { Client } from '../protocol/client'
import type { EndpointRequest } from '../protocol/endpoint'
import { type Evidence, noEvidence } from '../protocol/extension-data'
import type { ChoicesQuestion } from '../protocol/extension'
import { Parameters } from '../protocol/parameters'
import { parseResourceOwner, type ResourceOwner } from '../protocol/resource-owner'
import type { SingleUse } from '../protocol/single-use'
import type { GuardedRequest } from '../resource-server/admit'
import { leadToLogin, showConsent } from './consent'
import type { Share } from './cors'
import type { Edge, Exchange } from './edge'
import { keepOpener } from './host-policies'
import type { RequestLimit } from './network-limits'
import { HttpRequest } from './request'

export interface Terms {
  readonly name: string
  readonly path: string
  /** In the order of `Allow`. */
  readonly methods: readonly string[]
  /** `fields`: a form, or JSON. */
  readonly body: 'form' | 'json' | 'fields'
  readonly limit: RequestLimit | undefined
  readonly share: Share | undefined
  /** `told`: by a redirect to the client. */
  readonly service: 'needed' | 'told' | 'none'
  readonly clientAuthentication: 'required' | 'confidential' | 'optional' | 'none'
  readonly usesUpLast: boolean
}

export interface Row<Answer> extends Terms {
  /** Before the body is read. */
  readonly begin?: (asked: Asked) => void
  /** For events. */
  readonly notesOf?: ((form: Parameters) => Partial<Pick<AuditNotes, 'shown' | 'grantType'>>) | undefined
  /** Undefined: the next middleware answers. */
  readonly handle: ((asked: Asked) => Eventual<Answer>) | undefined
  readonly write: (asked: Asked, answer: Answer) => unknown
  readonly refuse: (asked: Asked, thrown: unknown) => unknown
}

export const nothingToUse: readonly SingleUse[] = []
const bearerScheme = ['Bearer']

export class Asked
  extends HttpRequest
  implements
    AuditNotes,
    AuthenticationContext,
    EndpointRequest<Client | undefined>,
    Exchange,
    GuardedRequest,
    PageRequest,
    Host
{
  committed: CommittedTransition | undefined = undefined
  shown: string | undefined = undefined
  grantType: string | undefined = undefined
  claimedClientId: string | undefined = undefined
  isRegistered = false
  clientId: string | undefined = undefined
  /** False for a request after closing. */
  isOpen = true
  /** By the network limit. */
  isCounted = false
  proven: ProvenClient | undefined = undefined
  client: Client | undefined = undefined
  /** Once nothing else refuses the request. */
  singleUses = nothingToUse
  parameters = Parameters.none
  json: unknown = undefined
  evidence: Evidence = noEvidence
  inJson = false
  uiLocales: string | undefined = undefined
  askingClient: Client | undefined = undefined
  resourceOwner: ResourceOwner | undefined = undefined
  ownerReadAt = 0
  /** Of a refusal's challenge, after a plug-in asked for a token. */
  schemes: readonly string[] = bearerScheme

  constructor(
    readonly server: Edge,
    request: Request,
    response: Response,
    public row: Terms,
  ) {
    super(request, response)
  }

  get endpoint(): string {
    return this.row.name
  }

  get url(): string {
    return urlBelow(this.server.settings.issuer, this.row.path)
  }

  get now(): number {
    return this.server.now()
  }

  useOnce(key: string, seconds: number, share: string): Promise<boolean> {
    return this.server.counters.useOnce(key, seconds, share)
  }

  noteToken(): void {}

  get sender(): this {
    return this
  }

  /**
   * The authorization endpoint counts no failures: any page can lead a browser there. But a network that used up its
   * failures elsewhere causes no fetch there.
   */
  get networkRefusal() {
    return this.server.networkLimits.clients?.refusalOf(this.request)
  }

  get onCommitted(): OnCommitted {
    return (committed) => void (this.committed = committed)
  }

  clientFound(client?: Client): void {
    this.isRegistered = true
    this.askingClient = client
  }

  useLast(use: SingleUse): void {
    this.singleUses = [...this.singleUses, use]
  }

  get useUp(): (() => Promise<void>) | undefined {
    const { client, singleUses } = this
    return client === undefined || singleUses.length === 0 ? undefined : this.useUpOf.bind(this, client)
  }

  private async useUpOf(client: Client): Promise<void> {
    const uses = this.singleUses
    this.singleUses = nothingToUse
    const share = shareOf(client, this.address)
    for (const { key, seconds, refusal } of uses)
      if (!(await this.server.counters.useOnce(key, seconds, share))) throw refusal()
  }

  /** OpenID Connect Core 3.1.2.1. */
  parametersReplaced(parameters: Parameters): void {
    this.uiLocales = parameters.peek('ui_locales')
  }

  get locale(): PageLocale {
    return this.server.settings.pageLocales.choose(this.uiLocales, this.request.headers['accept-language'])
  }

  findOwner(): Eventual<ResourceOwner | undefined> {
    const found = attempt<unknown>(
      () => this.server.settings.resourceOwner?.(this.request),
      (thrown) => {
        throw lacksSession(this.request, thrown) ? noSession(thrown) : thrown
      },
    )
    return following(found, parseResourceOwner)
  }

  skipConsent(question: PriorConsentQuestion): Eventual<boolean> {
    const { skipConsent } = this.server.settings
    return skipConsent === undefined
      ? false
      : following<unknown, boolean>(skipConsent(this.request, question), isSkipped)
  }

  async choices(question: ChoicesQuestion): Promise<unknown> {
    return this.server.settings.choices?.(this.request, question)
  }

  logIn(demand: LoginDemand): Promise<void> {
    keepOpener(this)
    return leadToLogin(this, this.row.path, this.parameters, demand)
  }

  ask(question: Question): unknown {
    return showConsent(this, question)
  }

  async logOut(): Promise<void> {
    const { logOut } = this.server.settings
    if (logOut === undefined) throw new Error('The option logOut is missing.')
    await logOut(this.request, this.response)
  }
}

export const isOfClient = (asked: Asked): asked is Asked & { readonly client: Client } =>
  asked.client !== undefined

/** Shared by all middlewares of a server, but with the row of each. */
export function askedOf(
  server: Edge,
  row: Terms,
  request: Request,
  response: Response | undefined = request.res,
): Asked {
  if (response === undefined) throw new Error('A request without Express has no response.')
  const known = server.requestsAsked.get(request)
  const asked = known instanceof Asked ? known : new Asked(server, request, response, row)
  if (known === undefined) server.requestsAsked.set(request, asked)
  asked.response = response
  asked.row = row
  return asked
}

// The engine's error does not name the session.
const lacksSession = (request: Request, thrown: unknown): thrown is TypeError =>
  thrown instanceof TypeError &&
  /^Cannot (?:read|destructure) propert/.test(thrown.message) &&
  Reflect.get(request, 'session') === undefined

const isSkipped = (answer: unknown) => requireBoolean(answer, 'The option skipConsent')

const noSession = (cause: TypeError): TypeError =>
  new TypeError(
    `${cause.message}. The request has no session: if the option resourceOwner reads req.session, mount the session middleware before oauth.router(). The same holds for what sets req.user and req.cookies.`,
    { cause },
  )
