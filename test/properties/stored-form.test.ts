import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { type AccessToken, accessTokenOf, storedTokenOf } from '../../lib/authorization/access-token'
import type { Authorization } from '../../lib/authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../../lib/authorization/codec'
import {
  decodeOwner,
  encodeOwner,
  nobody,
  type OwnedClient,
  withConsent,
} from '../../lib/authorization/owners'
import { anyText } from '../support/any-text'

const id = 'AAAAAAAAAAAAAAAAAAAAAA'
const grant = {
  id,
  issuerDigest: 'RBNvo1WzZ4oRRq0W',
  clientId: 'photo-printer',
  scope: ['photos.read', 'photos.write'],
  tokenType: 'bearer',
  extensionData: {},
  login: undefined,
}
const request = {
  responseType: 'code',
  redirectUri: 'https://printer.example/cb',
  redirectUriSent: true,
  requestState: undefined,
}
const extensionData = { pkce: 'challenge' }
const consentToken = 'digest-of-the-form'
const grantedAt = 1_800_000_000
const unclaimed = {
  ...grant,
  state: 'requested',
  subject: undefined,
  request,
  handle: 'digest-of-the-handle',
  consentToken: undefined,
  decision: undefined,
  grantedAt: undefined,
  demandedLogin: undefined,
  expiresAt: 1_800_000_600,
} as const
const shown = { ...unclaimed, subject: 'alice', handle: undefined, consentToken } as const
const polled = { ...unclaimed, request: undefined } as const
const code = {
  digest: 'digest-of-the-code',
  failures: 0,
  expiresAt: 1_800_000_060,
  salt: undefined,
}
const token = {
  digest: '4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78',
  scope: ['photos.read', 'photos.write'],
  expiresAt: 1_800_003_600,
  tokenData: undefined,
  extensionData: {},
}
const stored = (...tokens: readonly AccessToken[]) => tokens.map((each) => storedTokenOf(each, grant))
const refreshToken = {
  digest: 'digest-of-a-refresh-token',
  generation: 0,
  tagKey: 'key-of-the-tags',
  expiresAt: 1_802_592_000,
}
const lastResponse = { at: 1_800_003_000, salt: 'salt-of-the-pair', sealedProperties: undefined }
const active = {
  ...grant,
  state: 'active',
  subject: undefined,
  consentToken: undefined,
  spentCode: undefined,
  accessTokens: stored(token),
  refreshToken: undefined,
  lastResponse: undefined,
  usedUntil: undefined,
  grantedAt,
} as const
const approved = {
  ...grant,
  state: 'approved',
  subject: 'alice',
  request,
  code,
  grantedAt,
  accessTokens: [],
} as const

