import type { Active } from '../../lib/authorization/authorization'
import { approveWithCode } from '../../lib/authorization/decision'
import { findAccessToken } from '../../lib/authorization/lookup'
import { createCredential } from '../../lib/protocol/credential'
import { OAuthError, temporarilyUnavailable } from '../../lib/protocol/oauth-error'
import type { TokenType } from '../../lib/protocol/token-type'
import { badToken } from '../../lib/resource-server/refusals'
import {
  authorizeResourceRequest,
  type FindToken,
  frozen,
  type Requirement,
} from '../../lib/resource-server/admit'
import type { AuthorizationStore } from '../../lib/authorization/store'
import { memoryStore } from '../../lib/stores/memory-store'
import { bearer } from '../../lib/extensions/token-types/bearer'
import { activeAuthorization, pendingAuthorization } from '../support/authorization/authorization'
import { context, noon, stamped } from '../support/authorization/issue-context'

const { active, issued, code } = activeAuthorization()
const token = issued.accessToken
const anything: Requirement = { scope: [], match: 'all', optional: false, resource: undefined }

const stored = async (...authorizations: Parameters<ReturnType<typeof memoryStore>['save']>[0][]) => {
  const store = memoryStore({ clock: () => noon * 1000 })
  for (const authorization of authorizations) await store.save(authorization, 'revision')
  return store
}

interface Bend {
  readonly requirement?: Requirement
  readonly now?: number
  readonly tokenTypes?: readonly TokenType[]
  readonly authorization?: Active
}
const present = async (
  headers: readonly string[],
  { requirement = anything, now = noon, tokenTypes = [bearer], authorization = active }: Bend = {},
) =>
  authorizeResourceRequest({ ...carrying(headers), now }, requirement, {
    ...always,
    find: findIn(await stored(authorization)),
    tokenTypes,
  })

/** As a guard of this server looks tokens up. */
const findIn =
  (store: AuthorizationStore): FindToken =>
  (accessToken, now) =>
    findAccessToken(store, accessToken, now)

const always = { tokenTypes: [bearer], extensions: [] }

const ofGuard = { useOnce: async () => true, noteToken: () => {} }
const setHeader = () => {}
const carrying = (authorization: readonly string[]) => ({
  method: 'GET',
  target: '/photos',
  secure: true,
  headers: { authorization },
  certificate: undefined,
  address: undefined,
  authorization,
  setHeader,
  now: noon,
  ...ofGuard,
})

async function refusalOf(attempt: Promise<unknown>): Promise<OAuthError> {
  const error = await attempt.then(() => undefined).catch((thrown: unknown) => thrown)
  if (!(error instanceof OAuthError)) throw new Error(`Not refused, but ${String(error)}.`)
  return error
}

describe('admit: the header', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('takes the scheme %s (RES-1)', async (scheme) => {
    await expect(present([`${scheme} ${token}`])).resolves.toEqual({
      authorizationId: active.id,
      clientId: 'photo-printer',
      subject: 'alice',
      scope: ['photos.read', 'photos.write'],
      tokenType: 'bearer',
      expiresAt: noon + 3600,
    })
  })

  it('takes more than one space before the token (RFC 9110 11.4)', async () => {
    await expect(present([`Bearer   ${token}`])).resolves.toBeDefined()
  })

  it.each([
    ['none at all', []],
    ['an empty one', ['']],
    ['Basic', ['Basic YTpi']],
    ['a scheme that begins like it', [`Bearers ${token}`]],
    ['a token without a scheme', [token]],
    ['a tab for a space', [`Bearer\t${token}`]],
  ])('finds no token, and refuses none, when there is %s (RES-3)', async (_what, headers) => {
    await expect(present(headers)).resolves.toBeUndefined()
  })

  it.each([
    ['no token', ['Bearer']],
    ['nothing but a space', ['Bearer ']],
    ['two tokens', [`Bearer ${token} ${token}`]],
  ])('refuses %s as malformed', async (_what, headers) => {
    expect(await refusalOf(present(headers))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      reason: 'token_malformed',
    })
  })

  it.each([
    ['the same', `Bearer ${token}`],
    ['another scheme', 'Basic YTpi'],
    ['an empty one', ''],
  ])('refuses a second header, be it %s', async (_what, second) => {
    expect(await refusalOf(present([`Bearer ${token}`, second]))).toMatchObject({
      status: 400,
      reason: 'several_authorization_headers',
    })
  })
})

