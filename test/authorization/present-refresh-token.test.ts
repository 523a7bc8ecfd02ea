import { presentRefreshToken } from '../../lib/authorization/lookup'
import { activeAuthorization, approvedAuthorization, refreshed } from '../support/authorization/authorization'
import { lifetimes, noon } from '../support/authorization/issue-context'

const { active, issued } = activeAuthorization()
const token = issued.refreshToken ?? ''
const end = noon + lifetimes.refreshToken

describe('presentRefreshToken', () => {
  it('tells what a good token could be traded for', () => {
    expect(presentRefreshToken(active, token, noon)).toEqual({
      authorizationId: active.id,
      clientId: 'photo-printer',
      subject: 'alice',
      scope: ['photos.read', 'photos.write'],
      tokenType: 'bearer',
      expiresAt: end,
    })
  })

  it('refuses an expired one from its last second on', () => {
    expect(presentRefreshToken(active, token, end - 1)).toBeDefined()
    expect(presentRefreshToken(active, token, end)).toBeUndefined()
  })

  it('refuses one that is rotated out, unknown, or of a record without one', () => {
    expect(presentRefreshToken(refreshed(active, token).active, token, noon)).toBeUndefined()
    expect(presentRefreshToken(active, issued.accessToken, noon)).toBeUndefined()
    const alone = activeAuthorization({ refreshToken: false }).active
    for (const current of [undefined, approvedAuthorization().approved, alone])
      expect(presentRefreshToken(current, token, noon)).toBeUndefined()
  })
})
