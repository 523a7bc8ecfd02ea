import type { Request, RequestHandler, Response } from 'express'
import type { AuditLog, AuditNotes } from '../audit/audit-log'
import { isRecord } from '../protocol/configuration'
import { Throttled, unexpected } from '../protocol/oauth-error'
import type { Extension } from '../protocol/extension'
import type { Scope } from '../protocol/scope'
import type { TokenType } from '../protocol/token-type'
import { AccessRefusal } from '../resource-server/access-refusal'
import {
  authorizeRequest,
  type FindToken,
  type GuardedAccess,
  type GuardedLookup,
  type GuardedRequest,
  parseRequirement,
  type Requirement,
} from '../resource-server/admit'
import type { Counters } from '../stores/counters'
import { authorizationOf, HttpRequest } from './request'
import type { RequestContexts } from './request-context'
import { closing, type RequestsInFlight } from './requests-in-flight'
import { sendJson, sendJsonError } from './response'
import { handler, mountedUncalled } from './handler'

declare global {
  namespace Express {
    interface Request {
      /** What the access token of the request gives. A bearer guard sets it. */
      oauth?: GuardedAccess & AccessMembers
    }
    /** Members that extensions add to `req.oauth`. A host declares the members of its own extensions here. */
    interface AccessMembers {}
  }
}

/** Options of a bearer guard. */
export interface BearerGuardOptions {
  /** Whether the token needs `all` of the scope's tokens or `any` one of them. Default `all`. */
  readonly match?: 'all' | 'any'
  /** Lets a request without a token pass, with `req.oauth` undefined; a bad token is refused all the same. Default false. */
  readonly optional?: boolean
}

/** Makes a guard for a route. @throws ConfigurationError when it could never let a token pass. */
export interface BearerGuard {
  /** `bearerGuard('photos:read')`; without a scope any valid token passes. */
  (scope?: string, options?: BearerGuardOptions): RequestHandler
  /** `bearerGuard({ optional: true })` */
  (options: BearerGuardOptions): RequestHandler
}

/** What guards work with. */
export interface GuardHttp {
  /** What tokens are looked up in. */
  readonly find: FindToken
  /** All that are offered, bearer first. */
  readonly tokenTypes: readonly TokenType[]
  readonly extensions: readonly Extension[]
  readonly useOnce: Counters['useOnce']
  readonly contexts: RequestContexts
  /** Seconds since the epoch. */
  readonly now: () => number
  /** The scope of the server; undefined where only the authorization server knows it. */
  readonly knownScope: Scope | undefined
  readonly audit: AuditLog
  readonly requests: RequestsInFlight
  /** The page that explains error codes, if there is one. */
  readonly errorUri: string | undefined
}

const realm = 'oauth'

export function bearerGuard(http: GuardHttp): BearerGuard {
  return (
    first: string | BearerGuardOptions = '',
    second: BearerGuardOptions = {},
    ...more: readonly unknown[]
  ) => {
    // Express calls what it finds mounted with three arguments, the request first.
    if (more.length > 0) throw mountedUncalled('bearerGuard', "bearerGuard('photos:read')")
    const [scope, options] = isPlain(first) ? ['', first] : [first, second]
    return guard(http, parseRequirement(scope, options, http.knownScope))
  }
}

function isPlain(value: unknown): value is BearerGuardOptions {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype
}

function guard(http: GuardHttp, requirement: Requirement): RequestHandler {
  const { find, tokenTypes, requests, audit } = http
  const extensions = http.extensions.filter(actsInGuards)
  return handler((request, response, next) => {
    let known: Partial<AuditNotes> = {}
    const onFound = (shown: string, access: GuardedAccess | undefined) => {
      known = { shown, access }
    }
    const pass = (access: GuardedAccess | undefined) => {
      if (access !== undefined) request.oauth = access
      next()
    }
    const fail = (error: unknown) => {
      if (requirement.optional && showsNoToken(error)) return pass(undefined)
      audit.note(request, known)
      refuse(http, request, response, error)
    }
    const admission = {
      find,
      tokenTypes,
      extensions,
      useOnce: useOnceIn(http, request),
      now: http.now(),
      onFound,
    }
    const decision = requests.enter(request, response)
      ? authorizeRequest(new RequestAtGuard(request), requirement, admission)
      : Promise.reject(closing())
    return decision.then(pass, fail)
  })
}

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
  request: Request,
  response: Response,
  thrown: unknown,
): void {
  const asked = { request, response, endpoint: 'protected resource' } as const
  if (thrown instanceof AccessRefusal) {
    const { code, status, reason } = thrown
    if (code !== undefined) audit.reportRefusal(asked, { code, reason })
    // RFC 9110 11.6.1: a line for each scheme, because clients read lists of challenges badly.
    const challenges = tokenTypes.map(({ scheme }) => thrown.challenge(scheme, realm, errorUri))
    sendJson(response, status, thrown.members(errorUri), { 'WWW-Authenticate': challenges })
    return
  }
  const error = unexpected(thrown)
  audit.reportError(asked, error)
  // What broke in here is for the host's own error handling; trouble of a store or an issuer is for the client to try again.
  if (error.code !== 'temporarily_unavailable') throw thrown
  const [status, wait] = error instanceof Throttled ? [429, error.retryAfter] : [503, 1]
  sendJsonError(response, status, error, errorUri, { 'Retry-After': String(wait) })
}

/** Single use as one request sees it: it may pass several guards on its way, and is one use to all of them. */
function useOnceIn({ contexts, useOnce }: GuardHttp, request: Request): GuardedLookup['useOnce'] {
  return async (key, seconds, clientId) => {
    const context = contexts.of(request)
    if (context.usedOnce.has(key)) return true
    const isFirst = await useOnce(key, seconds, clientId)
    if (isFirst) context.usedOnce = new Set([...context.usedOnce, key])
    return isFirst
  }
}
