import { warnOnce } from '../audit/warning'
import { aTextThat } from '../primitives/fields'
import { type Field, kind, needed, optional, type Place } from '../primitives/schema'
import { hasUriCharacters, hasUserinfo, isLoopback, namesHost } from '../protocol/uri'
import { withDeadline } from '../store/deadline'
import { memoryStore } from '../store/memory-store'
import { isStore, type Store } from '../store/store'

const example = 'such as https://example.com or http://localhost:3000'

/** RFC 8414 2. `mount` has no slash at its end. */
export const anIssuer =
  (
    whose: string,
  ): Field<{ readonly issuer: string; readonly mount: string; readonly tlsRequired: boolean }> =>
  (given, at, name) => {
    const wrong = (message: string) => at.wrong(name, message)
    const text = needed('http://localhost', aTextThat(`must be the URL of ${whose}, ${example}.`))
    const issuer = text(given, at, name)
    // RFC 9207 2.4: clients compare exactly.
    if (!URL.canParse(issuer) || !hasUriCharacters(issuer) || !namesHost(issuer)) {
      wrong(`must be an absolute URL, ${example}.`)
      return { issuer, mount: '', tlsRequired: true }
    }
    const url = new URL(issuer)
    // RFC 6749 3.1 and 3.2.
    const plain = url.protocol === 'http:' && isLoopback(url.hostname)
    if (url.protocol !== 'https:' && !plain) wrong('must use https unless its host is loopback.')
    if (issuer.includes('?') || issuer.includes('#')) wrong('must not have a query or a fragment.')
    // The host mounts the router at this path; clients request what a URL parser makes of it.
    if (!/[?#]/.test(issuer) && pathIn(issuer) !== url.pathname)
      wrong("must have its path as a URL parser writes it, without '.' and '..' segments.")
    if (hasUserinfo(url)) wrong('must not hold a user name or password.')
    return { issuer, mount: url.pathname.replace(/\/+$/, ''), tlsRequired: !plain }
  }

const pathIn = (issuer: string) => issuer.slice(issuer.indexOf('//') + 2).replace(/^[^/]*/, '') || '/'

/** @param inUse only then, unshared counters cause a warning in production. */
export function resolveCounters(
  at: Place,
  store: Store | undefined,
  storeDeadline: number,
  clock: () => number,
  inUse = true,
): Store {
  const given = at.field('counters', optional(kind(isStore, 'must be a store, such as redisStore({ url }).')))
  if (given !== undefined) return withDeadline(given, storeDeadline)
  if (store !== undefined) return store
  if (inUse && process.env['NODE_ENV'] === 'production')
    warnOnce(
      'EAS_COUNTERS_IN_MEMORY',
      'The guard has no store, so each process counts failed attempts and single uses separately. Pass the option counters, such as redisStore({ url }).',
    )
  return memoryStore({ clock, allowInProduction: true })
}
