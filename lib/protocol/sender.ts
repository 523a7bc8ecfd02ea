import type { Throttled } from './oauth-error'

/** Of a request, for look-ups that may ask another server. */
export interface Sender {
  /** As Express reports it; undefined if the connection has closed. */
  readonly address: string | undefined
  /** For a network that has used up its failures; undefined before that. */
  readonly networkRefusal: Throttled | undefined
}

/** Some proxies write a port into X-Forwarded-For. */
export function withoutPort(address: string): string {
  if (!address.includes(':') && !address.includes('[')) return address
  const [, bare = address] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(address)?.filter(Boolean) ?? []
  return bare
}
