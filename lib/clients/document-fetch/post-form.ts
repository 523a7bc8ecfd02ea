import { Semaphore } from '../../primitives/concurrency'
import { isLoopback, plainUrl } from '../../protocol/uri'
import { steadyClock } from '../../primitives/clock'
import { type DocumentFetchOptions, within } from './document-fetch'
import { DocumentUnavailable } from './document-unavailable'
import { hostLimits } from './fetch-limits'
import { requestFailure, responseTo } from './request-document'
import { lookupInDns, parseTarget, type Target, TargetAddresses } from './target-address'

/**
 * Resolves to the status; ignores the body. Follows no redirect.
 *
 * @param form runs only when its turn has come: many forms may wait.
 * @param ofHost whether the host has registered the URL. Else anybody may have named it, so the sends to its host are
 * limited.
 * @throws DocumentUnavailable without a response.
 */
type PostForm = (url: string, form: () => Promise<string>, ofHost: boolean) => Promise<number>

// Milliseconds.
const timeout = 5000
const maximumSize = 1024
const atOnce = 16
const atOnceToHost = 4
const longestLine = 10_000
const newLine = (most: number) => new Semaphore(most, longestLine, () => new DocumentUnavailable('busy'))

interface PostFormOptions extends DocumentFetchOptions {
  /** Whether forms to URLs of the host may go to addresses inside the network. Default false. */
  readonly insideNetwork?: boolean
}

/** Guarded like {@link documentFetch}. Only a server at loopback sends to loopback, also over http. */
export function postForm(options: PostFormOptions): PostForm {
  const { loopback, clock = Date.now, lookup = lookupInDns(), ca } = options
  const hosts = hostLimits(steadyClock(clock))
  const linesToHosts = new HostLines()
  const wayOf = (reachesInside?: boolean) => ({
    line: newLine(atOnce),
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
      return await linesToHosts.run(target.host, () => line.take('in line', sendInTime))
    } catch (error) {
      throw requestFailure(error)
    }
  }
}

/** A host that never answers must not keep others waiting. */
class HostLines {
  private readonly lines = new Map<string, { readonly line: Semaphore; users: number }>()

  async run<Outcome>(host: string, act: () => Promise<Outcome>): Promise<Outcome> {
    const known = this.lines.get(host) ?? { line: newLine(atOnceToHost), users: 0 }
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

export const mayPass = (error: unknown): boolean =>
  error instanceof DocumentUnavailable && error.reason !== 'url' && error.reason !== 'address_forbidden'
