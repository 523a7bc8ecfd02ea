import type { Active } from '../../lib/authorization/authorization'
import { expiryOf } from '../../lib/authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../../lib/authorization/codec'
import { issueDirectly } from '../../lib/authorization/issue'
import { lifetimesFor } from '../../lib/authorization/lifetimes'
import { rotateRefreshToken } from '../../lib/authorization/refresh'
import {
  activeAuthorization,
  asActive,
  nightlyExport,
  refreshWith,
} from '../support/authorization/authorization'
import { context, later, lifetimes, noon } from '../support/authorization/issue-context'
import { answerOf, refusal, written } from '../support/authorization/step'

const hour = 3600
const none = {
  access_token_lifetime: undefined,
  refresh_token_lifetime: undefined,
  grant_lifetime: undefined,
}

describe('the lifetimes of a client', () => {
  it('are those of the server, as the same object, if its registration has none', () => {
    expect(lifetimesFor(none, lifetimes)).toBe(lifetimes)
  })

  it.each([
    [{ access_token_lifetime: 60 }, { accessToken: 60 }],
    [{ access_token_lifetime: 6000 }, { accessToken: 3600 }],
    [{ refresh_token_lifetime: 60 }, { refreshToken: 60 }],
    [{ grant_lifetime: 60 }, { grant: 60 }],
  ])('%j are the shorter ones: %j', (own, expected) => {
    expect(lifetimesFor({ ...none, ...own }, lifetimes)).toEqual({ ...lifetimes, ...expected })
  })

  it.each([
    [100, 60, 60],
    [60, 100, 60],
    [60, undefined, 60],
  ])(
    'have the nearer end of grants: %j of the server, %j of the client',
    (grant, grant_lifetime, seconds) => {
      const own = { ...none, access_token_lifetime: 1, grant_lifetime }
      expect(lifetimesFor(own, { ...lifetimes, grant }).grant).toBe(seconds)
    },
  )
})

/** A record as a version wrote it that did not keep the time of the approval. */
const ofEarlierForm = (active: Active): Active =>
  asActive(decodeAuthorization(active.id, encodeAuthorization({ ...active, grantedAt: undefined })))

describe('a grant with an absolute end', () => {
  const { active, issued } = activeAuthorization()
  const refresh = refreshWith(issued.refreshToken)
  const at = (seconds: number, grant = 2 * hour) => later(seconds, { grant })

  it('gives a refresh token and an access token that end with it', () => {
    const step = rotateRefreshToken(active, refresh, at(2 * hour - 10))
    expect(answerOf(step)).toMatchObject({
      expiresAt: noon + 2 * hour,
      refreshTokenExpiresAt: noon + 2 * hour,
    })
    expect(asActive(written(step)).refreshToken?.expiresAt).toBe(noon + 2 * hour)
  })

  it('is in the store no longer than to its end', () => {
    const record = written(rotateRefreshToken(active, refresh, at(1.5 * hour)))
    expect(expiryOf(record)).toBe(noon + 2 * hour)
  })

  it('is over at its end, to the second, and the record ends', () => {
    expect(rotateRefreshToken(active, refresh, at(2 * hour - 1)).action).toBe('save')
    const over = rotateRefreshToken(active, refresh, at(2 * hour))
    expect(refusal(over)).toEqual({ code: 'invalid_grant', reason: 'grant_expired', action: 'delete' })
    expect(over.event).toMatchObject({ name: 'revoked', reason: 'grant_expired' })
  })

  it('does not end for another client, nor by a made-up token', () => {
    const another = { ...refresh, clientId: 'photo-book' }
    expect(refusal(rotateRefreshToken(active, another, at(3 * hour)))).toMatchObject({
      reason: 'refresh_token_of_another_client',
      action: 'none',
    })
    const forged = refreshWith(`${issued.refreshToken?.slice(0, -4)}AAAA`)
    expect(rotateRefreshToken(active, forged, at(3 * hour)).action).toBe('none')
  })

  it('keeps the time of its approval in each rotation', () => {
    expect(asActive(written(rotateRefreshToken(active, refresh, at(hour)))).grantedAt).toBe(noon)
  })

  it('keeps the time when a clock was set back, and ends no later for it', () => {
    const step = rotateRefreshToken(active, refresh, at(-hour))
    expect(answerOf(step).refreshTokenExpiresAt).toBe(noon + hour)
    expect(asActive(written(step)).grantedAt).toBe(noon)
  })

  it('counts from its next refresh if its record is of an earlier form', () => {
    const step = rotateRefreshToken(ofEarlierForm(active), refresh, at(10 * hour))
    expect(answerOf(step).refreshTokenExpiresAt).toBe(noon + 12 * hour)
    expect(asActive(written(step)).grantedAt).toBe(noon + 10 * hour)
  })

  it('counts from its first tokens if it has no approval and a refresh token', () => {
    const { authorization } = issueDirectly({ ...nightlyExport, refreshToken: true }, at(5))
    expect(authorization).toMatchObject({
      grantedAt: noon + 5,
      refreshToken: { expiresAt: noon + 5 + 2 * hour },
    })
  })

  it('costs the record of a client that acts for itself nothing', () => {
    const { authorization } = issueDirectly(nightlyExport, context())
    expect(authorization.grantedAt).toBeUndefined()
    expect(JSON.parse(encodeAuthorization(authorization))).toHaveLength(5)
  })
})
