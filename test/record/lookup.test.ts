import type { Authorization } from '../../lib/authorization/authorization'
import { deny } from '../../lib/authorization/decision'
import { issueAccessToken } from '../../lib/authorization/issue'
import {
  findAccess,
  findAccessToken,
  findAccessTokenIn,
  findRefreshTokenIn,
} from '../../lib/authorization/lookup'
import { redeemCode } from '../../lib/authorization/redeem-code'
import { rotateRefreshToken } from '../../lib/authorization/refresh'
import { createCredential, secureRandom } from '../../lib/protocol/credential'
import type { AuthorizationStore } from '../../lib/authorization/store'
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

describe('presentAccessToken', () => {
  const { active, issued } = activeAuthorization()

  it('returns subject, client and scope of a valid token', () => {
    expect(findAccessTokenIn(active, issued.accessToken, noon)).toEqual({
      access: {
        authorizationId: active.id,
        clientId: 'photo-printer',
        subject: 'alice',
        scope: ['photos.read', 'photos.write'],
        tokenType: 'bearer',
        expiresAt: noon + lifetimes.accessToken,
      },
      tokenData: undefined,
      extensionData: { pkce: 'challenge' },
      tokenExtensionData: {},
    })
  })

  it('refuses an expired token from its last second on (TKN-8)', () => {
    const at = (now: number) => findAccessTokenIn(active, issued.accessToken, now) !== undefined
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
    expect(findAccessTokenIn(current, issued.accessToken, noon)).toBeUndefined()
  })

  it.each([
    ['the refresh token', issued.refreshToken!],
    ['the stored digest', active.accessTokens[0]!.digest],
    ['the right id with another secret', createCredential('accessToken', active.id, secureRandom)],
    ['nothing', ''],
  ])('gives nothing for %s', (_what, text) => {
    expect(findAccessTokenIn(active, text, noon)).toBeUndefined()
  })

  it('takes a token that came together with a code, before and after the code is redeemed', () => {
    const { approved, code } = approvedAuthorization()
    const both = issueAccessToken(approved, ['photos.read'], context())
    const redeemed = written(redeemCode(both.authorization, redemption(code), context()))
    for (const current of [both.authorization, redeemed])
      expect(findAccessTokenIn(current, both.issued.accessToken, noon)?.access).toMatchObject({
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
    const scopeOf = (token: string) => findAccessTokenIn(written(step), token, noon)?.access.scope
    expect(scopeOf(answerOf(step).accessToken)).toEqual(['photos.read'])
    expect(scopeOf(issued.accessToken)).toEqual(['photos.read', 'photos.write'])
  })

  it('lets an older token live on after a refresh until its own end', () => {
    const after = refreshed(active, issued.refreshToken, later(10)).active
    expect(findAccessTokenIn(after, issued.accessToken, issued.expiresAt - 1)).toBeDefined()
    expect(findAccessTokenIn(after, issued.accessToken, issued.expiresAt)).toBeUndefined()
  })
})

describe('presentRefreshToken', () => {
  const { active, issued } = activeAuthorization()
  const token = issued.refreshToken ?? ''
  const end = noon + lifetimes.refreshToken

  it('returns what a valid token could be exchanged for', () => {
    expect(findRefreshTokenIn(active, token, context())).toEqual({
      authorizationId: active.id,
      clientId: 'photo-printer',
      subject: 'alice',
      scope: ['photos.read', 'photos.write'],
      tokenType: 'bearer',
      expiresAt: end,
    })
  })

  it('refuses an expired one from its last second on', () => {
    expect(findRefreshTokenIn(active, token, context({ now: end - 1 }))).toBeDefined()
    expect(findRefreshTokenIn(active, token, context({ now: end }))).toBeUndefined()
  })

  it('refuses one that is rotated out, unknown, or of a record without one', () => {
    expect(findRefreshTokenIn(refreshed(active, token).active, token, context())).toBeUndefined()
    expect(findRefreshTokenIn(active, issued.accessToken, context())).toBeUndefined()
    const alone = activeAuthorization({ refreshToken: false }).active
    for (const current of [undefined, approvedAuthorization().approved, alone])
      expect(findRefreshTokenIn(current, token, context())).toBeUndefined()
  })
})

describe('find access', () => {
  const { active, issued } = activeAuthorization()
  const token = issued.accessToken
  const known = { authorization: active, revision: 'revision' }
  const older = { authorization: { ...active, accessTokens: [] }, revision: 'older' }

  /** A store that recalls one thing and finds another; it counts what is read. */
  function storeOf(
    recalled: { authorization: Authorization; revision: string } | undefined,
    found = recalled,
  ) {
    const find = jest.fn<ReturnType<AuthorizationStore['find']>, [string]>(async () => found)
    const getCached = jest.fn(() => recalled)
    return { find, getCached, save: async () => true, remove: async () => {} }
  }

  describe('findAccessToken', () => {
    it('takes what the store recalls for a token that is good by it, and reads nothing', async () => {
      const store = storeOf(known, undefined)
      expect(await findAccessToken(store, token, noon)).toMatchObject({
        access: { authorizationId: active.id },
      })
      expect([store.getCached.mock.calls, store.find.mock.calls]).toEqual([[[active.id]], []])
    })

    it.each([
      ['nothing', undefined],
      ['what was there before the token', older],
    ])('reads when the store recalls %s', async (_what, recalled) => {
      const store = storeOf(recalled, known)
      expect(await findAccessToken(store, token, noon)).toBeDefined()
      expect(store.find.mock.calls).toEqual([[active.id]])
    })

    it('refuses what has expired, though the store recalls it, and only after reading', async () => {
      const store = storeOf(known)
      expect(await findAccessToken(store, token, noon + 3600)).toBeUndefined()
      expect(store.find).toHaveBeenCalledTimes(1)
    })

    it('does not ask the store about a malformed token', async () => {
      const store = storeOf(known)
      expect(await findAccessToken(store, 'garbage', noon)).toBeUndefined()
      expect([store.getCached.mock.calls, store.find.mock.calls]).toEqual([[], []])
    })
  })

  describe('findAccess', () => {
    it('reads the store, not the own writes, for introspection and exchanges', async () => {
      const store = storeOf(known, older)
      expect(await findAccess(store, token, noon)).toBeUndefined()
      expect([store.getCached.mock.calls, store.find.mock.calls]).toEqual([[], [[active.id]]])
    })
  })
})
