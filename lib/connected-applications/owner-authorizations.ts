import {
  type Authorization,
  expiryOf,
  type Granted,
  isGranted,
  ignoreTombstone,
  isUsedOnce,
} from '../authorization/authorization'
import { end, endFound } from '../authorization/commit'
import { lastIssueOf } from '../authorization/owner-entries'
import type { ListedConsent } from '../authorization/remembered-consent'
import { confirmAbsence, type StoredAuthorization } from '../authorization/store'
import { choiceIn, choicesName } from '../extensions/choices'
import { approvedResources } from '../extensions/resource-indicators/resource-indicators'
import type { Resources } from '../extensions/resource-indicators/resources'
import { inTurns } from '../primitives/concurrency'
import { ConfigurationError } from '../primitives/configuration-error'
import { isText } from '../primitives/values'
import { dataOf } from '../protocol/extension-data'
import type { Scope } from '../protocol/scope'
import type { ListingContext } from './authorizations-options'

export interface ListedAuthorization {
  /** 22 characters of base64url. */
  readonly authorizationId: string
  readonly clientId: string
  readonly scope: Scope
  /** The answer to the question of the option `choices`, under its name. */
  readonly choice: Readonly<Record<string, string>> | undefined
  /** Empty without the option `resources`. */
  readonly resources: readonly string[]
  /** Seconds since the epoch. */
  readonly grantedAt: number
  /** The beginning of the day (UTC) when the client last got tokens, in seconds since the epoch. */
  readonly lastIssuedOn: number
  /** The end if its client stops using it, in seconds since the epoch. */
  readonly expiresAt: number
}

export interface AuthorizationList {
  readonly authorizations: readonly ListedAuthorization[]
  /**
   * The clients that the owner need not allow again, by the option `rememberConsent`; `revoke` forgets this,
   * too. All in the first part.
   */
  readonly consents: readonly ListedConsent[]
  /** Where the next part begins; undefined at the end. */
  readonly next: string | undefined
  /**
   * Whether no live authorization is missing. False while one from before the option `authorizations` was on
   * may live without a refresh since.
   */
  readonly isComplete: boolean
}

export interface Revoked {
  /** How many authorizations this call ended. */
  readonly count: number
  /** As in {@link AuthorizationList}. */
  readonly isComplete: boolean
}

/** Each function throws `temporarily_unavailable` if the store fails. */
export interface OwnerAuthorizations {
  /**
   * The live authorizations of an owner, in the order of their ids, and what the server remembers.
   *
   * @param part begins at `next` of the part before, and looks at `limit` ids, 1 to 1000. Default: the first
   * 100.
   */
  list(
    subject: string,
    part?: { readonly after?: string; readonly limit?: number },
  ): Promise<AuthorizationList>
  /** Ends what an owner has approved for one client. May be repeated. */
  revoke(subject: string, clientId: string): Promise<Revoked>
  /**
   * Ends all that an owner has approved, for a changed password or a deleted account. Approvals under way
   * fail; one in the first seconds after it may fail, too. An authorization that the list lacks ends at its
   * next refresh; its last access tokens live until then, or expire. May be repeated.
   */
  revokeAll(subject: string): Promise<Revoked>
  /**
   * Ends what a client has got so far, from every owner and for itself: codes, tokens and open requests.
   * Endpoints and guards of this process refuse them once the promise resolves; guards on the store in other
   * processes within a second, with their option `authorizations`; other guards within their own bounds. The
   * client may ask again: what it gets within 5 seconds after the call ends, too, because clocks differ. May
   * be repeated. Emits no event. Of an unknown client, nothing ends.
   */
  revokeClient(clientId: string): Promise<void>
}

const usualLimit = 100
const longestLimit = 1000

const switchedOff = async (): Promise<never> => {
  throw new ConfigurationError('oauth.authorizations cannot work:', [
    {
      path: 'authorizations',
      message: 'must be true or { path }, so that the server lists the authorizations of owners.',
    },
  ])
}

