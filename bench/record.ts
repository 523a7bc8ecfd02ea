import type { Authorization } from 'express-authorization-server'

const digest = 'RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o'

/** The record of a code flow after its code was redeemed. */
export const record: Authorization = {
  state: 'active',
  id: 'AAAAAAAAAAAAAAAAAAAAAA',
  issuerDigest: 'RBNvo1WzZ4oRRq0W',
  consentToken: digest,
  clientId: 'photo-printer',
  subject: 'alice',
  scope: ['photos:read'],
  tokenType: 'bearer',
  extensionData: { pkce: digest },
  spentCode: digest,
  usedUntil: undefined,
  grantedAt: 1_794_996_400,
  accessTokens: [`${digest} ${(1_795_000_000).toString(36)}`],
  refreshToken: {
    digest,
    generation: 0,
    tagKey: 'AAAAAAAAAAAAAAAAAAAAAA',
    expiresAt: 1_797_000_000,
  },
  lastResponse: undefined,
}
