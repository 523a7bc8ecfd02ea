import type { Authorization } from '../../lib/authorization/authorization'
import { issueAccessToken } from '../../lib/authorization/issue'
import { revokeByToken } from '../../lib/authorization/revoke'
import {
  createCredential,
  createRefreshToken,
  createTagKey,
  secureRandom,
} from '../../lib/protocol/credential'
import {
  activeAuthorization,
  approvedAuthorization,
  pendingAuthorization,
  refreshed,
} from '../support/authorization/authorization'
import { context } from '../support/authorization/issue-context'

const { active, issued, code } = activeAuthorization()
const first = issued.refreshToken ?? ''
const second = refreshed(active, first)
const third = refreshed(second.active, second.issued.refreshToken)
const clientId = 'photo-printer'
const actionOf = (token: string, current: Authorization = third.active, client = clientId) =>
  revokeByToken(current, { token, clientId: client }).action

describe('revokeByToken', () => {
  it.each([
    ['the refresh token', third.issued.refreshToken ?? ''],
    ['the access token', third.issued.accessToken],
    ['an access token of before a refresh', issued.accessToken],
    ['a refresh token that was rotated out', second.issued.refreshToken ?? ''],
    ['a refresh token that was rotated out long ago', first],
  ])('removes the record for %s', (_which, token) => {
    expect(revokeByToken(third.active, { token, clientId })).toMatchObject({
      action: 'delete',
      outcome: 'revoked',
    })
  })

  it.each([
    ['an access token with a known id', createCredential('accessToken', active.id, secureRandom)],
    [
      'a refresh token with a known id and another tag',
      createRefreshToken(active.id, 0, createTagKey(secureRandom), secureRandom),
    ],
    ['the code that was spent', code],
    ['no token at all', 'x'],
  ])('changes nothing for %s', (_which, token) => {
    expect(revokeByToken(third.active, { token, clientId })).toMatchObject({
      action: 'none',
      outcome: 'nothing',
    })
  })

  it('changes nothing for a tagged token of this or a later generation that was never issued', () => {
    const tagKey = third.active.refreshToken?.tagKey ?? ''
    const made = (generation: number) => createRefreshToken(active.id, generation, tagKey, secureRandom)
    expect([2, 3].map((generation) => actionOf(made(generation)))).toEqual(['none', 'none'])
  })

  it('changes nothing for a token of another client', () => {
    for (const token of [third.issued.accessToken, third.issued.refreshToken ?? '', first])
      expect(actionOf(token, third.active, 'another')).toBe('none')
  })

  it.each([
    ['pending', pendingAuthorization().pending],
    ['approved', approvedAuthorization().approved],
  ])('changes nothing when the authorization is %s', (_state, current) => {
    expect(revokeByToken(current, { token: issued.accessToken, clientId }).action).toBe('none')
  })

  it('removes the record for an access token that came with a code which still waits', () => {
    const { approved } = approvedAuthorization()
    const { authorization, issued: beside } = issueAccessToken(approved, approved.scope, context())
    expect(actionOf(beside.accessToken, authorization)).toBe('delete')
    expect(actionOf(beside.accessToken, authorization, 'another')).toBe('none')
    expect(actionOf(beside.accessToken, approved)).toBe('none')
  })

  it('confirms that nothing is there: an earlier revocation may not have learnt that its removal is safe', () => {
    const token = issued.accessToken
    expect(revokeByToken(undefined, { token, clientId })).toMatchObject({
      action: 'touch',
      outcome: 'nothing',
    })
  })

  it('takes a record without a refresh token', () => {
    const alone = activeAuthorization({ refreshToken: false })
    expect(actionOf(alone.issued.accessToken, alone.active)).toBe('delete')
    expect(actionOf(first, alone.active)).toBe('none')
  })
})
