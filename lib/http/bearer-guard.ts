import { handler, mountedUncalled } from './router'
import type { Request, RequestHandler, Response } from 'express'
import { noNotes } from '../audit/audit-log'
import type { DiagnosedRefusal } from '../audit/diagnosis'
import {
  allowedOrigins,
  type CorsOption,
  crossOrigin,
  everyMethod,
  explainingCors,
  exposedHeaders,
} from './cors'
import { Asked } from './asked'
import type { Edge, GuardEdge, ResolvedGuardDefaults } from './edge'
import { isLater } from '../primitives/concurrency'
import { aFlag, oneOf } from '../primitives/fields'
import { type Field, type Fields, group, rootPlace, usual } from '../primitives/schema'
import { isRecord } from '../primitives/values'
import { errorMembers, headersOf, statusOf } from '../protocol/oauth-error'
import { refused, unexpected } from '../protocol/refusals'
import type { FoundAccess } from '../authorization/lookup'
import type { EndpointRequest } from '../protocol/endpoint'
import type { Extension } from '../protocol/extension'
import { withImplied } from '../protocol/scope'
import {
  admitToken,
  type FindToken,
  type GuardedAccess,
  type GuardedRequest,
  type LoginOptions,
  readScope,
  requiredLogin,
  requiredSchemes,
  type Requirement,
  requirementFields,
  tokenOf,
  withMembers,
} from '../resource-server/admit'
import {
  type Challenged,
  challengeFields,
  type ChallengeOptions,
  schemeChallenges,
  scopeIn,
  usualChallenge,
} from '../resource-server/challenge'
import { metadataUrlOf } from '../endpoints/protected-resource-metadata'
import { HttpRequest } from './request'
import { sendJson } from './response'

declare global {
  namespace Express {
    interface Request {
      /**
       * The access that the request's token gives, set by a bearer guard. Undefined on a route without a guard, and
       * without a token behind one with `optional`.
       */
      oauth?: GuardedAccess & AccessMembers
    }
    /** A host declares the members of its own extensions here. */
    interface AccessMembers {}
  }
}

/** For one guard, or for all guards with the option `guards`. */
export interface GuardDefaults extends ChallengeOptions {
  /**
   * Sets `request.auth` to an {@link AuthInfo}, for the SDK for MCP servers. It contains the access token: do not log
   * it. Default `false`.
   */
  readonly authInfo?: boolean
  /**
   * The origins whose scripts may call the route and read its responses, refusals included: `true`, or `{ origins }`.
   * The guard then answers preflights: mount it with `app.use` or `app.all`. Default `false`.
   */
  readonly cors?: CorsOption
}

const guardFields = (defaults: ResolvedGuardDefaults) =>
  ({
    ...challengeFields(defaults),
    authInfo: aFlag(defaults.authInfo),
    cors: allowedOrigins(defaults.cors),
  }) satisfies Fields<GuardDefaults>

export const guardsOption = group(guardFields({ ...usualChallenge, authInfo: false, cors: undefined }), {
  undefinedMembers: 'refused',
})

export interface BearerGuardOptions extends GuardDefaults, LoginOptions {
  /** Whether the token needs all values of the scope or any of them. Default `all`. */
  readonly match?: 'all' | 'any'
  /**
   * Lets a request without a token pass, with `req.oauth` undefined; an invalid token is refused. Default `false`.
   */
  readonly optional?: boolean
  /**
   * A URI of the option `resources`: the guard refuses tokens for others. Default: the default resource; without
   * `resources`, tokens that name none pass.
   */
  readonly resource?: string
  /**
   * How the guard verifies a self-contained token, such as a JWT. `store` also looks it up, so a revocation ends it at
   * once; with `signature` it lives until it expires. Default `store`.
   */
  readonly verify?: 'store' | 'signature'
}

/** Makes a guard for a route. @throws ConfigurationError if no token could ever pass the guard. */
export interface BearerGuard {
  /** `bearerGuard('photos:read')`. Without a scope, every valid token passes. */
  (scope?: string, options?: BearerGuardOptions): RequestHandler
  /** `bearerGuard({ optional: true })`. */
  (options: BearerGuardOptions): RequestHandler
}

