import { storedTokenOf } from '../authorization/access-token'
import type {
  Active,
  Approved,
  Authorization,
  Denied,
  Pending,
  Polled,
  Unclaimed,
} from '../authorization/authorization'
import { createId, digest, secureRandom } from '../protocol/credential'
import type { AuthorizationStore, StoredAuthorization } from '../authorization/store'

export const random22 = (): string => createId(secureRandom)

export const swapCase = (text: string): string =>
  text.replaceAll(/[A-Za-z]/g, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )

export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

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

const grantedAt = 1_800_000_000
const consentToken = digest('consent token')
const request = { responseType: 'code', redirectUri, redirectUriSent: true, requestState: 'af0ifjsldkj' }

function unclaimedRecord(expiresAt: number): Unclaimed {
  return {
    ...granted,
    subject: undefined,
    state: 'unclaimed',
    id: random22(),
    request,
    handle: consentToken,
    expiresAt,
    demandedLogin: { at: expiresAt - 600, parameters: digest('parameters') },
    pushed: 'response_type=code&scope=calendar.read',
    lifetimeUntilSeen: 60,
  }
}

/** A pushed request whose resource owner looks at its page. */
function claimedRecord(expiresAt: number): Pending {
  const pushed = 'response_type=code&scope=calendar.read'
  const named = { handle: digest('handle'), demandedLogin: undefined, pushed, salt: random22() }
  return pendingRecord(expiresAt, { named })
}

export function pendingRecord(expiresAt: number, changed: Partial<Pending> = {}): Pending {
  return { ...granted, state: 'pending', id: random22(), request, consentToken, expiresAt, ...changed }
}

export function deniedRecord(expiresAt: number, changed: Partial<Denied> = {}): Denied {
  return { ...granted, state: 'denied', id: random22(), request, consentToken, expiresAt, ...changed }
}

export function approvedRecord(expiresAt: number, changed: Partial<Approved> = {}): Approved {
  const repetition = { salt: random22(), responseType: 'code', requestState: 'af0ifjsldkj' }
  const lasting = { redirectUri, redirectUriSent: false, failures: 2, expiresAt, repetition }
  const code = { digest: digest('code'), ...lasting }
  return {
    ...granted,
    state: 'approved',
    id: random22(),
    consentToken,
    code,
    grantedAt,
    accessTokens: [],
    ...changed,
  }
}

/** A client that acts for itself: no resource owner, code or refresh token. */
export function activeRecord(expiresAt: number, changed: Partial<Active> = {}): Active {
  const nothing = { tokenData: undefined, extensionData: {} }
  const token = { digest: digest('access token'), scope: ['calendar.read'], expiresAt, ...nothing }
  return {
    ...granted,
    state: 'active',
    id: random22(),
    consentToken: undefined,
    subject: undefined,
    spentCode: undefined,
    accessTokens: [storedTokenOf(token, granted)],
    refreshToken: undefined,
    usedUntil: undefined,
    grantedAt,
    ...changed,
  }
}

/** Refreshed tokens of a code. The refresh token outlives the access tokens. */
function refreshed(expiresAt: number, changed: Partial<Active> = {}): Active {
  const tokenData = { sealedKey: 'c2VhbGVk', issuedAt: inSeconds(0) }
  const sealedProperties = 'c2VhbGVk'.repeat(60)
  const older = {
    digest: digest('older'),
    scope: ['calendar.read', 'calendar.write'],
    expiresAt: expiresAt - 598,
    tokenData,
    extensionData: { resources: ['https://api.example/calendar'] },
  }
  const newer = {
    digest: digest('newer'),
    scope: [],
    expiresAt: expiresAt - 597,
    tokenData: null,
    extensionData: { tenants: { name: 'north' } },
    tokenType: 'bearer',
    formatted: { format: 'at+jwt', issuedAt: expiresAt - 900 },
  }
  return activeRecord(expiresAt, {
    consentToken,
    subject: 'u-8842',
    spentCode: digest('code'),
    accessTokens: [storedTokenOf(older, granted), storedTokenOf(newer, granted)],
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

/** A decided request of a client without a redirection URI. */
function polledRecord(expiresAt: number, changed: Partial<Polled> = {}): Polled {
  const handle = digest('handle')
  return {
    ...granted,
    state: 'polled',
    id: random22(),
    handle,
    consentToken,
    decision: 'approved',
    grantedAt,
    expiresAt,
    ...changed,
  }
}

/** `expiresAt` ends the last credential of the record. */
export const everyKind: readonly (readonly [kind: string, make: (expiresAt: number) => Authorization])[] = [
  ['unclaimed', unclaimedRecord],
  ['pending', pendingRecord],
  ['pending and claimed', claimedRecord],
  ['denied', deniedRecord],
  ['polled', polledRecord],
  ['approved', approvedRecord],
  ['active', activeRecord],
  ['active and refreshed', refreshed],
]

export const version = (authorization: Authorization): StoredAuthorization => ({
  authorization,
  revision: random22(),
})

export function threeVersions(): readonly [StoredAuthorization, StoredAuthorization, StoredAuthorization] {
  const id = random22()
  const expiresAt = inSeconds(600)
  return [
    version(pendingRecord(expiresAt, { id })),
    version(approvedRecord(expiresAt, { id })),
    version(activeRecord(expiresAt, { id })),
  ]
}

export const saveRecord = (
  store: AuthorizationStore,
  { authorization, revision }: StoredAuthorization,
  found?: StoredAuthorization,
): Promise<boolean> => store.save(authorization, revision, found?.revision)
