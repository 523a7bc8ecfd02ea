import { digest } from '../../protocol/credential'
import type { PresentedToken, TokenCheck, TokenType } from '../../protocol/token-type'
import { hasMac } from './algorithm'
import { isListed, parseAuthority } from './authority'
import { parseMacCredentials, type MacCredentials } from './credentials'
import { readMacOptions, type MacOptions, type MacRules } from './mac-options'
import { createMacKey, keptOf, macKeyOf, type MacKey } from './mac-key'
import { normalizedRequest } from './normalized-request'
import type { Reason } from '../../protocol/reasons'

/**
 * The token type `mac`: a client gets a key with its access token and signs each request with it (RFC 6749 7.1,
 * draft-ietf-oauth-v2-http-mac-00 and -01). The token alone is good for nothing, a request that was seen is not good
 * again, nor for anything else than it was. It covers method, request target, host and port; it does not cover the body.
 *
 * @throws ConfigurationError
 */
export function mac(options: MacOptions): TokenType {
  const rules = readMacOptions(options)
  const [algorithm] = rules.algorithms
  return {
    name: 'mac',
    scheme: 'MAC',
    issue(accessToken, moment) {
      const macKey = createMacKey(algorithm, moment)
      return {
        properties: { mac_key: macKey.key, mac_algorithm: macKey.algorithm },
        tokenData: keptOf(macKey, accessToken, moment),
      }
    },
    read(text) {
      const credentials = parseMacCredentials(text)
      return credentials === undefined ? undefined : presented(credentials, rules)
    },
  }
}

type Objection = Reason<'invalid_token'>

function presented(credentials: MacCredentials, rules: MacRules): PresentedToken {
  return {
    accessToken: credentials.id,
    async rejectReason(check): Promise<Objection | undefined> {
      const macKey = macKeyOf(check.tokenData, credentials.id)
      const reason = mismatch(credentials, macKey, check, rules)
      if (reason !== undefined) return reason
      // Last, so that a stranger without the key cannot use up a nonce of the client's.
      const isFirst = await check.useOnce(nonceKey(credentials), rememberedFor(rules))
      return isFirst ? undefined : 'mac_replayed'
    },
  }
}

function mismatch(
  credentials: MacCredentials,
  { key, algorithm, issuedAt }: MacKey,
  { request, now }: TokenCheck,
  { hosts, algorithms, tolerance }: MacRules,
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

// A request can be good for twice the tolerance; the third is for processes whose clocks differ.
const rememberedFor = ({ tolerance }: MacRules) => 3 * tolerance

function nonceKey({ id, ts = '', nonce }: MacCredentials): string {
  return `mac:${digest([id, ts, nonce].join('\n'))}`
}
