import { Reading } from '../../protocol/configuration'
import { digest } from '../../protocol/credential'
import type { PresentedToken, TokenCheck, TokenType } from '../../protocol/token-type'
import { hasMac, isMacAlgorithm, type MacAlgorithm } from './algorithm'
import { isAuthority, isListed, parseAuthority } from './authority'
import { parseMacCredentials, type MacCredentials } from './credentials'
import { createMacKey, keptOf, macKeyOf, type MacKey } from './mac-key'
import { normalizedRequest } from './normalized-request'

/** Options of {@link mac}. */
export interface MacOptions {
  /**
   * Where clients call the guarded resources, as `Host` names it: `api.example.com`, with a port unless it is the default
   * one. A request that was signed for another server is never good here.
   */
  readonly hosts: readonly string[]
  /** The first one is what new tokens get; the others are still good. Default `['hmac-sha-256']`. */
  readonly algorithms?: readonly MacAlgorithm[]
  /** How far the time of a request may be from the guard's clock, either way, in seconds, 1 to 300. Default 60. */
  readonly tolerance?: number
}

/**
 * The token type `mac`: a client gets a key with its access token and signs each request with it (RFC 6749 7.1,
 * draft-ietf-oauth-v2-http-mac-00 and -01). The token alone is good for nothing, a request that was seen is not good
 * again, nor for anything else than it was. It covers method, request target, host and port; it does not cover the body.
 *
 * @throws ConfigurationError
 */
export function mac(options: MacOptions): TokenType {
  const rules = readRules(options)
  const [algorithm = 'hmac-sha-256'] = rules.algorithms
  return {
    name: 'mac',
    scheme: 'MAC',
    issue(accessToken, moment) {
      const macKey = createMacKey(algorithm, moment)
      return {
        properties: { mac_key: macKey.key, mac_algorithm: macKey.algorithm },
        kept: keptOf(macKey, accessToken, moment),
      }
    },
    read(text) {
      const credentials = parseMacCredentials(text)
      return credentials === undefined ? undefined : presented(credentials, rules)
    },
  }
}

type Rules = Required<MacOptions>

type Objection =
  'mac_algorithm_not_offered' | 'mac_host_not_listed' | 'mac_wrong' | 'mac_not_in_time' | 'mac_replayed'

function readRules(options: unknown): Rules {
  const reading = new Reading(options, '')
  const rules: Rules = {
    hosts: reading.required('hosts', [], isHosts, hostsCure),
    algorithms: reading.optional('algorithms', ['hmac-sha-256'], isAlgorithms, algorithmsCure),
    tolerance: reading.optional('tolerance', 60, isTolerance, 'must be whole seconds, 1 to 300.'),
  }
  reading.refuseUnknown()
  reading.settle('mac() cannot work with these options:')
  return rules
}

function presented(credentials: MacCredentials, rules: Rules): PresentedToken {
  return {
    accessToken: credentials.id,
    async objection(check): Promise<Objection | undefined> {
      const macKey = macKeyOf(check.kept, credentials.id)
      const reason = mismatch(credentials, macKey, check, rules)
      if (reason !== undefined) return reason
      // Last, so that a stranger without the key cannot use up a nonce of the client's.
      const isFirst = await check.useOnce(nonceKey(credentials), 3 * rules.tolerance)
      return isFirst ? undefined : 'mac_replayed'
    },
  }
}

function mismatch(
  credentials: MacCredentials,
  { key, algorithm, issuedAt }: MacKey,
  { request, now }: TokenCheck,
  { hosts, algorithms, tolerance }: Rules,
): Objection | undefined {
  if (!algorithms.includes(algorithm)) return 'mac_algorithm_not_offered'
  const [host = '', second] = request.headers['host'] ?? []
  const authority = second === undefined ? parseAuthority(host, request.secure) : undefined
  if (authority === undefined || !isListed(authority, hosts, request.secure)) return 'mac_host_not_listed'
  if (!hasMac(normalizedRequest(credentials, request, authority), key, algorithm, credentials.mac))
    return 'mac_wrong'
  const { since, seconds } = credentials.time
  const time = since === 'epoch' ? seconds : issuedAt + seconds
  return Math.abs(now - time) > tolerance ? 'mac_not_in_time' : undefined
}

// Remembered for longer than the two tolerances in which a request can be good, for the sake of processes whose clocks differ.
function nonceKey({ id, ts = '', nonce }: MacCredentials): string {
  return `mac:${digest([id, ts, nonce].join('\n'))}`
}

const hostsCure =
  "must be a list of hosts as the Host header names them, such as ['api.example.com'], with a port unless it is the default one."
const algorithmsCure = "must be a list of 'hmac-sha-256' and 'hmac-sha-1', the first of which new tokens get."
const isHosts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every(isAuthority)
const isAlgorithms = (value: unknown): value is readonly MacAlgorithm[] =>
  Array.isArray(value) && value.length > 0 && value.every(isMacAlgorithm)
const isTolerance = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 300
