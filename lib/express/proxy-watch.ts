import type { Request } from 'express'
import { warnOnce } from '../warning'

/** Warns, once, of a setting by which all networks look like one, or each can choose which it looks like. */
export function proxyWatch(): (request: Request) => void {
  let looked = false
  return (request) => {
    const forwarded = request.headers['x-forwarded-for'] !== undefined
    if (looked && !forwarded) return
    looked = true
    warnOfProxy(request.app.get('trust proxy'), forwarded)
  }
}

function warnOfProxy(trust: unknown, forwarded: boolean): void {
  if (trust === true)
    warnOnce(
      'EAS_TRUST_PROXY',
      'Express is set to trust every proxy, so whoever sends X-Forwarded-For chooses the network that counts against the limits. Set trust proxy to the number or the addresses of your proxies.',
    )
  else if (trust === false && forwarded)
    warnOnce(
      'EAS_TRUST_PROXY',
      'A request has the header X-Forwarded-For, but Express trusts no proxy: all that come through one count as one network. Set trust proxy to the number or the addresses of your proxies.',
    )
}
