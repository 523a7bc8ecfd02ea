import * as fc from 'fast-check'
import type {
  AccessToken,
  Active,
  Approved,
  Authorization,
  Denied,
  Pending,
  Polled,
  RefreshToken,
  Unclaimed,
} from '../../../lib/authorization/authorization'
import type { ExtensionData } from '../../../lib/protocol/extension-data'
import type { Json } from '../../../lib/protocol/json'

// Texts with everything that a store might trip over, lone surrogates included.
const text = fc.string({ unit: 'binary', minLength: 1 })
const scope = fc.uniqueArray(fc.stringMatching(/^[\x21\x23-\x5B\x5D-\x7E]{1,9}$/), { maxLength: 4 })
const time = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

// Plain objects, as JSON.parse makes them.
const record = <T>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) =>
  fc.record(model, { noNullPrototype: true })
const dictionary = <T>(value: fc.Arbitrary<T>) =>
  fc.dictionary(text, value, { maxKeys: 3, noNullPrototype: true })

const json = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.string({ unit: 'binary' }),
    fc.array(tie('json'), { maxLength: 3 }),
    dictionary(tie('json')),
  ),
})).json

const extensionData: fc.Arbitrary<ExtensionData> = dictionary(json)
const issuerDigest = fc.constantFrom('Zk3-_qVb09XxYyAa', 'aaaaaaaaaaaaaaaa')
const grant = { id: text, issuerDigest, clientId: text, scope, tokenType: text, extensionData }

const requested = {
  ...grant,
  subject: text,
  request: record({
    responseType: text,
    redirectUri: text,
    redirectUriSent: fc.boolean(),
    requestState: maybe(text),
  }),
  expiresAt: time,
}
const shown = { ...requested, consentToken: text }

const pending: fc.Arbitrary<Pending> = record({ state: fc.constant('pending'), ...shown })
const unclaimed: fc.Arbitrary<Unclaimed> = record({
  state: fc.constant('unclaimed'),
  ...requested,
  handle: text,
  subject: fc.constant(undefined),
  demandedLogin: maybe(record({ at: time, parameters: maybe(text) })),
})
const denied: fc.Arbitrary<Denied> = record({ state: fc.constant('denied'), ...shown })

const plainToken: fc.Arbitrary<AccessToken> = record({
  digest: text,
  scope,
  expiresAt: time,
  tokenData: maybe(json),
  extensionData,
})

const ofOtherForm = record({
  tokenType: maybe(text),
  formatted: maybe(record({ format: text, issuedAt: time })),
}).filter(({ tokenType, formatted }) => tokenType !== undefined || formatted !== undefined)

const accessToken: fc.Arbitrary<AccessToken> = fc
  .tuple(plainToken, fc.oneof(fc.constant({}), ofOtherForm))
  .map(([plain, form]) => Object.assign(plain, form))

const login = fc
  .tuple(
    record({ authTime: time }),
    fc.oneof(fc.constant({}), record({ acr: text })),
    fc.oneof(fc.constant({}), record({ amr: fc.array(text, { maxLength: 3 }) })),
  )
  .map(([at, acr, amr]) => ({ login: Object.assign(at, acr, amr) }))

const withLogin = <T extends object>(arbitrary: fc.Arbitrary<T>) =>
  fc.tuple(arbitrary, fc.oneof(fc.constant({}), login)).map(([plain, own]) => Object.assign(plain, own))

const withApproval = <T extends object>(arbitrary: fc.Arbitrary<T>) =>
  fc
    .tuple(withLogin(arbitrary), fc.oneof(fc.constant({}), record({ grantedAt: time })))
    .map(([plain, approval]) => Object.assign(plain, approval))

const polled: fc.Arbitrary<Polled> = withApproval(
  record({
    state: fc.constant('polled'),
    ...grant,
    subject: maybe(text),
    handle: text,
    consentToken: maybe(text),
    decision: fc.constantFrom('approved', 'denied', undefined),
    expiresAt: time,
  }),
)

const approved: fc.Arbitrary<Approved> = withApproval(
  record({
    state: fc.constant('approved'),
    ...grant,
    subject: text,
    consentToken: maybe(text),
    code: record({
      digest: text,
      redirectUri: text,
      redirectUriSent: fc.boolean(),
      failures: fc.nat(),
      expiresAt: time,
      repetition: maybe(record({ salt: text, responseType: text, requestState: maybe(text) })),
    }),
    accessTokens: fc.array(accessToken, { maxLength: 3 }),
  }),
)

const refreshToken: fc.Arbitrary<RefreshToken> = record({
  digest: text,
  generation: fc.nat(),
  tagKey: text,
  expiresAt: time,
  rotation: maybe(record({ at: time, salt: text, sealedProperties: maybe(text) })),
})

const active: fc.Arbitrary<Active> = withApproval(
  record({
    state: fc.constant('active'),
    ...grant,
    subject: maybe(text),
    consentToken: maybe(text),
    spentCode: maybe(text),
    accessTokens: fc.array(accessToken, { maxLength: 3 }),
    refreshToken: maybe(refreshToken),
    usedUntil: maybe(time),
  }),
)

/** Any authorization that a store may have to keep. */
export const anyAuthorization: fc.Arbitrary<Authorization> = fc.oneof(
  unclaimed,
  pending,
  denied,
  polled,
  approved,
  active,
)