const holding = (rejectReason: string | undefined): TokenType => ({
  ...stamped,
  read: (accessToken) => ({ accessToken, rejectReason: async () => rejectReason }),
})

describe('admit: the token type', () => {
  const ofTypes = { tokenTypes: [bearer, stamped] }
  const ofStamps = { ...ofTypes, authorization: { ...active, tokenType: 'stamped' } }

  it('is found by its scheme, whatever the case', async () => {
    await expect(present([`sTAMPED ${token}`], ofStamps)).resolves.toHaveProperty('tokenType', 'stamped')
  })

  it('is not offered: then there is no token', async () => {
    const attempt = present([`Stamped ${token}`], { authorization: ofStamps.authorization })
    await expect(attempt).resolves.toBeUndefined()
  })

  it.each([
    ['bearer', 'Stamped', active],
    ['stamped', 'Bearer', ofStamps.authorization],
  ])('is %s: no such token passes under %s', async (_type, scheme, authorization) => {
    expect(await refusalOf(present([`${scheme} ${token}`], { ...ofTypes, authorization }))).toMatchObject({
      status: 401,
      code: 'invalid_token',
      reason: 'token_of_another_type',
      description: badToken('token_invalid', []).description,
    })
  })

  it('refuses by what it holds against the request, before the scope is looked at', async () => {
    const requirement = { ...anything, scope: ['profile'] }
    const bend = { ...ofStamps, requirement, tokenTypes: [bearer, holding('mac_wrong')] }
    expect(await refusalOf(present([`Stamped ${token}`], bend))).toMatchObject({
      status: 401,
      code: 'invalid_token',
      reason: 'mac_wrong',
    })
    const good = { ...bend, tokenTypes: [bearer, holding(undefined)] }
    expect(await refusalOf(present([`Stamped ${token}`], good))).toHaveProperty('status', 403)
  })

  it('is shown what it kept, the request and the moment, and nothing of a token that is no good', async () => {
    const rejectReason = jest.fn(async () => undefined)
    const watching = { ...stamped, read: (accessToken: string) => ({ accessToken, rejectReason }) }
    const { authorization } = ofStamps
    const [newest] = authorization.accessTokens
    if (newest === undefined) throw new Error('There is no access token.')
    const tokenData = { stampedAt: 7 }
    const bend = {
      tokenTypes: [bearer, watching],
      authorization: { ...authorization, accessTokens: [{ ...newest, tokenData }] },
    }
    await present([`Stamped ${token}`], bend)
    const request = carrying([`Stamped ${token}`])
    expect(rejectReason.mock.calls).toEqual([
      [{ request, tokenData, now: noon, useOnce: expect.any(Function), setHeader: expect.any(Function) }],
    ])
    await refusalOf(present([`Stamped ${token}`], { ...bend, now: noon + 3600 }))
    await refusalOf(present([`Stamped ${issued.refreshToken}`], bend))
    await refusalOf(present([`Stamped ${token}`], { ...bend, authorization: active }))
    expect(rejectReason).toHaveBeenCalledTimes(1)
  })
})

