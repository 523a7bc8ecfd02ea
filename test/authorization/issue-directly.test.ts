import { expiryOf } from '../../lib/authorization/authorization'
import { issueDirectly, type ProvenGrant } from '../../lib/authorization/issue-directly'
import { hasDigest } from '../../lib/protocol/credential'
import { activeAuthorization } from '../support/authorization/authorization'
import { circumstances, lifetimes, noon } from '../support/authorization/circumstances'

const grant: ProvenGrant = {
  clientId: 'nightly-export',
  subject: undefined,
  scope: ['photos.read'],
  tokenType: 'bearer',
  refreshToken: false,
  bindings: {},
}

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
