import { handler, mountedUncalled } from './router'
import type { Request, RequestHandler, Response } from 'express'
import type { AuditLog, AuditNotes } from '../audit/audit-log'
import { crossOrigin, everyMethod } from '../cors/cors'
import { isRecord, OptionsReader } from '../protocol/configuration'
import { Throttled, unexpected } from '../protocol/oauth-error'
import type { Extension } from '../protocol/extension'
import type { ImpliedScopes } from '../protocol/implied-scope'
import type { Scope } from '../protocol/scope'
import type { TokenType } from '../protocol/token-type'
import { AccessRefusal } from '../resource-server/access-refusal'
import {
  authorizeRequest,
  type FindToken,
  type GuardedAccess,
  type GuardedLookup,
  type GuardedRequest,
  readRequirement,
  type Requirement,
} from '../resource-server/admit'
import type { Challenge } from '../resource-server/challenge'
import {
  type ResourceReference,
  referenceTo,
} from '../protected-resource-metadata/protected-resource-metadata'
import type { Resources } from '../resource-indicators/resources'
import type { Counters } from '../stores/counters'
import { setAuthInfo } from './auth-info'
import { type GuardDefaults, readGuardDefaults, type ResolvedGuardDefaults } from './guard-defaults'
import { authorizationOf, HttpRequest } from './request'
import type { RequestContexts } from './request-context'
import { closing, type RequestsInFlight } from './requests-in-flight'
import { sendJson, sendJsonError } from './response'

declare global {
  namespace Express {
    interface Request {
      /** The access that the access token of the request gives. A bearer guard sets this member. */
      oauth?: GuardedAccess & AccessMembers
    }
    /** Members that extensions add to `req.oauth`. A host declares the members of its own extensions here. */
    interface AccessMembers {}
  }
}

/** Options of a bearer guard. */
export interface BearerGuardOptions extends GuardDefaults {
  /** Whether the token needs `all` values of the scope or `any` of them. Default `all`. */
  readonly match?: 'all' | 'any'
  /**
   * Lets a request without a token pass, with `req.oauth` undefined. The guard still refuses a token that is not valid.
   * Default false.
   */
  readonly optional?: boolean
  /**
   * The resource that the route belongs to: a URI of the option `resources`. The guard refuses tokens for other
   * resources. Default: the default resource. Without the option `resources`, the guard accepts tokens that
   * name no resource.
   */
  readonly resource?: string
}

/** Makes a guard for a route. @throws ConfigurationError if no token could ever pass the guard. */
export interface BearerGuard {
  /** For example `bearerGuard('photos:read')`. Without a scope, every valid token passes. */
  (scope?: string, options?: BearerGuardOptions): RequestHandler
  /** For example `bearerGuard({ optional: true })`. */
  (options: BearerGuardOptions): RequestHandler
}

/** The parts that the guards of one server share. */
export interface GuardHttp {
  /** Looks up a token. */
  readonly find: FindToken
  /** All token types that the guard accepts, `bearer` first. */
  readonly tokenTypes: readonly TokenType[]
  readonly extensions: readonly Extension[]
  readonly useOnce: Counters['useOnce']
  readonly contexts: RequestContexts
  /** Seconds since the epoch. */
  readonly now: () => number
  /** The scope of the server; undefined if only the authorization server knows the scope. */
  readonly knownScope: Scope | undefined
  /** The resources of the server; undefined if the server names none. */
  readonly resources: Resources | undefined
  /** The resource of every guard that has no table of resources; undefined if the guard does not know it. */
  readonly ownResource?: ResourceReference | undefined
  /** The scopes that a scope of a token implies; undefined if no scope implies another. */
  readonly implied: ImpliedScopes | undefined
  /** What a guard has unless its own options say otherwise. */
  readonly guards: ResolvedGuardDefaults
  readonly audit: AuditLog
  readonly requests: RequestsInFlight
  /** The URL of the page that explains error codes; undefined if the host has none. */
  readonly errorUri: string | undefined
}

export function bearerGuard(http: GuardHttp): BearerGuard {
  return (
    first: string | BearerGuardOptions = '',
    second: BearerGuardOptions = {},
    ...more: readonly unknown[]
  ) => {
    // Express calls a mounted function with three arguments, the request first. More than two arguments show that the
    // host has mounted `bearerGuard` instead of its result.
    if (more.length > 0) throw mountedUncalled('bearerGuard', "bearerGuard('photos:read')")
    const [scope, options] = isPlain(first) ? ['', first] : [first, second]
    return guard(http, readGuard(http, scope, options))
  }
}

