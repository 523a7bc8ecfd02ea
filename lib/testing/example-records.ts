import type { Active, Approved, Authorization, Denied, Pending } from '../authorization/authorization'
import { createId, digest, secureRandom } from '../protocol/credential'
import type { AuthorizationStore, StoredAuthorization } from '../stores/authorization-store'

/** A new id or a new revision, as the callers of a store make both: 22 characters of base64url. */
export function random22(): string {
  return createId(secureRandom)
}

/** The text with its letters in the other case. */
export function swapCase(text: string): string {
  return text.replaceAll(/[A-Za-z]/g, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
}

export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds
}

const redirectUri = 'https://calendar.example.com/callback?x=1'
const issuerDigest = 'Zk3-_qVb09XxYyAa'
const granted = {
  issuerDigest,
  clientId: 's6BhdRkqt3',
  subject: 'u-8842',
  scope: ['calendar.read', 'calendar.write'],
  tokenType: 'mac',
  extensionData: { pkce: { challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' } },
}

const handle = digest('handle')
const request = { responseType: 'code', redirectUri, redirectUriSent: true, requestState: 'af0ifjsldkj' }

export function pendingRecord(expiresAt: number, changed: Partial<Pending> = {}): Pending {
  return { ...granted, state: 'pending', id: random22(), request, handle, expiresAt, ...changed }
}

export function deniedRecord(expiresAt: number, changed: Partial<Denied> = {}): Denied {
  return { ...granted, state: 'denied', id: random22(), request, handle, expiresAt, ...changed }
}

export function approvedRecord(expiresAt: number, changed: Partial<Approved> = {}): Approved {
  const repetition = { salt: random22(), responseType: 'code', requestState: 'af0ifjsldkj' }
  const lasting = { redirectUri, redirectUriSent: false, failures: 2, expiresAt, repetition }
  const code = { digest: digest('code'), ...lasting }
  return { ...granted, state: 'approved', id: random22(), handle, code, accessTokens: [], ...changed }
}

/** A client that acts for itself: no resource owner, no code, no refresh token. */
export function activeRecord(expiresAt: number, changed: Partial<Active> = {}): Active {
  return {
    ...granted,
    state: 'active',
    id: random22(),
    handle: undefined,
    subject: undefined,
    spentCode: undefined,
    accessTokens: [
      {
        digest: digest('access token'),
        scope: ['calendar.read'],
        expiresAt,
        tokenData: undefined,
        extensionData: {},
      },
    ],
    refreshToken: undefined,
    usedUntil: undefined,
    ...changed,
  }
}

/** Tokens that descend from a code and were refreshed: the refresh token outlives the access tokens by far. */
export function refreshed(expiresAt: number, changed: Partial<Active> = {}): Active {
  const tokenData = { sealedKey: 'c2VhbGVk', issuedAt: inSeconds(0) }
  const sealedProperties = 'c2VhbGVk'.repeat(60)
  return activeRecord(expiresAt, {
    handle,
    subject: 'u-8842',
    spentCode: digest('code'),
    accessTokens: [
      {
        digest: digest('older'),
        scope: ['calendar.read', 'calendar.write'],
        expiresAt: expiresAt - 598,
        tokenData,
        extensionData: { resources: ['https://api.example/calendar'] },
      },
      {
        digest: digest('newer'),
        scope: [],
        expiresAt: expiresAt - 597,
        tokenData: null,
        extensionData: { tenants: { name: 'north' } },
      },
    ],
    refreshToken: {
      digest: digest('refresh token'),
      generation: 7,
      tagKey: random22(),
      expiresAt,
      rotation: { at: inSeconds(0), salt: random22(), sealedProperties },
    },
    ...changed,
  })
}

/** One of every kind, with the moment at which its last credential dies. */
export const everyKind: readonly (readonly [kind: string, make: (expiresAt: number) => Authorization])[] = [
  ['pending', pendingRecord],
  ['denied', deniedRecord],
  ['approved', approvedRecord],
  ['active', activeRecord],
  ['active and refreshed', refreshed],
]

/** What a writer wants stored: the authorization, and the revision that it made for this write. */
export function version(authorization: Authorization): StoredAuthorization {
  return { authorization, revision: random22() }
}

/** One authorization as it moves on, under one id. */
export function threeVersions(): readonly [StoredAuthorization, StoredAuthorization, StoredAuthorization] {
  const id = random22()
  const expiresAt = inSeconds(600)
  return [
    version(pendingRecord(expiresAt, { id })),
    version(approvedRecord(expiresAt, { id })),
    version(activeRecord(expiresAt, { id })),
  ]
}

/** Saves a version in the place of the one that its writer had found; of none, to create. */
export function saveRecord(
  store: AuthorizationStore,
  { authorization, revision }: StoredAuthorization,
  found?: StoredAuthorization,
): Promise<boolean> {
  return store.save(authorization, revision, found?.revision)
}

/** What the store has now where this version was, is or might be. */
export function findRecord(
  store: AuthorizationStore,
  { authorization }: StoredAuthorization,
): Promise<StoredAuthorization | undefined> {
  return store.find(authorization.id)
}
