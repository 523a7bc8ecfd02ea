import type { Throttled } from './oauth-error'

/** The sender of a request, which every way to a fetch needs: for look-ups that may ask another server. */
export interface Sender {
  /** The address of the request, as Express reports it; undefined if the connection has closed. */
  readonly address: () => string | undefined
  /** The refusal for a network that has used up its failures; undefined before that. */
  readonly networkRefusal: Throttled | undefined
}

/** An address without the port, which some proxies write into X-Forwarded-For. */
export function withoutPort(address: string): string {
  const [, bare = address] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(address)?.filter(Boolean) ?? []
  return bare
}