/** The options of one guard after validation. */
interface GuardSettings extends ResolvedGuardDefaults {
  readonly requirement: Requirement
}

function readGuard(http: GuardHttp, scope: unknown, options: unknown): GuardSettings {
  const reading = new OptionsReader(options, '')
  const requirement = readRequirement(reading, scope, http.knownScope, http.resources)
  const settings = { requirement, ...readGuardDefaults(reading, http.guards) }
  reading.refuseUnknown()
  reading.settle('A bearer guard cannot work:')
  return settings
}

function isPlain(value: unknown): value is BearerGuardOptions {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype
}

function guard(http: GuardHttp, settings: GuardSettings): RequestHandler {
  const { find, tokenTypes, implied, requests, audit } = http
  const { requirement, challenge, authInfo } = settings
  const resource = http.ownResource ?? referenceTo(requirement.resource)
  const cors = crossOrigin(settings.cors, { methods: everyMethod, isCacheable: true })
  const extensions = http.extensions.filter(actsInGuards)
  return handler((request, response, next) => {
    // A preflight has no token (Fetch 4.8), and nothing behind the guard may run without one.
    if (cors?.(request, response) === true) return answered
    let notes: Partial<AuditNotes> = {}
    let token = ''
    const onFound = (shown: string, access: GuardedAccess | undefined) => {
      notes = { shown, access }
      token = shown
    }
    const pass = (access: GuardedAccess | undefined) => {
      if (access !== undefined) {
        request.oauth = access
        if (authInfo) setAuthInfo(request, token, access, { implied, resource })
      }
      next()
    }
    const fail = (error: unknown) => {
      if (requirement.optional && showsNoToken(error)) return pass(undefined)
      audit.note(request, notes)
      refuse(http, { ...challenge, resourceMetadata: resource?.metadataUrl }, request, response, error)
    }
    const lookup = {
      find,
      tokenTypes,
      extensions,
      implied,
      useOnce: useOnceIn(http, request),
      now: http.now(),
      onFound,
    }
    const decision = requests.enter(request, response)
      ? authorizeRequest(new RequestAtGuard(request), requirement, lookup)
      : Promise.reject(closing())
    return decision.then(pass, fail)
  })
}

const answered = Promise.resolve()

const actsInGuards = (extension: Extension) => 'atResourceRequest' in extension || 'access' in extension

class RequestAtGuard extends HttpRequest implements GuardedRequest {
  readonly authorization: readonly string[]

  constructor(request: Request) {
    super(request)
    this.authorization = authorizationOf(request)
  }
}

function showsNoToken(error: unknown): boolean {
  return error instanceof AccessRefusal && error.code === undefined
}

function refuse(
  { tokenTypes, audit, errorUri }: GuardHttp,
  challenge: Challenge,
  request: Request,
  response: Response,
  thrown: unknown,
): void {
  const audited = { request, response, endpoint: 'protected resource' } as const
  if (thrown instanceof AccessRefusal) {
    const { code, status, reason } = thrown
    if (code !== undefined) audit.reportRefusal(audited, { code, reason })
    // RFC 9110 11.6.1: one header line for each scheme, because many clients cannot parse a list of challenges.
    const challenges = tokenTypes.map(({ scheme }) => thrown.challenge(scheme, challenge, errorUri))
    sendJson(response, status, thrown.members(errorUri), { 'WWW-Authenticate': challenges })
    return
  }
  const error = unexpected(thrown)
  audit.reportError(audited, error)
  // A failure of the server goes to the error handling of the host. If a store or an issuer fails, the client may try
  // again.
  if (error.code !== 'temporarily_unavailable') throw thrown
  const [status, wait] = error instanceof Throttled ? [429, error.retryAfter] : [503, 1]
  sendJsonError(response, status, error, errorUri, { 'Retry-After': String(wait) })
}

/** Uses a key once for each request: a request that passes several guards counts as one use. */
function useOnceIn({ contexts, useOnce }: GuardHttp, request: Request): GuardedLookup['useOnce'] {
  return async (key, seconds, clientId) => {
    const context = contexts.of(request)
    if (context.usedOnce.has(key)) return true
    const isFirst = await useOnce(key, seconds, clientId)
    if (isFirst) context.usedOnce = new Set([...context.usedOnce, key])
    return isFirst
  }
}
