import type { Authorization } from '../authorization/authorization'
import { openRequest, requestNotOpen } from '../authorization/requested'
import type { Plugin, PluginServer } from '../doors/plug-in'
import { aLimit, type LimitOption } from '../limits/limit'
import { networksOf } from '../limits/network'
import { TokenBuckets } from '../limits/shares'
import { steadyClock } from '../primitives/clock'
import { aFlag, aPath, someSeconds } from '../primitives/fields'
import { type Fields, group, type Read, readOptions } from '../primitives/schema'
import { booleanMember, type Client, passesNetworkLimit } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import type { Endpoint } from '../protocol/endpoint'
import type { Extension } from '../protocol/extension'
import type { Parameters } from '../protocol/parameters'
import { overLimit, refused } from '../protocol/refusals'

export interface PushedAuthorizationRequestsOptions {
  /**
   * Whether every client must push every authorization request (RFC 9126 5). Default false: only clients with
   * `require_pushed_authorization_requests` must.
   */
  readonly required?: boolean
  /**
   * Seconds within which a browser has to bring a pushed request, 5 to 600 (RFC 9126 2.2). Then the option
   * `lifetimes.authorizationRequest` applies. Default 60.
   */
  readonly lifetime?: number
  /** How many requests clients and networks may push. */
  readonly limits?: PushLimitOptions
  /** Below the issuer. Default `/par`. */
  readonly path?: string
}

/**
 * How many requests may be pushed in one process. Refused ones do not count. A limit is a token bucket: all
 * `attempts` (at most 1 000 000) at once, full again after `seconds` (at most 86 400). `false` switches it
 * off. Over it, the endpoint answers 429 with `Retry-After`.
 */
export interface PushLimitOptions {
  /** For one client that the host registered with credentials. Default: 30 000 in 60 seconds. */
  readonly client?: LimitOption
  /**
   * For all other clients of one network together, such as public ones, in whose name everybody may push: an
   * IPv4 address, or 64 bits of IPv6; 48 bits may push 16 times as many. Default: 300 in 60 seconds.
   */
  readonly network?: LimitOption
}

declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `pushedAuthorizationRequests()`. Whether the client must push every authorization request (RFC
     * 9126 6). Default: the option `required`.
     */
    readonly require_pushed_authorization_requests?: boolean | undefined
  }
}

const member = 'require_pushed_authorization_requests'

/**
 * Pushed authorization requests (RFC 9126): a client leaves its request at the server, with its credentials,
 * and sends its owner with a reference. No browser, log or referrer sees the request, and no browser can
 * change it. The first owner who is logged in claims a request, and may open its page again. The decision
 * uses it up.
 *
 * @throws ConfigurationError that lists every mistake.
 */
export function pushedAuthorizationRequests(options: PushedAuthorizationRequestsOptions = {}): Plugin {
  const terms = readOptions('pushedAuthorizationRequests()', fields, options)
  return {
    name: 'pushed-authorization-requests',
    open: (server) => ({
      endpoints: [pushEndpoint(server, terms)],
      resolve: resolvePushed(server, ({ members }) => terms.required || members[member] === true),
      // RFC 9126 6
      clientMembers: [booleanMember(member)],
    }),
  }
}

export const fields = {
  required: aFlag(false),
  lifetime: someSeconds(60, 5, 600),
  limits: group({
    client: aLimit(30_000, 60),
    network: aLimit(300, 60),
  } satisfies Fields<PushLimitOptions>),
  path: aPath('/par'),
} satisfies Fields<PushedAuthorizationRequestsOptions>

type PushTerms = Read<typeof fields>

/** RFC 9126 2.2. */
const requestUriPrefix = 'urn:ietf:params:oauth:request_uri:'
// Characters in form encoding.
export const largestRequest = 16 * 1024

/** RFC 9126 2. */
function pushEndpoint(server: PluginServer, { path, lifetime, required, limits }: PushTerms): Endpoint {
  const count = pushShares(server, limits)
  return {
    name: 'pushed_authorization_request',
    path,
    cors: true,
    usesUpLast: true,
    // RFC 9126 2.3
    errorStatus: { body_too_large: 413, pushed_request_too_large: 413 },
    ...(required && { metadata: { require_pushed_authorization_requests: true } }),
    async handle(request) {
      const { client, parameters, evidence, address, sender } = request
      refuseRequestUri(parameters)
      const parsed = await server.parseAuthorizationRequest(client, parameters, evidence, sender)
      if (parsed.parameters.length > largestRequest) throw refused('pushed_request_too_large')
      count(client, address)
      await request.useUp?.()
      const { requested, handle } = openRequest(
        // By the registration of then.
        { ...parsed.proposal, extensionData: {} },
        server.context(),
        { parameters: parsed.parameters, lifetime },
      )
      await server.begin(requested)
      return { status: 201, members: { request_uri: requestUriPrefix + handle, expires_in: lifetime } }
    },
  }
}

/** RFC 9126 2.1. */
function refuseRequestUri(parameters: Parameters): void {
  if (parameters.mentions('request_uri')) throw refused('request_uri_pushed')
}

export function pushShares(server: Pick<PluginServer, 'now'>, limits: PushTerms['limits']) {
  const clock = steadyClock(() => server.now() * 1000)
  const clients = limits.client && new TokenBuckets(limits.client, tooMany, clock)
  const networks = limits.network && new TokenBuckets(limits.network, tooMany, clock)
  return (client: Client, address: string | undefined): void => {
    if (passesNetworkLimit(client)) clients?.take(client.client_id)
    else networks?.takeFromAll(networksOf(address))
  }
}

const tooMany = (seconds: number) => overLimit('too_many_pushed_requests', seconds)

/** RFC 9126 4: of the request, only `client_id` and `request_uri` count. */
function resolvePushed(
  server: PluginServer,
  mustPush: (client: Client) => boolean,
): NonNullable<Extension['resolve']> {
  return async (parameters, client, { isPushed }) => {
    // Also from a request object.
    if (isPushed) {
      refuseRequestUri(parameters)
      return undefined
    }
    const uri = parameters.get('request_uri')
    if (uri === undefined) {
      // RFC 9126 5 and 6.
      if (mustPush(client)) throw refused('pushed_request_required')
      return undefined
    }
    // RFC 9101 5: never both.
    if (parameters.mentions('request')) throw refused('request_object_and_uri')
    if (!uri.startsWith(requestUriPrefix)) throw refused('request_uri_of_the_client')
    const handle = uri.slice(requestUriPrefix.length)
    const id = credentialId('requestHandle', handle)
    const found = id === undefined ? undefined : await server.find(id)
    return { parameters: pushedIn(found, client), claims: handle }
  }
}

function pushedIn(found: Authorization | undefined, client: Client): string {
  if (found === undefined) throw refused('request_uri_unknown')
  // RFC 9126 2.2.
  if (found.clientId !== client.client_id) throw refused('authorization_request_of_another_client')
  const pushed = found.state === 'requested' ? found.parameters : undefined
  if (pushed === undefined) throw requestNotOpen()
  return pushed
}
