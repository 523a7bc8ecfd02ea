import type { Throttled } from './oauth-error'

/** For look-ups that may ask another server. */
export interface Sender {
  /** As Express reports it; undefined if the connection has closed. */
  readonly address: string | undefined
  /** Undefined until its network has used up its failures. */
  readonly networkRefusal: Throttled | undefined
}

/** Some proxies write a port into X-Forwarded-For. */
export function withoutPort(address: string): string {
  if (!address.includes(':') && !address.includes('[')) return address
  const [, bare = address] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(address)?.filter(Boolean) ?? []
  return bare
}
