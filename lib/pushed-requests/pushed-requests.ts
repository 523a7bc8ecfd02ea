import { aFlag, aPath, someSeconds } from '../primitives/fields'
import { type Fields, readOptions } from '../primitives/schema'
import type { Plugin } from '../doors/plug-in'
import { booleanMember, type Client } from '../protocol/client'
import { pushEndpoint, type PushLimitOptions, pushLimits, pushShares, resolvePushed } from './push-endpoint'
import './registration'

export interface PushedAuthorizationRequestsOptions {
  /**
   * Whether every client must push every authorization request (RFC 9126 5). Default false: only clients with
   * the member `require_pushed_authorization_requests` must.
   */
  readonly required?: boolean
  /**
   * The seconds within which a browser has to bring a pushed request, 5 to 600 (RFC 9126 2.2). Then the
   * option `lifetimes.authorizationRequest` applies, as to any request. Default 60.
   */
  readonly lifetime?: number
  /** How many requests clients and networks may push. */
  readonly limits?: PushLimitOptions
  /** The path of the endpoint below the issuer. Default `/par`. */
  readonly path?: string
}

const name = 'pushed-authorization-requests'
const member = 'require_pushed_authorization_requests'

/**
 * Pushed authorization requests (RFC 9126): a client leaves its request at the server, with its credentials,
 * and sends its owner with a reference. No browser, log or referrer sees the request, and no browser can
 * change it.
 *
 * The first owner who is logged in claims a request, and may open its page again. The decision uses it up.
 *
 * @throws ConfigurationError that lists every mistake of the options.
 */
export function pushedAuthorizationRequests(options: PushedAuthorizationRequestsOptions = {}): Plugin {
  const { required, lifetime, limits, path } = readOptions('pushedAuthorizationRequests()', fields, options)
  const mustPush = ({ members }: Client) => required || members[member] === true
  return {
    name,
    open(server) {
      const count = pushShares(limits, () => server.now() * 1000)
      return {
        endpoints: [pushEndpoint(server, { path, lifetime, required, count })],
        resolve: resolvePushed(server, mustPush),
        // RFC 9126 6
        clientMembers: [booleanMember(member)],
      }
    },
  }
}

const fields = {
  required: aFlag(false),
  lifetime: someSeconds(60, 5, 600),
  limits: pushLimits,
  path: aPath('/par'),
} satisfies Fields<PushedAuthorizationRequestsOptions>
