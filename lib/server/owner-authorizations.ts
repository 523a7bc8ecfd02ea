import { type AuthorizationIndex, indexOwner } from '../authorization/authorization-index'
import { end } from '../authorization/commit'
import type { Active, Approved, Authorization } from '../authorization/authorization'
import { expiryOf } from '../authorization/authorization'
import { issuerDigest } from '../authorization/issuer'
import { ignoreTombstone } from '../authorization/one-time-use'
import type { ServerSettings } from '../config/settings'
import { choiceIn, choicesName } from '../extensions/choices'
import { approvedResources } from '../extensions/resource-indicators/resource-indicators'
import { ConfigurationError } from '../primitives/options-reader'
import { dataOf } from '../protocol/extension-data'
import type { Scope } from '../protocol/scope'
import type { ServerContext } from './context'
import { hostRevocation } from './host-revocation'

/** An authorization of a resource owner, for pages and jobs of the host. */
export interface ListedAuthorization {
  /** 22 characters of base64url. */
  readonly authorizationId: string
  readonly clientId: string
  readonly scope: Scope
  /** The answer of the owner to the question of the option `choices`, under its name; undefined if there was none. */
  readonly choice: Readonly<Record<string, string>> | undefined
  /** The URIs of the resources that it is for; empty without the option `resources`. */
  readonly resources: readonly string[]
  /** When the owner approved, in seconds since the epoch; undefined if the record does not say. */
  readonly grantedAt: number | undefined
  /** When the client last got tokens, as the beginning of that day (UTC), in seconds since the epoch. */
  readonly lastIssuedOn: number | undefined
  /** When it ends if the client does not use it any more, in seconds since the epoch. */
  readonly expiresAt: number
}

/** A part of a list. */
export interface AuthorizationList {
  readonly authorizations: readonly ListedAuthorization[]
  /** Where the next part begins; undefined at the end. */
  readonly next: string | undefined
  /**
   * Whether no live authorization is missing. False while an authorization from before the option `authorizations` was
   * on may live without having been refreshed.
   */
  readonly isComplete: boolean
}

/** What a revocation has ended. */
export interface Revoked {
  /** How many authorizations ended by this call. */
  readonly count: number
  /** Whether the server knew every authorization; see {@link AuthorizationList}. */
  readonly isComplete: boolean
}

/** The authorizations of resource owners. Each function throws `temporarily_unavailable` if the store fails. */
export interface OwnerAuthorizations {
  /**
   * Lists the live authorizations of an owner, in the order of their ids.
   *
   * @param part where the part begins, by `next` of the part before, and how many ids of the index it looks at, 1 to 1000.
   * Default: the first 100.
   */
  list(
    subject: string,
    part?: { readonly after?: string; readonly limit?: number },
  ): Promise<AuthorizationList>
  /** Ends what an owner has approved for one client. May be repeated. */
  revoke(subject: string, clientId: string): Promise<Revoked>
  /**
   * Ends all that an owner has approved, for a changed password or a deleted account. Approvals that are under way
   * fail. An authorization that the index does not have ends at its next refresh, so its last access tokens live on until
   * they expire. May be repeated. An approval within a second after it fails, too, and the client may ask again.
   */
  revokeAll(subject: string): Promise<Revoked>
}

const usualLimit = 100
const longestLimit = 1000
// Records that are read or removed at once.
const atOnce = 16

const switchedOff = async (): Promise<never> => {
  throw new ConfigurationError('oauth.authorizations cannot work:', [
    {
      path: 'authorizations',
      message: 'must be true or { path }, so that the server lists the authorizations of owners.',
    },
  ])
}