/** Records in each state, with few and with all members, and their texts. */
const written: readonly (readonly [string, Authorization, string])[] = [
  [
    'requested, and not claimed',
    unclaimed,
    '["rRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",null,1800000600,null,"code","https://printer.example/cb",true,null,null,null,null,null,null,null,"digest-of-the-handle"]',
  ],
  [
    'requested, after a login that the server has demanded',
    { ...unclaimed, demandedLogin: { at: 1_800_000_000, parameters: 'digest-of-the-parameters' } },
    '["rRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",null,1800000600,null,"code","https://printer.example/cb",true,null,null,1800000000,"digest-of-the-parameters",null,null,null,"digest-of-the-handle"]',
  ],
  [
    'requested, pushed by its client, and not brought by a browser',
    { ...unclaimed, parameters: 'client_id=a&scope=b', lifetimeUntilSeen: 60 },
    '["rRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",null,1800000600,null,"code","https://printer.example/cb",true,null,null,null,null,null,"client_id=a&scope=b",60,"digest-of-the-handle"]',
  ],
  [
    'requested, with a form',
    shown,
    '["rRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","","digest-of-the-form",1800000600,"alice","code","https://printer.example/cb",true]',
  ],
  [
    'requested, with a form and all members',
    {
      ...shown,
      tokenType: 'mac',
      request: { ...request, requestState: 'a&b' },
      extensionData,
      handle: 'digest-of-the-handle',
      demandedLogin: { at: 1_800_000_000, parameters: undefined },
      parameters: 'client_id=a&scope=b',
      salt: 'salt-of-the-form',
      pluginData: { pace: 5 },
    },
    '["rRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","mac","digest-of-the-form",1800000600,"alice","code","https://printer.example/cb",true,"a&b",{"pkce":"challenge"},1800000000,null,null,"client_id=a&scope=b",null,"digest-of-the-handle","salt-of-the-form",null,null,{"pace":5}]',
  ],
  [
    'denied',
    { ...shown, decision: 'denied', scope: [] },
    '["rRBNvo1WzZ4oRRq0W","photo-printer","","","digest-of-the-form",1800000600,"alice","code","https://printer.example/cb",true,null,null,null,null,null,null,null,null,null,false]',
  ],
  [
    'polled, and not claimed',
    polled,
    '["rRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",null,1800000600,null,null,null,null,null,null,null,null,null,null,null,"digest-of-the-handle"]',
  ],
  [
    'polled and approved',
    { ...polled, subject: 'alice', consentToken, decision: 'approved', grantedAt },
    '["rRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","","digest-of-the-form",1800000600,"alice",null,null,null,null,null,null,null,null,null,null,"digest-of-the-handle",null,true,1800000000]',
  ],
  [
    'approved without a form',
    { ...approved, consentToken: undefined },
    '["cRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",[],"alice","digest-of-the-code","code","https://printer.example/cb",true,null,1800000060,0,1800000000]',
  ],
  [
    'approved by a form, without a state',
    {
      ...approved,
      consentToken,
      code: {
        ...code,
        failures: 4,
        salt: 'salt-of-the-code',
      },
    },
    '["cRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",[],"alice","digest-of-the-code","code","https://printer.example/cb",true,null,1800000060,4,1800000000,null,"digest-of-the-form","salt-of-the-code"]',
  ],
  [
    'approved, with all members',
    {
      ...approved,
      tokenType: 'mac',
      consentToken,
      request: { ...request, responseType: 'code token', redirectUriSent: false, requestState: 'a&b' },
      code: {
        ...code,
        salt: 'salt-of-the-code',
      },
      accessTokens: stored(token),
      extensionData,
    },
    '["cRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","mac",["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0"],"alice","digest-of-the-code","code token","https://printer.example/cb",false,"a&b",1800000060,0,1800000000,{"pkce":"challenge"},"digest-of-the-form","salt-of-the-code"]',
  ],
  [
    'active of a client that acts for itself',
    active,
    '["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0"],1800000000]',
  ],
  [
    'active after a code',
    { ...active, subject: 'alice', spentCode: 'digest-of-the-code', refreshToken },
    '["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0"],1800000000,"alice","digest-of-the-code","digest-of-a-refresh-token",0,"key-of-the-tags",1802592000]',
  ],
  [
    'active after a one-time use',
    { ...active, subject: 'alice', accessTokens: [], usedUntil: 1_800_000_300 },
    '["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",[],1800000000,"alice",null,null,null,null,null,null,null,null,null,null,1800000300]',
  ],
  [
    'active, with all members',
    {
      ...active,
      tokenType: 'mac',
      subject: 'alice',
      consentToken,
      spentCode: 'digest-of-the-code',
      extensionData,
      accessTokens: stored(
        { ...token, scope: ['photos.read'] },
        { ...token, tokenData: { key: 'sealed' } },
        { ...token, tokenData: null },
        { ...token, scope: [], extensionData: { 'resource-indicators': ['https://api.example'] } },
        { ...token, tokenData: null, extensionData: { 'resource-indicators': ['https://api.example'] } },
      ),
      refreshToken: { ...refreshToken, generation: 7 },
      lastResponse: { ...lastResponse, sealedProperties: 'sealed-members' },
      usedUntil: 1_800_000_300,
    },
    '["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","mac",[["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0","photos.read"],["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0",null,[{"key":"sealed"}]],["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0",null,[null]],["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0","",null,{"resource-indicators":["https://api.example"]}],["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0",null,[null],{"resource-indicators":["https://api.example"]}]],1800000000,"alice","digest-of-the-code","digest-of-a-refresh-token",7,"key-of-the-tags",1802592000,{"pkce":"challenge"},"digest-of-the-form",1800003000,"salt-of-the-pair","sealed-members",1800000300]',
  ],
  [
    'active, with tokens of another type and in a format',
    {
      ...active,
      accessTokens: stored(
        { ...token, tokenType: 'DPoP' },
        { ...token, formatted: { format: 'at+jwt', issuedAt: 1_800_000_000 } },
        {
          ...token,
          scope: ['photos.read'],
          tokenData: null,
          extensionData: { dpop: 'thumbprint' },
          tokenType: 'DPoP',
          formatted: { format: 'at+jwt', issuedAt: 1_800_000_000 },
        },
      ),
    },
    '["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",[["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0",null,null,null,"DPoP"],["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0",null,null,null,null,"at+jwt",1800000000],["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0","photos.read",[null],{"dpop":"thumbprint"},"DPoP","at+jwt",1800000000]],1800000000]',
  ],
  [
    'active after a rotation without members of the token type',
    { ...active, subject: 'alice', refreshToken: { ...refreshToken, generation: 1 }, lastResponse },
    '["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0"],1800000000,"alice",null,"digest-of-a-refresh-token",1,"key-of-the-tags",1802592000,null,null,1800003000,"salt-of-the-pair"]',
  ],
]