export function bearerGuard(context: GuardEdge): BearerGuard {
  return (...given: readonly [first?: string | BearerGuardOptions, second?: BearerGuardOptions]) => {
    const [first, second = {}, ...more]: readonly unknown[] = given
    // Express calls a mounted function with three arguments.
    if (more.length > 0) throw mountedUncalled('bearerGuard', "bearerGuard('photos:read')")
    const [scope, options] = given.length === 0 ? ['', {}] : isPlain(first) ? ['', first] : [first, second]
    return guard(context, readGuard(context, scope, options))
  }
}

type GuardTerms = ReturnType<typeof readGuard>

function readGuard(context: GuardEdge, scope: unknown, options: unknown) {
  const { scopes, resources, guards, tokenTypes, extensions, implied } = context.settings
  const at = rootPlace(undefined)
  const fields = { ...requirementFields(resources), ...guardFields(guards), verify: findBy(context) }
  const read = group(fields, { undefinedMembers: 'refused' })(options, at, '')
  const resource = read.resource?.uri
  const requirement: Requirement = {
    scope: readScope(scope, at, scopes && [...scopes.keys()], read.resource),
    match: read.match,
    resource,
    login: requiredLogin(read),
    extensions: extensions.filter(actsInGuards),
    implied,
    schemes: requiredSchemes(tokenTypes),
  }
  for (const type of at.issues.length > 0 ? [] : tokenTypes) {
    const lack = type.lackOfGuard?.(resource)
    if (lack !== undefined) at.wrong('resource', lack)
  }
  at.throwIssues('A bearer guard cannot work:')
  const resourceMetadata = resource === undefined ? undefined : metadataUrlOf(resource)?.href
  return { ...read, requirement, resourceMetadata }
}

const verification = usual('store', oneOf('store', 'signature'))

const findBy =
  ({ findToken, findSignedToken }: GuardEdge): Field<FindToken> =>
  (given, at, name) => {
    if (verification(given, at, name) === 'store') return findToken
    if (findSignedToken === undefined)
      at.wrong(name, 'needs an access token format with a signature, such as jwtAccessTokens({ keys }).')
    return findSignedToken ?? findToken
  }

const isPlain = (value: unknown): value is BearerGuardOptions =>
  isRecord(value) && Object.getPrototypeOf(value) === Object.prototype

function guard(context: GuardEdge, terms: GuardTerms): RequestHandler {
  const { settings, requests, audit } = context
  const { tokenTypes } = settings
  const { requirement, authInfo, verify: find } = terms
  const exposed = exposedHeaders(settings)
  const share = crossOrigin(terms.cors, { methods: everyMethod, isCacheable: true, exposed })
  const cors = explainingCors(share, audit.diagnosis)
  const challenge: Challenge = (challenged) =>
    schemeChallenges(tokenTypes, terms, { ...challenged, schemes: challenged.schemes ?? requirement.schemes })
  return handler(async (request, response, next) => {
    // A preflight has no token (Fetch 4.8), and nothing behind the guard may run without one.
    if (cors?.(request, response) === true) return
    const asked = new RequestAtGuard(context, request, response)
    let access: GuardedAccess | undefined
    try {
      if (!requests.enter(request, response)) throw refused('closing')
      const carried = tokenOf(asked, tokenTypes, requirement.scope)
      if (carried !== undefined) {
        const found = find(carried.presented.accessToken, asked.now, asked)
        const admitted = admitToken(carried, isLater(found) ? await found : found, asked, requirement)
        access = withMembers(requirement.extensions, isLater(admitted) ? await admitted : admitted)
      }
    } catch (error) {
      return refuse(context, challenge, asked, error)
    }
    if (access === undefined && !terms.optional) {
      audit.diagnosis?.explain(missingToken(request))
      // RFC 6750 3.1: without a token, there is no error.
      const own = scopeIn(requirement.scope)
      return sendJson(response, 401, {}, challenge({ authorization: [], own, error: {} }))
    }
    if (access !== undefined) {
      request.oauth = access
      if (authInfo) setAuthInfo(request, asked.token, access, terms)
    }
    next()
  })
}

const actsInGuards = (extension: Extension) => 'admit' in extension || 'describe' in extension

class RequestAtGuard extends HttpRequest implements GuardedRequest {
  readonly now: number
  token = ''
  /** Set also if the guard refuses the request. */
  access: GuardedAccess | undefined = undefined
  readonly #context: GuardEdge

  constructor(context: GuardEdge, request: Request, response: Response) {
    super(request, response)
    this.#context = context
    this.now = context.now()
  }

