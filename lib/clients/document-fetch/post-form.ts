import { isLoopback, plainUrl } from '../../protocol/uri'
import { steadyClock } from '../../primitives/steady-clock'
import { type DocumentFetchOptions, within } from './document-fetch'
import { DocumentUnavailable } from './document-unavailable'
import { ConcurrencyLimits, HostLimits, type UrlTrust } from './fetch-limits'
import { requestFailure, responseTo } from './guarded-request'
import { lookupInDns, parseTarget, type Target, TargetAddresses } from './target-address'

/**
 * Sends a form to a URL that a client has registered, by `POST`. Resolves to the status of the response, whose body counts
 * for nothing. No redirect is followed.
 *
 * @param trust `named` for a URL that the host has registered. Default `unknown`: anybody may have named it, so the sends
 * to its host are bounded.
 * @throws DocumentUnavailable if no response comes.
 */
export type PostForm = (url: string, form: string, trust?: UrlTrust) => Promise<number>

// Bytes of a response that are read before the connection ends.
const maximumSize = 1024

/**
 * Makes a {@link PostForm} with the guard of {@link documentFetch}: public addresses only, over https, at most so many at
 * once, and each within 5 seconds. Only a server at loopback sends to loopback, also over http.
 */
export function postForm(options: DocumentFetchOptions): PostForm {
  const { loopback, timeout = 5000, clock = Date.now, lookup = lookupInDns(), ca } = options
  const hosts = new HostLimits(steadyClock(clock))
  const concurrency = new ConcurrencyLimits()
  const targetAddresses = new TargetAddresses(lookup, loopback)

  const send = async (target: Target, form: string, trust: UrlTrust, signal: AbortSignal) => {
    const addresses = await targetAddresses.find(target.hostname, trust, signal, target.isPlain)
    if (trust === 'unknown') hosts.countConnection(trust, addresses)
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': Buffer.byteLength(form),
    }
    const response = await responseTo({ target, addresses, maximumSize, ca, signal }, headers, form)
    response.destroy()
    return response.statusCode ?? 0
  }

  return async (url, form, trust = 'unknown') => {
    const target = isAtLoopback(url) && loopback ? parseTarget(url, 'http too') : parseTarget(url)
    if (trust === 'unknown') hosts.countFetch({ url, hostname: target.hostname, trust, senders: [] })
    try {
      return await concurrency.run(trust, () =>
        within(timeout, (signal) => send(target, form, trust, signal)),
      )
    } catch (error) {
      throw requestFailure(error)
    }
  }
}

const isAtLoopback = (url: string) => isLoopback(plainUrl(url)?.hostname ?? '')

/** Whether a failure to send may pass by itself. */
export const mayPass = (error: unknown): boolean =>
  error instanceof DocumentUnavailable && error.reason !== 'url' && error.reason !== 'address_forbidden'
