import { expiryOf } from '../../lib/authorization/authorization'
import { issue, issueAccessToken, issueDirectly, type ProvenGrant } from '../../lib/authorization/issue'
import { credentialId, hasDigest } from '../../lib/protocol/credential'
import { activeAuthorization, approvedAuthorization } from '../support/authorization/authorization'
import { circumstances, later, lifetimes, noon } from '../support/authorization/circumstances'

const grant: ProvenGrant = {
  clientId: 'nightly-export',
  subject: undefined,
  scope: ['photos.read'],
  tokenType: 'bearer',
  refreshToken: false,
  bindings: {},
}

describe('issue', () => {
  const { active } = activeAuthorization()
  const wanted = { scope: active.scope, refreshToken: false }

  it('keeps digests of the tokens it issues', () => {
    const { authorization, issued } = issue(active, { ...wanted, refreshToken: true }, circumstances())
    expect(hasDigest(issued.accessToken, authorization.accessTokens.at(-1)!.digest)).toBe(true)
    expect(hasDigest(issued.refreshToken!, authorization.refreshToken!.digest)).toBe(true)
    expect(credentialId('accessToken', issued.accessToken)).toBe(active.id)
    expect(credentialId('refreshToken', issued.refreshToken!)).toBe(active.id)
  })

  it('leaves the refresh token alone when none is wanted', () => {
    const { authorization, issued } = issue(active, wanted, circumstances())
    expect(authorization.refreshToken).toBe(active.refreshToken)
    expect(issued.refreshToken).toBeUndefined()
  })

  it('drops access tokens that have expired', () => {
    const { authorization } = issue(active, wanted, later(lifetimes.accessToken))
    expect(authorization.accessTokens.map(({ expiresAt }) => expiresAt)).toEqual([
      noon + 2 * lifetimes.accessToken,
    ])
  })

  it('keeps the eight newest access tokens, so that the record does not grow without end', () => {
    let current = active
    for (let second = 1; second <= 20; second++) current = issue(current, wanted, later(second)).authorization
    expect(current.accessTokens.map(({ expiresAt }) => expiresAt - noon - lifetimes.accessToken)).toEqual([
      13, 14, 15, 16, 17, 18, 19, 20,
    ])
  })
})

describe('issueAccessToken', () => {
  const { approved } = approvedAuthorization()
  const { authorization, issued } = issueAccessToken(approved, ['photos.read'], circumstances())

  it('adds a token to a code that waits, and leaves the code as it is', () => {
    expect(authorization).toEqual({ ...approved, accessTokens: [expect.anything()] })
    expect(hasDigest(issued.accessToken, authorization.accessTokens[0]!.digest)).toBe(true)
    expect(issued).toMatchObject({ scope: ['photos.read'], refreshToken: undefined })
  })

  it('keeps the record until code and token are both dead', () => {
    expect(expiryOf(authorization)).toBe(noon + lifetimes.accessToken)
    const brief = circumstances({ lifetimes: { ...lifetimes, accessToken: 1 } })
    const dead = issueAccessToken(approved, ['photos.read'], brief).authorization
    expect(expiryOf(dead)).toBe(approved.code.expiresAt)
  })
})

describe('issueDirectly', () => {
  it('begins an authorization of a client for itself', () => {
    const { authorization, issued } = issueDirectly(grant, circumstances())
    expect(authorization).toMatchObject({
      state: 'active',
      clientId: 'nightly-export',
      subject: undefined,
      scope: ['photos.read'],
      spentCode: undefined,
      refreshToken: undefined,
    })
    expect(issued).toMatchObject({ scope: ['photos.read'], expiresAt: noon + lifetimes.accessToken })
    expect(issued.refreshToken).toBeUndefined()
  })

  it('begins one of an owner, with a refresh token where the grant brings one', () => {
    const bend = { subject: 'alice', refreshToken: true, bindings: { assertion: 'jti' } }
    const { authorization, issued } = issueDirectly({ ...grant, ...bend }, circumstances())
    expect(authorization).toMatchObject({ subject: 'alice', bindings: { assertion: 'jti' } })
    expect(authorization.refreshToken).toMatchObject({ generation: 0, rotation: undefined })
    expect(hasDigest(issued.refreshToken!, authorization.refreshToken!.digest)).toBe(true)
  })

  it('gives each authorization an id of its own', () => {
    const ids = [1, 2, 3].map(() => issueDirectly(grant, circumstances()).authorization.id)
    expect(new Set(ids).size).toBe(3)
  })
})

describe('expiryOf', () => {
  it('is when the last credential of the authorization dies', () => {
    const withRefreshToken = issueDirectly({ ...grant, refreshToken: true }, circumstances()).authorization
    const without = issueDirectly(grant, circumstances()).authorization
    expect(expiryOf(without)).toBe(noon + lifetimes.accessToken)
    expect(expiryOf(withRefreshToken)).toBe(noon + lifetimes.refreshToken)
  })

  it('is that of an access token when it outlives the refresh token', () => {
    const short = circumstances({ lifetimes: { refreshToken: 60 } })
    const { authorization } = issueDirectly({ ...grant, refreshToken: true }, short)
    expect(expiryOf(authorization)).toBe(noon + lifetimes.accessToken)
  })

  it('is past when nothing is left', () => {
    expect(expiryOf({ ...activeAuthorization().active, accessTokens: [], refreshToken: undefined })).toBe(0)
  })
})