const login = { authTime: 1_799_999_000, acr: 'urn:mfa', amr: ['pwd', 'otp'] }

/** The same with the login of the owner. */
const withLogin: readonly (readonly [string, Authorization, string])[] = [
  [
    'requested, after a login',
    { ...shown, login },
    '["rRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","","digest-of-the-form",1800000600,"alice","code","https://printer.example/cb",true,null,null,null,null,[1799999000,"urn:mfa",["pwd","otp"]]]',
  ],
  [
    'approved, after a login',
    { ...approved, consentToken: undefined, login },
    '["cRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",[],"alice","digest-of-the-code","code","https://printer.example/cb",true,null,1800000060,0,1800000000,null,null,null,[1799999000,"urn:mfa",["pwd","otp"]]]',
  ],
  [
    'active, after a login with a class alone',
    { ...active, subject: 'alice', login: { authTime: 1_799_999_000, acr: 'urn:mfa' } },
    '["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read photos.write","",["4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0"],1800000000,"alice",null,null,null,null,null,null,null,null,null,null,null,[1799999000,"urn:mfa"]]',
  ],
]

const forms = [...written, ...withLogin]

const unreadable = 'not readable by this version'
const read = (text: string) => decodeAuthorization(id, text)
const placesOf = (text: string): readonly unknown[] => JSON.parse(text)

/** The text with one place bent; a list names a place within a place. */
function bent(places: readonly unknown[], [at = 0, ...rest]: readonly number[], value: unknown): string {
  const inner = places[at]
  const changed = rest.length > 0 && Array.isArray(inner) ? JSON.parse(bent(inner, rest, value)) : value
  return JSON.stringify(places.with(at, changed))
}

