import { issueDirectly } from '../../lib/authorization/issue'
import { hasDigest } from '../../lib/protocol/credential'
import { nightlyExport as grant } from '../support/authorization/authorization'
import { context, lifetimes, noon } from '../support/authorization/issue-context'

describe('issueDirectly', () => {
  it('begins an authorization of a client for itself', () => {
    const { authorization, issued } = issueDirectly(grant, context())
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
    const bend = { subject: 'alice', refreshToken: true, extensionData: { assertion: 'jti' } }
    const { authorization, issued } = issueDirectly({ ...grant, ...bend }, context())
    expect(authorization).toMatchObject({ subject: 'alice', extensionData: { assertion: 'jti' } })
    expect(authorization.refreshToken).toMatchObject({ generation: 0, rotation: undefined })
    expect(hasDigest(issued.refreshToken!, authorization.refreshToken!.digest)).toBe(true)
  })

  it('gives each authorization an id of its own', () => {
    const ids = [1, 2, 3].map(() => issueDirectly(grant, context()).authorization.id)
    expect(new Set(ids).size).toBe(3)
  })
})