export function ownerAuthorizations(server: ListingContext): OwnerAuthorizations {
  const { settings, store, now } = server
  const { owners, indexedSince, consents } = store
  const revokeClient = clientRevocation(server)
  if (indexedSince === undefined || revokeClient === undefined)
    return { list: switchedOff, revoke: switchedOff, revokeAll: switchedOff, revokeClient: switchedOff }
  const { isComplete } = indexedSince

  const endAll = async (ids: readonly string[], subject: string, clientId?: string): Promise<number> => {
    const ended = await inTurns(ids, async (id) => {
      const read = await store.find(id)
      const live = liveIn(read?.authorization, subject, now())
      const isMeant = live !== undefined && (clientId === undefined || live.clientId === clientId)
      if (isMeant) await revokeFound(server, id, read)
      // The mark of a removal refuses an approval under way. A one-time use stays: else the assertion would
      // be good again.
      else if (!isUsedOnce(read?.authorization)) await end(store, id)
      return isMeant
    })
    await owners.drop(subject, ids)
    return ended.filter(Boolean).length
  }

  return {
    async list(subject, { after = '', limit = usualLimit } = {}) {
      requireNames('list', { subject })
      if (!Number.isSafeInteger(limit) || limit < 1 || limit > longestLimit)
        throw new RangeError(`The limit must be a whole number from 1 to ${longestLimit}.`)
      const { entries, consents: owned } = await owners.read(subject)
      const ids = entries.map(({ authorizationId }) => authorizationId).toSorted()
      const rest = ids.filter((id) => id > after)
      const part = rest.slice(0, limit)
      return {
        authorizations: await listedOf(server, part, subject),
        consents: after === '' ? ((await consents?.list(owned)) ?? []) : [],
        next: rest.length > part.length ? part.at(-1) : undefined,
        isComplete: await isComplete(),
      }
    },

    async revoke(subject, clientId) {
      requireNames('revoke', { subject, client_id: clientId })
      const entries = await owners.forget(subject, clientId)
      const ids = entries.flatMap((entry) => (entry.clientId === clientId ? [entry.authorizationId] : []))
      return { count: await endAll(ids, subject, clientId), isComplete: await isComplete() }
    },

    async revokeAll(subject) {
      requireNames('revokeAll', { subject })
      const { refreshToken, accessToken } = settings.lifetimes
      const entries = await owners.revoke(subject, 2 * Math.max(refreshToken, accessToken))
      const ids = entries.map(({ authorizationId }) => authorizationId)
      return { count: await endAll(ids, subject), isComplete: await isComplete() }
    },

    async revokeClient(clientId) {
      requireNames('revokeClient', { client_id: clientId })
      await revokeClient(clientId)
    },
  }
}

// A call that names nobody would look as if it had ended something.
function requireNames(verb: keyof OwnerAuthorizations, names: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(names))
    if (!isText(value))
      throw new TypeError(`authorizations.${verb}() needs the ${name}, a text that is not empty.`)
}

// An entry may outlive its record.
export async function listedOf(
  { store, now, settings: { resources } }: ListingContext,
  authorizationIds: readonly string[],
  subject: string,
): Promise<readonly ListedAuthorization[]> {
  const found = await inTurns(authorizationIds, (id) => store.find(id))
  return found.flatMap((read) => {
    const live = liveIn(read?.authorization, subject, now())
    return live === undefined ? [] : [listed(live, resources)]
  })
}

function liveIn(stored: Authorization | undefined, subject: string, now: number): Granted | undefined {
  const found = ignoreTombstone(stored)
  return found?.subject === subject && isGranted(found) && expiryOf(found) > now ? found : undefined
}

function listed(live: Granted, resources: Resources | undefined): ListedAuthorization {
  const { id: authorizationId, clientId, scope, grantedAt, extensionData } = live
  const issuedAt = lastIssueOf(live)
  const day = 24 * 3600
  return {
    authorizationId,
    clientId,
    scope,
    choice: choiceIn(dataOf(choicesName, extensionData)),
    resources: resources === undefined ? [] : approvedResources(extensionData, resources),
    grantedAt,
    lastIssuedOn: issuedAt - (issuedAt % day),
    expiresAt: expiryOf(live),
  }
}

// Forgets the consent first: once the record is gone, nothing names the owner.
export function hostRevocation(server: ListingContext): (authorizationId: string) => Promise<void> {
  const { store } = server
  const { consents, owners, listsOwners } = store
  return async (authorizationId) => {
    // The event needs the record, and a one-time use must stay used. Unreadable records go too, unless the
    // server remembers consents: the client could come back without a page.
    const read = await store.find(authorizationId).catch((error: unknown) => {
      if (consents !== undefined) throw error
      return 'unreadable' as const
    })
    // A record of another issuer may have this id: never remove it.
    if (read === undefined && (await confirmAbsence(store, authorizationId))) return
    const { subject, clientId } = (read === 'unreadable' ? undefined : read?.authorization) ?? {}
    if (subject !== undefined && clientId !== undefined) await owners.forget(subject, clientId)
    await revokeFound(server, authorizationId, read)
    if (subject !== undefined && listsOwners) await owners.drop(subject, [authorizationId])
  }
}

async function revokeFound(
  { store, audit, random }: ListingContext,
  authorizationId: string,
  read: StoredAuthorization | 'unreadable' | undefined,
): Promise<void> {
  const stored = read === 'unreadable' ? undefined : read?.authorization
  await endFound(store, authorizationId, stored, random)
  const found = ignoreTombstone(stored)
  if (found !== undefined || read === 'unreadable') audit.reportHostRevocation(authorizationId, found)
}

// Undefined if no client has a mark.
export function clientRevocation(server: ListingContext): MarkClient | undefined {
  const { lifetimes, rememberConsent } = server.settings
  const { refreshToken, accessToken, authorizationCode, authorizationRequest } = lifetimes
  // Twice: tokens from before a change of the lifetimes may live longer.
  const longest = Math.max(refreshToken, accessToken) + authorizationCode + authorizationRequest
  return markFor(server, Math.max(2 * longest, rememberConsent?.seconds ?? 0))
}

// RFC 7592 2.3: without its client, no endpoint takes a code. Anybody may register and remove clients: longer
// marks could fill the store.
export const removedClientRevocation = (server: ListingContext): MarkClient | undefined =>
  markFor(server, server.settings.lifetimes.accessToken)

type MarkClient = (clientId: string) => Promise<void>

const markFor = ({ store: { clientMarks } }: ListingContext, seconds: number): MarkClient | undefined =>
  clientMarks && ((clientId) => clientMarks.revoke(clientId, seconds))
