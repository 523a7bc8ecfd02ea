import { expiryOf } from '../../lib/authorization/authorization'
import { issueDirectly } from '../../lib/authorization/issue'
import { activeAuthorization, nightlyExport as grant } from '../support/authorization/authorization'
import { context, lifetimes, noon } from '../support/authorization/issue-context'

describe('expiryOf', () => {
  it('is when the last credential of the authorization dies', () => {
    const withRefreshToken = issueDirectly({ ...grant, refreshToken: true }, context()).authorization
    const without = issueDirectly(grant, context()).authorization
    expect(expiryOf(without)).toBe(noon + lifetimes.accessToken)
    expect(expiryOf(withRefreshToken)).toBe(noon + lifetimes.refreshToken)
  })

  it('is that of an access token when it outlives the refresh token', () => {
    const short = context({ lifetimes: { refreshToken: 60 } })
    const { authorization } = issueDirectly({ ...grant, refreshToken: true }, short)
    expect(expiryOf(authorization)).toBe(noon + lifetimes.accessToken)
  })

  it('is past when nothing is left', () => {
    expect(expiryOf({ ...activeAuthorization().active, accessTokens: [], refreshToken: undefined })).toBe(0)
  })
})
