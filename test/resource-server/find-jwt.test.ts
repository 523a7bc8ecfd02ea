import { givenKeys, KeySet, type KeySource, KeysUnavailable } from '../../lib/jwt/key-source'
import { parsePublicKeys } from '../../lib/jwt/public-keys'
import { longestJwt } from '../../lib/jwt/verify-jwt'
import { findJwt, type JwtAccessTerms, rfc9068 } from '../../lib/resource-server/find-jwt'
import { hub, hubOnCurve } from '../support/assertions/jwt'
import { noon } from '../support/authorization/issue-context'
import { accessClaims, accessJwt, photoServer } from '../support/jwt-guard/access-tokens'
import { refusalOf } from '../support/rooms/refused'

const keysOf = (...jwks: readonly object[]) => parsePublicKeys({ keys: jwks })?.keys ?? []

const canonical: JwtAccessTerms = {
  issuer: hub.issuer,
  keys: givenKeys(keysOf(hub.jwk, hubOnCurve.jwk)),
  audience: [photoServer],
  algorithms: ['RS256', 'ES256'],
  types: ['at+jwt'],
  claimNames: rfc9068,
  tokenTypes: [],
  extensions: [],
  clockTolerance: 5,
  maximumCached: 100,
  maximumAge: 300,
}

let verify: jest.SpyInstance
beforeEach(() => (verify = jest.spyOn(crypto.subtle, 'verify')))
afterEach(() => verify.mockRestore())
const verified = () => verify.mock.calls.length

const token = (bend: object = {}) => accessJwt(accessClaims(noon, { ...bend }), hubOnCurve)
const good = expect.objectContaining({ access: expect.objectContaining({ subject: 'alice' }) })

describe('findJwt: a token that was verified', () => {
  it('is not verified again, and is found without waiting', async () => {
    const find = findJwt(canonical)
    const shown = token()
    expect(await find(shown, noon)).toEqual(good)
    expect(find(shown, noon + 1)).toEqual(good)
    expect(find(shown, noon + 299)).toEqual(good)
    expect(verified()).toBe(1)
  })

  it('is verified again after maximumAge, and never later for being used', async () => {
    const find = findJwt({ ...canonical, maximumAge: 60 })
    const shown = token()
    for (const later of [0, 30, 59]) expect(await find(shown, noon + later)).toEqual(good)
    expect(verified()).toBe(1)
    expect(await find(shown, noon + 60)).toEqual(good)
    expect(verified()).toBe(2)
  })

  it.each([0, 5])('ends with the token, clocks being %d seconds apart [access-8]', async (clockTolerance) => {
    const find = findJwt({ ...canonical, clockTolerance })
    const shown = token({ exp: noon + 100 })
    for (const later of [0, 99 + clockTolerance]) expect(await find(shown, noon + later)).toEqual(good)
    expect(verified()).toBe(1)
    expect(await find(shown, noon + 100 + clockTolerance)).toEqual({ rejectReason: 'jwt_expired' })
  })

  it('is one of a number that is bounded: the one not used for longest is verified again [access-13]', async () => {
    const find = findJwt({ ...canonical, maximumCached: 2 })
    const [first, second, third] = [token({ jti: '1' }), token({ jti: '2' }), token({ jti: '3' })]
    await find(first, noon)
    await find(second, noon)
    await find(first, noon + 1)
    await find(third, noon + 1)
    expect(verified()).toBe(3)
    await find(first, noon + 1)
    await find(third, noon + 1)
    expect(verified()).toBe(3)
    await find(second, noon + 1)
    expect(verified()).toBe(4)
  })

  it('is verified each time where none are to be remembered', async () => {
    const find = findJwt({ ...canonical, maximumCached: 0 })
    const shown = token()
    for (let round = 1; round <= 3; round++) expect(await find(shown, noon)).toEqual(good)
    expect(verified()).toBe(3)
  })

  it('is not remembered for another guard', async () => {
    const shown = token()
    await findJwt(canonical)(shown, noon)
    const elsewhere = findJwt({ ...canonical, audience: ['https://mail.example'] })
    expect(await elsewhere(shown, noon)).toMatchObject({ rejectReason: 'jwt_audience_wrong' })
  })
})

describe('findJwt: a token that comes many times at once', () => {
  it('is verified once for all', async () => {
    const find = findJwt(canonical)
    const shown = token()
    const found = await Promise.all(Array.from({ length: 50 }, async () => find(shown, noon)))
    expect(found).toEqual(Array.from({ length: 50 }, () => good))
    expect(verified()).toBe(1)
  })

  it('is refused once for all, and that is not remembered [access-14]', async () => {
    const find = findJwt(canonical)
    const forged = `${token().slice(0, -4)}AAAA`
    const found = await Promise.all(Array.from({ length: 50 }, async () => find(forged, noon)))
    expect(new Set(found.map((one) => one?.rejectReason))).toEqual(new Set(['jwt_signature_wrong']))
    expect(verified()).toBe(1)
    await find(forged, noon)
    expect(verified()).toBe(2)
  })
})