describe('admit: the token', () => {
  it.each([
    ['garbage', 'garbage'],
    ['one of another authorization', activeAuthorization().issued.accessToken],
    [
      'one with the right id and another secret',
      createCredential('accessToken', active.id, context().random),
    ],
    ['the refresh token', issued.refreshToken],
    ['the code', code],
  ])('refuses %s', async (_what, presented) => {
    expect(await refusalOf(present([`Bearer ${presented}`]))).toMatchObject({
      status: 401,
      code: 'invalid_token',
      reason: 'token_invalid',
    })
  })

  it('refuses it from the second it expires (RES-2)', async () => {
    await expect(present([`Bearer ${token}`], { now: noon + 3599 })).resolves.toBeDefined()
    expect(await refusalOf(present([`Bearer ${token}`], { now: noon + 3600 }))).toHaveProperty(
      'reason',
      'token_invalid',
    )
  })

  it('refuses a consent token and a code of authorizations that wait', async () => {
    const { pending, consentToken } = pendingAuthorization()
    const other = approveWithCode(pendingAuthorization().pending, context())
    const store = await stored(pending, other.authorization)
    for (const credential of [consentToken, other.code])
      for (const text of [credential, credential.replace(/^.._/, 'at_')]) {
        const attempt = authorizeResourceRequest(carrying([`Bearer ${text}`]), anything, {
          ...always,
          find: findIn(store),
        })
        expect(await refusalOf(attempt)).toHaveProperty('reason', 'token_invalid')
      }
  })

  it('asks the store once, and not at all about what cannot be a token', async () => {
    const store = await stored(active)
    const find = jest.spyOn(store, 'find')
    const admission = { ...always, find: findIn(store) }
    await authorizeResourceRequest(carrying([`Bearer ${token}`]), anything, admission)
    expect(find.mock.calls).toEqual([[active.id]])
    await refusalOf(authorizeResourceRequest(carrying(['Bearer garbage']), anything, admission))
    expect(find).toHaveBeenCalledTimes(1)
  })

  it('is refused for the reason of the look-up, with one description for the client', async () => {
    const admission = { ...always, find: () => ({ rejectReason: 'mac_wrong' as const }) }
    expect(
      await refusalOf(authorizeResourceRequest(carrying([`Bearer ${token}`]), anything, admission)),
    ).toMatchObject({
      status: 401,
      code: 'invalid_token',
      reason: 'mac_wrong',
      description: badToken('token_invalid', []).description,
    })
  })

  it('passes on an error of the store, not as a bad token', async () => {
    const trouble = temporarilyUnavailable('store_unavailable', 'x')
    const store = { ...(await stored()), find: () => Promise.reject(trouble) }
    await expect(
      authorizeResourceRequest(carrying([`Bearer ${token}`]), anything, { ...always, find: findIn(store) }),
    ).rejects.toBe(trouble)
  })
})

function asked(match: Requirement['match'], text: string) {
  const requirement = { ...anything, match, scope: text.split(' ').filter(Boolean) }
  return present([`Bearer ${token}`], { requirement })
}

describe('admit: the scope', () => {
  it.each<[Requirement['match'], string]>([
    ['all', ''],
    ['any', ''],
    ['all', 'photos.read'],
    ['all', 'photos.write photos.read'],
    ['any', 'photos.read profile'],
    ['any', 'profile photos.write'],
  ])('is enough for %s of %j', async (match, text) => {
    await expect(asked(match, text)).resolves.toHaveProperty('subject', 'alice')
  })

  it.each<[Requirement['match'], string]>([
    ['all', 'photos.read profile'],
    ['all', 'profile'],
    ['all', 'PHOTOS.READ'],
    ['all', 'photos'],
    ['any', 'profile'],
  ])('is too little for %s of %j, and the refusal names what is needed', async (match, text) => {
    expect(await refusalOf(asked(match, text))).toMatchObject({
      status: 403,
      code: 'insufficient_scope',
      challenge: { scope: text },
    })
  })

  it('looks at the scope of the token, not of the grant it came from', async () => {
    const [newest] = active.accessTokens
    if (newest === undefined) throw new Error('There is no access token.')
    const authorization = { ...active, accessTokens: [{ ...newest, scope: ['photos.read'] }] }
    const requirement = { ...anything, scope: ['photos.write'] }
    const attempt = present([`Bearer ${token}`], { requirement, authorization })
    expect(await refusalOf(attempt)).toHaveProperty('status', 403)
  })
})

describe('frozen', () => {
  it('freezes what JSON holds, at every level', () => {
    const value = frozen({ list: [{ deep: ['x'] }], nothing: null, text: 'x' })
    expect([value, value.list, value.list[0], value.list[0]?.deep].every(Object.isFrozen)).toBe(true)
  })

  it('goes as deep as JSON does', () => {
    const levels = 100_000
    const value: unknown = JSON.parse('[['.repeat(levels) + ']]'.repeat(levels))
    expect(Object.isFrozen(frozen(Object(value)))).toBe(true)
  })

  it('freezes a member named __proto__, and nothing that objects inherit', () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":1}}')
    const held = Object.getOwnPropertyDescriptor(frozen(Object(value)), '__proto__')?.value
    expect(Object.isFrozen(held)).toBe(true)
    expect(Object.isFrozen(Object.prototype)).toBe(false)
  })
})