  // Several guards on the way of a request count as one use.
  async useOnce(key: string, seconds: number, share: string): Promise<boolean> {
    const { usedOnce, counters } = this.#context
    if (usedOnce.get(this.request)?.has(key) === true) return true
    const isFirst = await counters.useOnce(key, seconds, share)
    if (isFirst) usedOnce.set(this.request, new Set([...(usedOnce.get(this.request) ?? []), key]))
    return isFirst
  }

  noteToken(accessToken: string, access: GuardedAccess | undefined): void {
    this.token = accessToken
    this.access = access
  }
}

const endpoint = 'protected resource'

type Challenge = (challenged: Challenged) => Readonly<Record<string, string | string[]>>

function refuse(
  { settings: { errorUri }, audit, observeToken, now }: GuardEdge,
  challenge: Challenge,
  { request, response, token, access, authorization }: RequestAtGuard,
  thrown: unknown,
): void {
  const shown = token === '' ? undefined : token
  const asked = { ...noNotes, request, response, endpoint, clientId: undefined, shown, access }
  const error = unexpected(thrown)
  const look = error.reason === 'token_invalid' && observeToken && (() => observeToken(token, now()))
  audit.reportError(asked, error, look || undefined)
  if (error.code === 'server_error') throw thrown
  const [status, members] = [statusOf(error), errorMembers(error, errorUri)]
  // RFC 9110 15.5.2: 401 demands a challenge.
  const own = error.challenge ?? (status === 401 ? {} : undefined)
  sendJson(response, status, members, {
    ...headersOf(error),
    ...(own && challenge({ authorization, own, error: members, schemes: error.schemes })),
  })
}

// Asking without a token is usual (RFC 6750 3), but two slips look the same.
function missingToken({ query, headers }: Request): DiagnosedRefusal | undefined {
  const refusal = { endpoint, code: undefined, reason: 'token_missing' }
  if ('access_token' in query) return { ...refusal, observed: { cause: 'query' } }
  return headers.authorization === undefined ? undefined : { ...refusal, observed: { cause: 'scheme' } }
}

/** As a guard does (RFC 6749 7). */
export async function admitAtEndpoint(
  { settings, store }: Edge,
  request: EndpointRequest<undefined>,
  token: string,
): Promise<FoundAccess> {
  if (!(request instanceof Asked)) throw new TypeError('admit() takes the request of an endpoint.')
  const { tokenTypes, extensions, implied } = settings
  const scope = [token]
  const schemes = requiredSchemes(tokenTypes)
  request.schemes = schemes ?? tokenTypes.map((type) => type.scheme)
  const carried = tokenOf(request, tokenTypes, scope)
  if (carried === undefined) throw refused(causeOf(request), {}, { challenge: scopeIn(scope) })
  const found = await store.findAccess(carried.presented.accessToken, request.now)
  const terms = { scope, match: 'all', resource: request.url } as const
  const acting = extensions.filter((extension) => extension.admit !== undefined)
  return admitToken(carried, found, request, { ...terms, extensions: acting, implied, schemes })
}

function causeOf({ method, authorization, parameters }: Asked) {
  if (method === 'GET' && parameters.mentions('access_token')) return 'token_missing/query'
  return authorization.length === 0 ? 'token_missing' : 'token_missing/scheme'
}

/** `request.auth` for the TypeScript SDK of the Model Context Protocol. */
export interface AuthInfo {
  /** Whoever has the token can use it: never log this object. */
  token: string
  clientId: string
  /** With every scope that the option `implies` adds. */
  scopes: string[]
  /** Seconds since the epoch. */
  expiresAt: number
  /** Of the guard (RFC 8707). Missing without the option `resources`. */
  resource?: URL
  /** The metadata of the resource (RFC 9728). Missing if it has none. */
  resourceMetadataUrl?: string
  /** All other members of `req.oauth`, such as `subject`. */
  extra: Record<string, unknown>
}

/** The SDK lets hosts change it, so each request gets its own. */
function setAuthInfo(
  request: Request,
  token: string,
  access: GuardedAccess,
  { requirement: { implied, resource }, resourceMetadata }: GuardTerms,
): void {
  const { clientId, scope, expiresAt, tokenType: _, ...extra } = access
  const auth: AuthInfo = {
    token,
    clientId,
    scopes: [...withImplied(scope, implied)],
    expiresAt,
    ...(resource !== undefined && { resource: new URL(resource) }),
    ...(resourceMetadata !== undefined && { resourceMetadataUrl: resourceMetadata }),
    extra,
  }
  // The SDK declares a wider type.
  Object.assign(request, { auth })
}
