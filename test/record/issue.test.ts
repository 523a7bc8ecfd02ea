import { expiryOf } from '../../lib/authorization/authorization'
import { issue, issueAccessToken, issueDirectly, issuePair } from '../../lib/authorization/issue'
import { credentialId, derivedBytes, genuineGeneration, hasDigest } from '../../lib/protocol/credential'
import {
  activeAuthorization,
  approvedAuthorization,
  nightlyExport as grant,
} from '../support/authorization/authorization'
import { context, later, lifetimes, noon, tokenOf } from '../support/authorization/issue-context'

describe('issue', () => {
  const { active } = activeAuthorization()
  const token = tokenOf(active.scope)

  it('keeps digests of the tokens it issues', () => {
    const { authorization, issued } = issue(active, token, true, context())
    expect(hasDigest(issued.accessToken, authorization.accessTokens.at(-1)!.digest)).toBe(true)
    expect(hasDigest(issued.refreshToken!, authorization.refreshToken!.digest)).toBe(true)
    expect(credentialId('accessToken', issued.accessToken)).toBe(active.id)
    expect(credentialId('refreshToken', issued.refreshToken!)).toBe(active.id)
  })

  it('leaves the refresh token alone when none is wanted', () => {
    const { authorization, issued } = issue(active, token, false, context())
    expect(authorization.refreshToken).toBe(active.refreshToken)
    expect(issued.refreshToken).toBeUndefined()
  })

  it('drops access tokens that have expired', () => {
    const { authorization } = issue(active, token, false, later(lifetimes.accessToken))
    expect(authorization.accessTokens.map(({ expiresAt }) => expiresAt)).toEqual([
      noon + 2 * lifetimes.accessToken,
    ])
  })

  it('keeps the 32 newest access tokens, so that the record does not grow without end', () => {
    let current = active
    for (let second = 1; second <= 40; second++)
      current = issue(current, token, false, later(second)).authorization
    expect(current.accessTokens.map(({ expiresAt }) => expiresAt - noon - lifetimes.accessToken)).toEqual(
      Array.from({ length: 32 }, (_, index) => 9 + index),
    )
  })
})

describe('issuePair', () => {
  it('puts the next refresh token in the place of the one before, under the same key', () => {
    const { active } = activeAuthorization()
    const { authorization, refreshToken, issued } = issuePair(active, tokenOf(active.scope), context())
    expect(authorization.refreshToken).toBe(refreshToken)
    expect(refreshToken).toMatchObject({ generation: 1, tagKey: active.refreshToken?.tagKey })
    expect(genuineGeneration(issued.refreshToken!, refreshToken.tagKey)).toBe(1)
  })

  it('takes both secrets from the given source', () => {
    const { active } = activeAuthorization()
    const pairOf = (purpose: string) => {
      const secrets = derivedBytes('secret', purpose)
      const { accessToken, refreshToken } = issuePair(
        active,
        tokenOf(active.scope),
        context(),
        secrets,
      ).issued
      return { accessToken, refreshToken }
    }
    expect(pairOf('one')).toEqual(pairOf('one'))
    expect(pairOf('one')).not.toEqual(pairOf('other'))
  })
})

describe('issueAccessToken', () => {
  const { approved } = approvedAuthorization()
  const { authorization, issued } = issueAccessToken(approved, ['photos.read'], context())

  it('adds a token to a code that waits, and leaves the code as it is', () => {
    expect(authorization).toEqual({ ...approved, accessTokens: [expect.anything()] })
    expect(hasDigest(issued.accessToken, authorization.accessTokens[0]!.digest)).toBe(true)
    expect(issued).toMatchObject({ scope: ['photos.read'], refreshToken: undefined })
  })

  it('keeps the record until code and token are both dead', () => {
    expect(expiryOf(authorization)).toBe(noon + lifetimes.accessToken)
    const brief = context({ lifetimes: { ...lifetimes, accessToken: 1 } })
    const dead = issueAccessToken(approved, ['photos.read'], brief).authorization
    expect(expiryOf(dead)).toBe(approved.code.expiresAt)
  })
})

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