describe('The stored form', () => {
  it.each(forms)('of a record that is %s holds each member in its place', (_which, record, text) => {
    expect(encodeAuthorization(record)).toBe(text)
    expect(decodeAuthorization(id, text)).toStrictEqual(record)
  })

  it('brings back every text and all data as they were', () => {
    const texts = anyText({ minLength: 1 })
    const anyData = fc.dictionary(texts, fc.jsonValue({ maxDepth: 3 }), {
      maxKeys: 3,
      noNullPrototype: true,
    })
    const anyScope = fc.uniqueArray(fc.stringMatching(/^[\x21\x23-\x5B\x5D-\x7E]{1,9}$/), { maxLength: 4 })
    const bend = fc.record({ clientId: texts, scope: anyScope, extensionData: anyData })
    fc.assert(
      fc.property(fc.constantFrom(...forms), bend, texts, ([, record], bending, text) => {
        const named: Authorization = Object.assign({ ...record }, bending)
        if (named.state === 'active' && named.subject !== undefined) Object.assign(named, { subject: text })
        expect(isDeepStrictEqual(read(encodeAuthorization(named)), named)).toBe(true)
      }),
      { seed: 20_261_126 },
    )
  })

  it('of a token is a text alone, unless the token differs from its authorization', () => {
    const formatted = { format: 'at+jwt', issuedAt: 1_800_000_000 }
    const differing = [
      { ...token, scope: ['photos.read'] },
      { ...token, scope: [] },
      { ...token, tokenData: null },
      { ...token, extensionData: { dpop: 'thumbprint' } },
      { ...token, tokenType: 'DPoP', formatted },
      { ...token, formatted },
    ]
    const [plain, ...others] = stored(token, ...differing)
    expect(plain).toBe('4zFuK6_rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78 trobo0')
    expect(others.map(([first]) => first)).toEqual(differing.map(() => plain))
    expect(stored(token, ...differing).map((each) => accessTokenOf(each, grant))).toStrictEqual([
      token,
      ...differing,
    ])
  })

  it.each(forms)(
    'is refused with any place wrong, for a record that is %s [store-6]',
    (_which, record, text) => {
      const places = placesOf(text)
      const isBent = (path: readonly number[], wrong: unknown) => {
        try {
          return isDeepStrictEqual(read(bent(places, path, wrong)), record) || path.join('.')
        } catch (error) {
          return String(error).includes(unreadable)
        }
      }
      for (const wrong of [-0.5, [true]])
        expect(places.map((_place, at) => isBent([at], wrong)).filter((verdict) => verdict !== true)).toEqual(
          [],
        )
      const inner = places.flatMap((place, at) =>
        Array.isArray(place) ? place.flatMap((_part, within) => [[at, within]]) : [],
      )
      expect(inner.map((path) => isBent(path, { a: 1 })).filter((verdict) => verdict !== true)).toEqual([])
    },
  )

  it.each([
    ['["aRBNvo1WzZ4oRRq0W",null,"photos.read","",[],1800000000]'],
    ['["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read  photos.write","",[],1800000000]'],
    ['["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read","",[{}],1800000000]'],
    ['["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read","",["token"],1800000000]'],
    ['["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read","",["token !"],1800000000]'],
    ['["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read","",[" 10"],1800000000]'],
    ['["aRBNvo1WzZ4oRRq0W","photo-printer","photos.read","",[[]],1800000000]'],
    [
      `["cRBNvo1WzZ4oRRq0W","a","b","",[],"alice","digest",${Number.MAX_SAFE_INTEGER + 1},"https://a/",false,0,1800000000]`,
    ],
    ['["cRBNvo1WzZ4oRRq0W","a","b","",[],"alice","digest",1800000060,"https://a/",false,1.5,1800000000]'],
    ...['', '[', 'null', '{}', '7', '"p"', '[]', '[["p"]]'].map((text) => [text]),
  ])('is refused: %s', (text) => {
    expect(() => read(text)).toThrow(unreadable)
  })

  it.each(['revoked', '__proto__', 'constructor', 'x'])(
    'of the unknown state %s is refused by name',
    (state) => {
      expect(() => read(JSON.stringify([state, 'a', 'b']))).toThrow(
        `A stored record is not readable by this version: its state is "${state}".`,
      )
    },
  )

  it('may have places of a later version, which are dropped', () => {
    const [[, record, text]] = [
      forms.find(([which]) => which === 'requested, with a form and all members') ?? forms[0]!,
    ]
    expect(read(JSON.stringify([...placesOf(text), 1]))).toStrictEqual(record)
  })

  it.each([
    ['a polled request that was approved', 20, forms.find(([which]) => which === 'polled and approved')],
    ['an approved request', 11, forms.find(([which]) => which === 'approved, with all members')],
    ['an active authorization', 5, forms.find(([which]) => which === 'active, with all members')],
  ])('of %s is refused without the time of the approval', (_which, at, [, , text] = forms[0]!) => {
    expect(() => read(JSON.stringify(placesOf(text).with(at, null)))).toThrow(unreadable)
  })

  it.each(forms)('is refused without the issuer, for a record that is %s', (_which, _record, text) => {
    expect(() => read(JSON.stringify([text.slice(2, 3), ...placesOf(text).slice(1)]))).toThrow(unreadable)
  })
})

