import { deny } from '../../lib/authorization/decision'
import { issueAccessToken } from '../../lib/authorization/issue'
import { presentAccessToken } from '../../lib/authorization/lookup'
import { redeemCode } from '../../lib/authorization/redeem-code'
import { rotateRefreshToken } from '../../lib/authorization/refresh'
import { createCredential, secureRandom } from '../../lib/protocol/credential'
import {
  activeAuthorization,
  approvedAuthorization,
  pendingAuthorization,
  redemption,
  refreshed,
  refreshWith,
} from '../support/authorization/authorization'
import { context, later, lifetimes, noon } from '../support/authorization/issue-context'
import { answerOf, written } from '../support/authorization/step'

const { active, issued } = activeAuthorization()

describe('presentAccessToken', () => {
  it('tells whom a good token stands for, and for what', () => {
    expect(presentAccessToken(active, issued.accessToken, noon)).toEqual({
      access: {
        authorizationId: active.id,
        clientId: 'photo-printer',
        subject: 'alice',
        scope: ['photos.read', 'photos.write'],
        tokenType: 'bearer',
        expiresAt: noon + lifetimes.accessToken,
      },
      tokenData: undefined,
    })
  })

  it('refuses an expired token from its last second on (TKN-8)', () => {
    const at = (now: number) => presentAccessToken(active, issued.accessToken, now) !== undefined
    expect([issued.expiresAt - 1, issued.expiresAt].map(at)).toEqual([true, false])
  })

  it.each([
    ['there is no record', undefined],
    ['nothing is approved yet', pendingAuthorization().pending],
    ['it was denied', deny(pendingAuthorization().pending)],
    ['its code is not redeemed yet', approvedAuthorization().approved],
    ['it is a token of another authorization', activeAuthorization().active],
    ['it was revoked one by one', { ...active, accessTokens: [] }],
  ])('gives nothing when %s', (_when, current) => {
    expect(presentAccessToken(current, issued.accessToken, noon)).toBeUndefined()
  })

  it.each([
    ['the refresh token', issued.refreshToken!],
    ['the stored digest', active.accessTokens[0]!.digest],
    ['the right id with another secret', createCredential('accessToken', active.id, secureRandom)],
    ['nothing', ''],
  ])('gives nothing for %s', (_what, text) => {
    expect(presentAccessToken(active, text, noon)).toBeUndefined()
  })

  it('takes a token that came together with a code, before and after the code is redeemed', () => {
    const { approved, code } = approvedAuthorization()
    const both = issueAccessToken(approved, ['photos.read'], context())
    const redeemed = written(redeemCode(both.authorization, redemption(code), context()))
    for (const current of [both.authorization, redeemed])
      expect(presentAccessToken(current, both.issued.accessToken, noon)?.access).toMatchObject({
        subject: 'alice',
        scope: ['photos.read'],
      })
  })

  it('gives each token its own scope, an older one too', () => {
    const step = rotateRefreshToken(
      active,
      refreshWith(issued.refreshToken, { scope: 'photos.read' }),
      context(),
    )
    const scopeOf = (token: string) => presentAccessToken(written(step), token, noon)?.access.scope
    expect(scopeOf(answerOf(step).accessToken)).toEqual(['photos.read'])
    expect(scopeOf(issued.accessToken)).toEqual(['photos.read', 'photos.write'])
  })

  it('lets an older token live on after a refresh until its own end', () => {
    const after = refreshed(active, issued.refreshToken, later(10)).active
    expect(presentAccessToken(after, issued.accessToken, issued.expiresAt - 1)).toBeDefined()
    expect(presentAccessToken(after, issued.accessToken, issued.expiresAt)).toBeUndefined()
  })
})
