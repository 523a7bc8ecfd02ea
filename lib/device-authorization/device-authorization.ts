import { aCall, aPath, aSecret, someSeconds } from '../primitives/fields'
import { type Fields, group, optional, orOff, readOptions } from '../primitives/schema'
import { randomBytes } from 'node:crypto'
import type { Plugin } from '../doors/plug-in'
import type { RenderView } from '../doors/page-endpoint'
import { aLimit, type LimitOption } from '../limits/limit'
import { isInMemory } from '../store/store'
import { type DevicePageTerms, type DeviceView, verificationPage } from './device-page'
import { deviceGrant, DeviceKey, deviceRequestEndpoint } from './device-request'

export interface DeviceAuthorizationOptions {
  /**
   * The key of the digest that names the record of a user code, so that a dump of the store reveals no code:
   * at least 32 bytes, the same in all processes of an issuer. A new one ends only the codes that wait for
   * their owners. Default, with a store in memory only: a random key.
   */
  readonly secret?: string
  /** Whole seconds for which a user code is good, 60 to 3600. Default 600. */
  readonly lifetime?: number
  /**
   * Seconds between two polls of a device, 1 to 60. Each poll that comes sooner, but not within a second of
   * the last one, lengthens its interval by 5 seconds (RFC 8628 3.5). Default 5.
   */
  readonly interval?: number
  /** How many wrong user codes may be entered. `false` switches both limits off. */
  readonly guesses?: DeviceGuessOptions | false
  /**
   * How many device authorization requests one network may send, except clients with credentials that the
   * host registered. 48 bits of IPv6 may send 16 times as many as 64. Default: 100 in 600 seconds.
   */
  readonly requests?: LimitOption
  /** Renders the page. Default: the page of the suite. */
  readonly page?: RenderView<DeviceView>
  /** Below the issuer. Default `/device_authorization`. */
  readonly endpointPath?: string
  /** Below the issuer: people type it. Default `/device`. */
  readonly pagePath?: string
}

/** Over a limit, the server answers 429 with `Retry-After`, and asks no store. */
interface DeviceGuessOptions {
  /** For one resource owner. Default 10 in 900 seconds. */
  readonly owner?: LimitOption
  /** For one IPv4 address, or 64 bits of IPv6; 16 times as many for 48 bits. Default 30 in 900 seconds. */
  readonly network?: LimitOption
}

/**
 * Device authorization (RFC 8628): a device without a browser shows a code, its owner enters it on a page of
 * this server, and the device polls for its tokens. Clients need the grant type
 * `urn:ietf:params:oauth:grant-type:device_code`, and no redirection URI.
 *
 * @throws ConfigurationError that lists every mistake.
 */
export function deviceAuthorization(options: DeviceAuthorizationOptions = {}): Plugin {
  const { secret, ...read } = readOptions('deviceAuthorization()', fields, options, {
    undefinedMembers: 'refused',
  })
  const random = randomBytes(32)
  return {
    name: 'device-authorization',
    open(server) {
      if (secret === undefined && !isInMemory(server.storage))
        throw new Error(
          'needs the option secret, because other processes may share the store: deviceAuthorization({ secret }), a text of at least 32 bytes that all of them have, such as one of openssl rand -base64 32.',
        )
      const terms = { ...read, key: new DeviceKey(secret ?? random, server.issuer) }
      return {
        endpoints: [deviceRequestEndpoint(server, terms), verificationPage(server, terms)],
        grantTypes: [deviceGrant],
      }
    },
  }
}

export const fields = {
  secret: optional(aSecret),
  lifetime: someSeconds(600, 60, 3600),
  interval: someSeconds(5, 1, 60),
  guesses: orOff<DevicePageTerms['guesses']>(
    { owner: undefined, network: undefined },
    group({ owner: aLimit(10), network: aLimit(30) } satisfies Fields<DeviceGuessOptions>),
  ),
  requests: aLimit(100, 600),
  page: optional(
    aCall<RenderView<DeviceView>>('must be a function: it gets the request, the response and the view.'),
  ),
  endpointPath: aPath('/device_authorization'),
  pagePath: aPath('/device'),
} satisfies Fields<DeviceAuthorizationOptions>
