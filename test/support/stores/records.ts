import { storedTokenOf } from '../../../lib/authorization/access-token'
import type { Active, Approved, Authorization, Requested } from '../../../lib/authorization/authorization'
import { createId, digest, secureRandom } from '../../../lib/protocol/credential'
import type { Store, StoredValue } from '../../../lib/index'
import type { AuthorizationStore, StoredAuthorization } from '../../../lib/authorization/store'
import type { TimelyStore } from '../../../lib/store/deadline'
import { authorizationsIn, countersIn, documentsIn } from '../../../lib/stores/records'

/** An id or a revision, as the callers of a store make them. */
export const random22 = (): string => createId(secureRandom)

export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

const redirectUri = 'https://calendar.example.com/callback?x=1'
const grant = {
  issuerDigest: 'Zk3-_qVb09XxYyAa',
  clientId: 's6BhdRkqt3',
  subject: 'u-8842',
  scope: ['calendar.read', 'calendar.write'],
  tokenType: 'bearer',
  extensionData: {},
}
const grantedAt = 1_800_000_000
const consentToken = digest('consent token')
const request = { responseType: 'code', redirectUri, redirectUriSent: true, requestState: 'af0ifjsldkj' }

export function pendingRecord(expiresAt: number, changed: Partial<Requested> = {}): Requested {
  const undecided = { handle: undefined, decision: undefined, grantedAt: undefined, demandedLogin: undefined }
  const asked = { request, consentToken, expiresAt }
  return { ...grant, ...undecided, ...asked, state: 'requested', id: random22(), ...changed }
}

export function approvedRecord(expiresAt: number, changed: Partial<Approved> = {}): Approved {
  const code = { digest: digest('code'), failures: 2, expiresAt, salt: undefined }
  return {
    ...grant,
    state: 'approved',
    id: random22(),
    consentToken,
    request,
    code,
    grantedAt,
    accessTokens: [],
    ...changed,
  }
}

/** An authorization of a client that acts for itself. */
export function activeRecord(expiresAt: number, changed: Partial<Active> = {}): Active {
  const nothing = { tokenData: undefined, extensionData: {} }
  const token = { digest: digest('access token'), scope: ['calendar.read'], expiresAt, ...nothing }
  return {
    ...grant,
    state: 'active',
    id: random22(),
    consentToken: undefined,
    subject: undefined,
    spentCode: undefined,
    accessTokens: [storedTokenOf(token, grant)],
    refreshToken: undefined,
    lastResponse: undefined,
    usedUntil: undefined,
    grantedAt,
    ...changed,
  }
}

/** An authorization to store, with a new revision for this write. */
export const version = (authorization: Authorization): StoredAuthorization => ({
  authorization,
  revision: random22(),
})

/** Three states of one authorization, in order. */
export function threeVersions(): readonly [StoredAuthorization, StoredAuthorization, StoredAuthorization] {
  const id = random22()
  const end = inSeconds(600)
  return [
    version(pendingRecord(end, { id })),
    version(approvedRecord(end, { id })),
    version(activeRecord(end, { id })),
  ]
}

/** The authorizations of a store, without a deadline; of one issuer, or of all. */
export function authorizationsOf(
  store: Store,
  clock: () => number = Date.now,
  issuerDigest?: string,
): AuthorizationStore {
  const timely: TimelyStore = Object.create(store)
  return authorizationsIn(
    Object.assign(timely, {
      readAs: async <Made>(key: string, make: (found: StoredValue | undefined) => Made) =>
        make(await store.read(key)),
    }),
    clock,
    issuerDigest,
  )
}

export { countersIn as countersOf, documentsIn as documentsOf }

/** Saves a version in place of the version that its writer found. Without one, creates the record. */
export const saveRecord = (
  store: Store,
  { authorization, revision }: StoredAuthorization,
  found?: StoredAuthorization,
): Promise<boolean> => authorizationsOf(store).save(authorization, revision, found?.revision)

export const findRecord = (
  store: Store,
  { authorization }: StoredAuthorization,
): Promise<StoredAuthorization | undefined> => findById(store, authorization.id)

export const findById = (store: Store, id: string): Promise<StoredAuthorization | undefined> =>
  authorizationsOf(store).find(id)

export const removeById = (store: Store, id: string): Promise<void> => authorizationsOf(store).remove(id)

/** How a promise ends: its value, or its error as text. */
export const endOf = (act: Promise<unknown>): Promise<unknown> => act.catch(String)
