import type { ResourceRequest } from '../../protocol/token-type'
import type { Authority } from './authority'
import type { MacCredentials } from './credentials'

/**
 * The text that the MAC is of: lines that each end with `\n`, the last one too. With `ts` it is that of
 * draft-ietf-oauth-v2-http-mac-01 3.2.1:
 *
 *     ts, nonce, method, request target, host, port, ext
 *
 * and with an age in the nonce that of draft-ietf-oauth-v2-http-mac-00 3.3.1:
 *
 *     nonce, method, request target, host, port, body hash (always empty here), ext
 *
 * The first line has a colon in the second form only, so no text is of both.
 */
export function normalizedRequest(
  { ts, nonce, ext }: Pick<MacCredentials, 'ts' | 'nonce' | 'ext'>,
  { method, target }: Pick<ResourceRequest, 'method' | 'target'>,
  { host, port }: Authority,
): string {
  const request = [method, target, host, port]
  const lines = ts === undefined ? [nonce, ...request, '', ext] : [ts, nonce, ...request, ext]
  return lines.map((line) => `${line}\n`).join('')
}