describe('findJwt: what strangers send', () => {
  it('pushes nothing out of memory [access-12]', async () => {
    const find = findJwt({ ...canonical, maximumCached: 1 })
    const shown = token()
    await find(shown, noon)
    for (const last of 'ABCDEFGH') await find(`${token().slice(0, -4)}${last}AAA`, noon)
    await find(token({ cnf: { jkt: 'x' } }), noon)
    await find(token({ aud: 'https://mail.example' }), noon)
    const { length } = verify.mock.calls
    expect(await find(shown, noon)).toEqual(good)
    expect(verified()).toBe(length)
  })

  it.each([
    ['too long', () => accessJwt(accessClaims(noon, { more: 'a'.repeat(longestJwt) })), 'jwt_malformed'],
    ['of an odd form', () => `${token()}=`, 'jwt_malformed'],
    ['of another type', () => accessJwt(accessClaims(noon), hub, { typ: 'JWT' }), 'jwt_header_refused'],
    [
      'of another algorithm',
      () => accessJwt(accessClaims(noon), hub, { alg: 'HS256' }),
      'jwt_algorithm_refused',
    ],
    ['of another issuer', () => token({ iss: 'https://nobody.example' }), 'jwt_issuer_unknown'],
    ['of an unknown key', () => accessJwt(accessClaims(noon), hub, { kid: 'x' }), 'jwt_key_unknown'],
  ])('costs no verification when it is %s [access-15]', async (_, make, rejectReason) => {
    expect(await findJwt(canonical)(make(), noon)).toEqual({ rejectReason })
    expect(verified()).toBe(0)
  })
})

/** An issuer whose keys change when the test says so. */
class ChangingKeys implements KeySource {
  set: KeySet | undefined = new KeySet(keysOf(hubOnCurve.jwk))
  next: () => Promise<KeySet> = async () => this.set ?? new KeySet([])
  asked = 0

  trusted(): KeySet | undefined {
    return this.set
  }

  async fetched(): Promise<KeySet> {
    this.asked += 1
    return (this.set = await this.next())
  }
}

describe('findJwt: when the keys', () => {
  it('change, no token that other keys vouched for is taken unverified', async () => {
    const keys = new ChangingKeys()
    const find = findJwt({ ...canonical, keys })
    const shown = token()
    expect(await find(shown, noon)).toEqual(good)
    keys.set = new KeySet(keysOf(hub.jwk))
    expect(await find(shown, noon)).toEqual({ rejectReason: 'jwt_key_unknown' })
  })

  it('change while a token is verified by the old ones, it is verified anew the next time [access-11]', async () => {
    const keys = new ChangingKeys()
    const find = findJwt({ ...canonical, keys })
    const shown = token()
    const early = find(shown, noon)
    keys.next = async () => new KeySet(keysOf(hub.jwk))
    verify.mockImplementationOnce(async () => (await keys.fetched(), true))
    expect(await early).toEqual(good)
    expect(await find(shown, noon)).toEqual({ rejectReason: 'jwt_key_unknown' })
  })

  it('are too old, they are fetched, and a token under the same ones is not verified again', async () => {
    const keys = new ChangingKeys()
    const find = findJwt({ ...canonical, keys })
    const shown = token()
    await find(shown, noon)
    const { set } = keys
    keys.set = undefined
    keys.next = async () => set ?? new KeySet([])
    expect(await find(shown, noon)).toEqual(good)
    expect([verified(), keys.asked]).toEqual([1, 1])
  })

  it('are too old, a stranger has them fetched by a token that names the issuer alone [access-16]', async () => {
    const keys = new ChangingKeys()
    keys.set = undefined
    const find = findJwt({ ...canonical, keys })
    for (const shown of ['x', 'a.b.c', token({ iss: 'https://nobody.example' })]) await find(shown, noon)
    expect(keys.asked).toBe(0)
  })

  it('cannot be fetched, no token is called invalid, even one that is remembered', async () => {
    const keys = new ChangingKeys()
    const find = findJwt({ ...canonical, keys })
    const shown = token()
    await find(shown, noon)
    keys.set = undefined
    const cause = new Error('down')
    keys.next = () => Promise.reject(new KeysUnavailable('x', { cause }))
    const unavailable = { code: 'temporarily_unavailable', reason: 'jwt_keys_unavailable' }
    for (const one of [shown, token()]) {
      const attempt = Promise.resolve(find(one, noon))
      expect(await refusalOf(attempt)).toEqual(unavailable)
      await expect(attempt).rejects.toHaveProperty('cause', cause)
    }
  })
})
