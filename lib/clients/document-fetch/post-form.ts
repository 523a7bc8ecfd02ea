import { Semaphore } from '../../primitives/semaphore'
import { isLoopback, plainUrl } from '../../protocol/uri'
import { steadyClock } from '../../primitives/steady-clock'
import { type DocumentFetchOptions, within } from './document-fetch'
import { DocumentUnavailable } from './document-unavailable'
import { forEachTrust, HostLimits, type UrlTrust } from './fetch-limits'
import { requestFailure, responseTo } from './guarded-request'
import { lookupInDns, parseTarget, type Target, TargetAddresses } from './target-address'

/**
 * Sends a form to a URL that a client has registered, by `POST`. Resolves to the status of the response, whose body counts
 * for nothing. No redirect is followed.
 *
 * @param form a function makes it when its turn has come: many forms may wait in line.
 * @param trust `named` for a URL that the host has registered. Default `unknown`: anybody may have named it, so the sends
 * to its host are bounded.
 * @throws DocumentUnavailable if no response comes.
 */
export type PostForm = (
  url: string,
  form: string | (() => Promise<string>),
  trust?: UrlTrust,
) => Promise<number>

// Milliseconds.
const timeout = 5000
// Bytes of a response that are read before the connection ends.
const maximumSize = 1024
const atOnce = 16
const atOnceToHost = 4
const longestLine = 10_000
const busy = () => new DocumentUnavailable('busy')

/**
 * Makes a {@link PostForm} with the guard of {@link documentFetch}: public addresses only, over https, at most 16 at once
 * and 4 to one host, and each within 5 seconds. Only a server at loopback sends to loopback, also over http.
 */
export function postForm(options: DocumentFetchOptions): PostForm {
  const { loopback, clock = Date.now, lookup = lookupInDns(), ca } = options
  const hosts = new HostLimits(steadyClock(clock))
  const lines = forEachTrust(() => new Semaphore(atOnce, longestLine, busy))
  const linesToHosts = new HostLines()
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
    const sendInTime = async () => {
      const text = typeof form === 'string' ? form : await form()
      return within(timeout, (signal) => send(target, text, trust, signal))
    }
    try {
      return await linesToHosts.run(target.host, () => lines[trust].take('in line', sendInTime))
    } catch (error) {
      throw requestFailure(error)
    }
  }
}

/** Lets few sends to one host run at once, so that a host that never answers keeps no others waiting. */
class HostLines {
  private readonly lines = new Map<string, { readonly line: Semaphore; users: number }>()

  async run<Outcome>(host: string, act: () => Promise<Outcome>): Promise<Outcome> {
    const known = this.lines.get(host) ?? { line: new Semaphore(atOnceToHost, longestLine, busy), users: 0 }
    this.lines.set(host, known)
    known.users += 1
    try {
      return await known.line.take('in line', act)
    } finally {
      known.users -= 1
      if (known.users === 0) this.lines.delete(host)
    }
  }
}

const isAtLoopback = (url: string) => isLoopback(plainUrl(url)?.hostname ?? '')

/** Whether a failure to send may pass by itself. */
export const mayPass = (error: unknown): boolean =>
  error instanceof DocumentUnavailable && error.reason !== 'url' && error.reason !== 'address_forbidden'
