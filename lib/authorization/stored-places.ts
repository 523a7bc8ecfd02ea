export const states = {
  unclaimed: 'u',
  pending: 'p',
  denied: 'd',
  polled: 'w',
  approved: 'c',
  active: 'a',
} as const

// The letter of the state, then the digest of the issuer.
export const ofEveryState = { state: 0, clientId: 1, scope: 2, tokenType: 3 } as const

export const ofRequest = {
  ...ofEveryState,
  // Unclaimed: the handle of the client.
  consentToken: 4,
  expiresAt: 5,
  subject: 6,
  responseType: 7,
  redirectUri: 8,
  redirectUriSent: 9,
  requestState: 10,
  extensionData: 11,
  // The login that the server has demanded.
  loginDemandedAt: 12,
  loginParameters: 13,
  login: 14,
  pushed: 15,
  lifetimeUntilSeen: 16,
  // Claimed by an owner.
  handle: 17,
  salt: 18,
} as const

export const ofPolled = {
  ...ofEveryState,
  handle: 4,
  expiresAt: 5,
  subject: 6,
  consentToken: 7,
  // True for an approval.
  decision: 8,
  extensionData: 9,
  login: 10,
  grantedAt: 11,
} as const

export const ofApproved = {
  ...ofEveryState,
  accessTokens: 4,
  subject: 5,
  codeDigest: 6,
  codeExpiresAt: 7,
  redirectUri: 8,
  redirectUriSent: 9,
  failures: 10,
  grantedAt: 11,
  extensionData: 12,
  consentToken: 13,
  salt: 14,
  responseType: 15,
  requestState: 16,
  login: 17,
} as const

export const ofActive = {
  ...ofEveryState,
  accessTokens: 4,
  grantedAt: 5,
  subject: 6,
  spentCode: 7,
  refreshToken: 8,
  extensionData: 9,
  consentToken: 10,
  usedUntil: 11,
  login: 12,
} as const

export const ofLogin = { authTime: 0, acr: 1, amr: 2 } as const

// Most tokens are this text alone.
export const ofAccessToken = {
  digestWithEnd: 0,
  scope: 1,
  tokenData: 2,
  extensionData: 3,
  tokenType: 4,
  format: 5,
  issuedAt: 6,
} as const

export const ofRefreshToken = {
  digest: 0,
  generation: 1,
  tagKey: 2,
  expiresAt: 3,
  rotatedAt: 4,
  salt: 5,
  sealedProperties: 6,
} as const
