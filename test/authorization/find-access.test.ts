import type { Authorization } from '../../lib/authorization/authorization'
import { findAccess, findAccessToken } from '../../lib/authorization/lookup'
import type { AuthorizationStore } from '../../lib/stores/authorization-store'
import { activeAuthorization } from '../support/authorization/authorization'
import { noon } from '../support/authorization/issue-context'

const { active, issued } = activeAuthorization()
const token = issued.accessToken
const known = { authorization: active, revision: 'revision' }
const older = { authorization: { ...active, accessTokens: [] }, revision: 'older' }

/** A store that recalls one thing and finds another; it counts what is read. */
function storeOf(recalled: { authorization: Authorization; revision: string } | undefined, found = recalled) {
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

  it('asks nobody about what cannot be a token', async () => {
    const store = storeOf(known)
    expect(await findAccessToken(store, 'garbage', noon)).toBeUndefined()
    expect([store.getCached.mock.calls, store.find.mock.calls]).toEqual([[], []])
  })
})

describe('findAccess', () => {
  it('reads, whatever the store recalls: what introspection and exchanges tell is written down elsewhere', async () => {
    const store = storeOf(known, older)
    expect(await findAccess(store, token, noon)).toBeUndefined()
    expect([store.getCached.mock.calls, store.find.mock.calls]).toEqual([[], [[active.id]]])
  })
})