describe('The record of a resource owner', () => {
  const name = fc.stringMatching(/^(?:[\w-]{22})?$/)
  const end = fc.integer({ min: 0, max: 78_000_000_000 })
  const some = anyText().filter((text) => text !== '')
  const clientId = fc.oneof(fc.constantFrom('photo-print', 'photo-book', '__proto__'), some)
  const part = { at: end, choice: anyText(), facts: fc.array(some), scope: fc.array(some) }
  const consent = fc.record({ fingerprint: some, entries: fc.array(fc.record(part)) })
  const owner = fc.record({
    revocation: name,
    revokedAt: end,
    revokedUntil: end,
    withdrawal: name,
    withdrawnUntil: end,
    entries: fc.array(
      fc.record({
        authorizationId: fc.stringMatching(/^[\w-]{22}$/),
        clientId,
        openId: fc.boolean(),
        until: end,
      }),
      { maxLength: 80 },
    ),
    consents: fc.array(fc.record({ clientId, consent, until: end })),
  })

  it('is read as it was written', () => {
    fc.assert(
      fc.property(owner, (record) => {
        expect(decodeOwner(encodeOwner(record))).toEqual(record)
      }),
    )
  })

  it.each([
    '""',
    '{}',
    '[]',
    '["",0,0,"",0,[[],""],{}]',
    '["",0,0,"",0,[[],""],[["photo-print",0,"print",{}]]]',
    '["",0,"0","",0,[[],""],[]]',
    '["",0,0,"",0,[[],"x"],[]]',
  ])('is refused: %s', (text) => {
    expect(() => decodeOwner(text)).toThrow(unreadable)
  })

  describe('has consents', () => {
    const allowed = (by: string, until: number, ...lengths: readonly number[]) => {
      const parts = lengths.map((length, at) => ({ at, choice: '', facts: [], scope: ['s'.repeat(length)] }))
      return { clientId: by, until, consent: { fingerprint: 'client', entries: parts } }
    }
    const sizeOf = (...consents: readonly OwnedClient[]) =>
      encodeOwner({ ...nobody, consents }).length - encodeOwner(nobody).length
    /** The consent of so many characters. */
    const ofSize = (by: string, until: number, size: number) =>
      allowed(by, until, size - sizeOf(allowed(by, until, 0)))

    it('of 16384 characters for one client, and of a longer one the newest part', () => {
      const longest = ofSize('one', 5, 16_384)
      expect(sizeOf(longest)).toBe(16_384)
      expect(withConsent([], longest)).toEqual([longest])
      expect(withConsent([], ofSize('one', 5, 16_385))).toBe(undefined)
      const [long] = withConsent([], allowed('one', 5, 9000, 9000)) ?? []
      expect(long?.consent.entries).toMatchObject([{ at: 1 }])
    })

    it('of 65536 characters in all, and beyond that those that end last', () => {
      const others = [3, 1, 4].map((until) => ofSize(`until ${until}`, until, 16_384))
      const namesWith = (size: number) =>
        withConsent(others, ofSize('new', 0, size))?.map((each) => each.clientId)
      expect(namesWith(16_384)).toEqual(['until 3', 'until 1', 'until 4', 'new'])
      const more = [...others, ofSize('until 2', 2, 16_384)]
      expect(withConsent(more, ofSize('new', 0, 100))?.map((each) => each.clientId)).toEqual([
        'until 3',
        'until 4',
        'until 2',
        'new',
      ])
    })
  })
})
