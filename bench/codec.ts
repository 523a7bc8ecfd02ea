import { deserialize, serialize } from 'node:v8'
import { decodeAuthorization, encodeAuthorization, type Authorization } from 'express-authorization-server'

// The record of a code flow after its code was redeemed, as `npm run codec` compares ways to keep it.
const digest = 'RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o'
const record: Authorization = {
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
    rotation: undefined,
  },
}

const ways: Readonly<Record<string, readonly [encode: () => string, decode: (text: string) => unknown]>> = {
  'a tuple in JSON (what the suite does)': [
    () => encodeAuthorization(record),
    (text) => decodeAuthorization(record.id, text),
  ],
  'an object in JSON, read unchecked': [() => JSON.stringify(record), (text) => JSON.parse(text)],
  'v8.serialize in base64': [
    () => serialize(record).toString('base64'),
    (text) => deserialize(Buffer.from(text, 'base64')),
  ],
}

const times = 300_000

for (const [name, [encode, decode]] of Object.entries(ways)) {
  const text = encode()
  const [encoding, decoding] = [microseconds(encode), microseconds(() => decode(text))]
  console.log(`| ${name} | ${text.length} | ${encoding.toFixed(2)} | ${decoding.toFixed(2)} |`)
}

function microseconds(act: () => unknown): number {
  for (let warm = 0; warm < times / 10; warm++) act()
  const start = performance.now()
  for (let time = 0; time < times; time++) act()
  return ((performance.now() - start) * 1000) / times
}