/** Without the option `authorizations`, each function rejects with a ConfigurationError. */
export function ownerAuthorizations(server: ServerContext): OwnerAuthorizations {
  const { settings, store, index, consentStore, now } = server
  if (!settings.authorizations || index === undefined)
    return { list: switchedOff, revoke: switchedOff, revokeAll: switchedOff }
  const own = issuerDigest(settings.issuer)
  const ownerOf = (subject: string) => indexOwner(own, subject)
  const revokeOne = hostRevocation({ ...server, consentStore: undefined })
  const isComplete = completenessOf(index, own, server)

  const liveAt = async (id: string, subject: string) =>
    liveIn((await store.find(id))?.authorization, subject, now())

  const endAll = async (ids: readonly string[], subject: string, clientId?: string): Promise<number> => {
    const ended = await inTurns(ids, async (id) => {
      const live = await liveAt(id, subject)
      const isMeant = live !== undefined && (clientId === undefined || live.clientId === clientId)
      if (isMeant) await revokeOne(id)
      // The record of an approval under way may not exist yet: the mark of a removal refuses it.
      else await end(store, id)
      return isMeant
    })
    return ended.filter(Boolean).length
  }

  return {
    async list(subject, { after = '', limit = usualLimit } = {}) {
      if (!Number.isSafeInteger(limit) || limit < 1 || limit > longestLimit)
        throw new RangeError(`The limit must be a whole number from 1 to ${longestLimit}.`)
      const entries = await index.list(ownerOf(subject))
      const ids = entries.map(({ authorizationId }) => authorizationId).toSorted()
      const rest = ids.filter((id) => id > after)
      const part = rest.slice(0, limit)
      const found = await inTurns(part, (id) => liveAt(id, subject))
      return {
        authorizations: found.flatMap((live) => (live === undefined ? [] : [listed(live, settings)])),
        next: rest.length > part.length ? part.at(-1) : undefined,
        isComplete: await isComplete(),
      }
    },

    async revoke(subject, clientId) {
      await consentStore?.forget(ownerOf(subject), clientId)
      const entries = await index.list(ownerOf(subject))
      const ids = entries.flatMap((entry) => (entry.clientId === clientId ? [entry.authorizationId] : []))
      return { count: await endAll(ids, subject, clientId), isComplete: await isComplete() }
    },

    async revokeAll(subject) {
      const owner = ownerOf(subject)
      const { refreshToken, accessToken } = settings.lifetimes
      await consentStore?.forget(owner, undefined)
      // The mark comes first: whatever is added after it is refused, and whatever was added before is in the list.
      await index.mark(owner, 2 * Math.max(refreshToken, accessToken))
      const entries = await index.list(owner)
      const ids = entries.map(({ authorizationId }) => authorizationId)
      return { count: await endAll(ids, subject), isComplete: await isComplete() }
    },
  }
}

/** The authorization of a record; undefined if it gives its client nothing, or belongs to another owner. */
export function liveIn(
  stored: Authorization | undefined,
  subject: string,
  now: number,
): Approved | Active | undefined {
  const found = ignoreTombstone(stored)
  return found?.subject === subject && isGranted(found) && expiryOf(found) > now ? found : undefined
}

const isGranted = (authorization: Authorization): authorization is Approved | Active =>
  authorization.state === 'approved' || authorization.state === 'active'

/** A live authorization as a list shows it. */
export function listed(
  live: Approved | Active,
  { resources }: Pick<ServerSettings, 'resources'>,
): ListedAuthorization {
  const { id: authorizationId, clientId, scope, grantedAt, extensionData } = live
  const rotatedAt = live.state === 'active' ? live.refreshToken?.rotation?.at : undefined
  const issuedAt = rotatedAt ?? grantedAt
  const day = 24 * 3600
  return {
    authorizationId,
    clientId,
    scope,
    choice: choiceIn(dataOf(choicesName, extensionData)),
    resources: resources === undefined ? [] : approvedResources(extensionData, resources),
    grantedAt,
    lastIssuedOn: issuedAt === undefined ? undefined : issuedAt - (issuedAt % day),
    expiresAt: expiryOf(live),
  }
}

/** Acts on every item, on a few at once. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let first = 0; first < items.length; first += atOnce)
    results.push(...(await Promise.all(items.slice(first, first + atOnce).map(act))))
  return results
}

// Names the time since which servers of this issuer write the index, in the index itself: no owner has an empty subject.
const since = 'since'.padEnd(22, '-')
const tenYears = 10 * 365 * 24 * 3600

/** Whether every live authorization is in the index: nothing from before can live without having been refreshed. */
export function completenessOf(
  index: AuthorizationIndex,
  own: string,
  { settings: { lifetimes }, now }: ServerContext,
): () => Promise<boolean> {
  const owner = indexOwner(own, '')
  let known: number | undefined
  const beginning = async () => {
    const [entry] = await index.list(owner)
    if (entry !== undefined) return Number(entry.clientId)
    const begun = now()
    await index.add(owner, { authorizationId: since, clientId: String(begun) }, { seconds: tenYears, age: 0 })
    return begun
  }
  const { refreshToken, accessToken, authorizationCode } = lifetimes
  const longest = Math.max(refreshToken, accessToken) + authorizationCode
  return async () => {
    known ??= await beginning()
    return now() - known > longest
  }
}
