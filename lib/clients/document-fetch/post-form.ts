import { Lines, Semaphore } from '../../primitives/concurrency'
import { steadyClock } from '../../primitives/clock'
import { type DocumentFetchOptions, hostLimits, isAtLoopback, within } from './document-fetch'
import { DocumentUnavailable } from './document-unavailable'
import { requestFailure, responseTo } from './request-document'
import { lookupInDns, parseTarget, type Target, TargetAddresses } from './target-address'

// Resolves to the status. `form` runs when its turn has come: many may wait. Anybody may name a URL that is not
// `ofHost`: sends to its host are limited.
type PostForm = (url: string, form: () => Promise<string>, ofHost: boolean) => Promise<number>

// Milliseconds.
const timeout = 5000
const maximumSize = 1024
const atOnce = 16
const atOnceToHost = 4
const longestLine = 10_000
const busy = () => new DocumentUnavailable('busy')

// Only a server at loopback sends to loopback, also over http.
export function postForm(options: DocumentFetchOptions & { readonly insideNetwork?: boolean }): PostForm {
  const { issuer, clock = Date.now, lookup = lookupInDns(), ca } = options
  const hosts = hostLimits(steadyClock(clock))
  // A host that never answers must not keep others waiting.
  const linesToHosts = new Lines(atOnceToHost, longestLine, busy)
  const loopback = isAtLoopback(issuer)
  const wayOf = (reachesInside?: boolean) => ({
    line: new Semaphore(atOnce, longestLine, busy),
    addresses: new TargetAddresses(lookup, loopback, reachesInside),
  })
  const [toHosts, toOthers] = [wayOf(options.insideNetwork), wayOf()]

  const send = async (target: Target, form: string, ofHost: boolean, signal: AbortSignal) => {
    const way = ofHost ? toHosts : toOthers
    const addresses = await way.addresses.find(target.hostname, signal, target.isPlain)
    if (!ofHost) hosts.countConnection(addresses)
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': Buffer.byteLength(form),
    }
    const response = await responseTo({ target, addresses, maximumSize, ca, signal }, headers, form)
    response.destroy()
    return response.statusCode ?? 0
  }

  return async (url, form, ofHost) => {
    const target = isAtLoopback(url) && loopback ? parseTarget(url, 'http too') : parseTarget(url)
    if (!ofHost) hosts.countFetch(target.hostname, [])
    const { line } = ofHost ? toHosts : toOthers
    const sendInTime = async () => {
      const text = await form()
      return within(timeout, (signal) => send(target, text, ofHost, signal))
    }
    try {
      return await linesToHosts.take(target.host, () => line.take('in line', sendInTime))
    } catch (error) {
      throw requestFailure(error)
    }
  }
}

export const mayPass = (error: unknown): boolean =>
  error instanceof DocumentUnavailable && error.reason !== 'url' && error.reason !== 'address_forbidden'
