import * as fc from 'fast-check'
import type { Active, Authorization } from '../../lib/authorization/authorization'
import { findAccessTokenIn } from '../../lib/authorization/lookup'
import { rederiveTokens, type Refresh, rotate, rotateRefreshToken } from '../../lib/authorization/refresh'
import type { IssueContext } from '../../lib/authorization/transition'
import { createRefreshToken, hasDigest, secureRandom } from '../../lib/protocol/credential'
import {
  activeAuthorization,
  approvedAuthorization,
  asActive,
  refreshed,
  refreshWith,
} from '../support/authorization/authorization'
import { tokenOf, context, later, lifetimes, noon } from '../support/authorization/issue-context'
import { answerOf, refusal, written } from '../support/authorization/step'

describe('rotate refresh token', () => {
  const { active, issued } = activeAuthorization()
  const first = issued.refreshToken!
  const afterFirst = refreshed(active, first)
  const afterSecond = refreshed(afterFirst.active, afterFirst.issued.refreshToken)

  const refresh = (
    current: Authorization | undefined,
    token: string,
    bend: Partial<Refresh> = {},
    at: IssueContext = context(),
  ) => rotateRefreshToken(current, refreshWith(token, bend), at)

  describe('rotateRefreshToken', () => {
    const step = refresh(active, first, {}, later(100))
    const answer = answerOf(step)
    const record = asActive(written(step))

    it('issues a new access token beside the ones that live, and the next refresh token', () => {
      expect(record.accessTokens).toHaveLength(2)
      expect(hasDigest(answer.accessToken, record.accessTokens[1]!.digest)).toBe(true)
      expect(record.refreshToken).toMatchObject({ generation: 1, tagKey: active.refreshToken!.tagKey })
      expect(hasDigest(answer.refreshToken!, record.refreshToken!.digest)).toBe(true)
      expect(answer.expiresAt).toBe(noon + 100 + lifetimes.accessToken)
    })

    it('gives the new refresh token the full lifetime', () => {
      expect(record.refreshToken!.expiresAt).toBe(noon + 100 + lifetimes.refreshToken)
    })

    it('leaves client, owner, scope, bindings and spent code as they were', () => {
      const { accessTokens, refreshToken, ...rest } = record
      expect(active).toMatchObject(rest)
      expect({ accessTokens, refreshToken }).not.toMatchObject(active)
    })

    it('works for many generations', () => {
      let current = { active, issued }
      for (let generation = 1; generation <= 50; generation++) {
        current = refreshed(current.active, current.issued.refreshToken)
        expect(current.active.refreshToken!.generation).toBe(generation)
      }
    })

    it.each([
      ['its code was never redeemed', approvedAuthorization().approved],
      ['it has no refresh token', activeAuthorization({ refreshToken: false }).active],
      ['it is the refresh token of another authorization', activeAuthorization().active],
    ])('refuses an unknown token when %s', (_when, current) => {
      expect(refusal(refresh(current, first))).toEqual({
        code: 'invalid_grant',
        reason: 'refresh_token_unknown',
        action: 'none',
      })
    })

    it('refuses a token without a record, and confirms the absence: a reuse may not have learnt that its removal is safe', () => {
      expect(refusal(refresh(undefined, first))).toEqual({
        code: 'invalid_grant',
        reason: 'refresh_token_unknown',
        action: 'touch',
      })
    })

    it.each([
      ['garbage', 'garbage'],
      ['an access token', issued.accessToken],
      ['a forged token with the right id', createRefreshToken(active.id, 0, 'another key', secureRandom)],
      ['a generation that is not there yet', afterSecond.issued.refreshToken!],
      [
        'another token of this generation',
        createRefreshToken(active.id, 0, active.refreshToken!.tagKey, secureRandom),
      ],
    ])('refuses %s and revokes nothing', (_what, token) => {
      expect(refusal(refresh(active, token))).toMatchObject({
        reason: 'refresh_token_unknown',
        action: 'none',
      })
    })

    it('refuses another client, which changes nothing', () => {
      expect(refusal(refresh(active, first, { clientId: 'mallory' }))).toEqual({
        code: 'invalid_grant',
        reason: 'refresh_token_of_another_client',
        action: 'none',
      })
    })

    it('refuses an expired token from its last second on', () => {
      const { refreshToken } = lifetimes
      expect(answerOf(refresh(active, first, {}, later(refreshToken - 1)))).toBeDefined()
      expect(refusal(refresh(active, first, {}, later(refreshToken)))).toEqual({
        code: 'invalid_grant',
        reason: 'refresh_token_expired',
        action: 'none',
      })
    })
  })

  describe('rotateRefreshToken, the scope', () => {
    it('is the granted one when the request names none', () => {
      expect(answerOf(refresh(active, first)).scope).toEqual(active.scope)
    })

    it('is narrowed for the access token and stays whole for the refresh token', () => {
      const narrowed = refresh(active, first, { scope: 'photos.read' })
      expect(answerOf(narrowed).scope).toEqual(['photos.read'])
      const record = asActive(written(narrowed))
      expect(record.accessTokens.at(-1)!.scope).toEqual(['photos.read'])
      expect(record.scope).toEqual(active.scope)
      const next = refresh(record, answerOf(narrowed).refreshToken!, { scope: 'photos.write photos.read' })
      expect(answerOf(next).scope).toEqual(['photos.write', 'photos.read'])
    })

    it.each([
      ['more than was granted', 'photos.read profile', 'scope_exceeded'],
      ['other letters', 'Photos.Read', 'scope_exceeded'],
      ['a malformed one', 'photos.read  photos.write', 'scope_malformed'],
    ])('is refused for %s, and the token stays valid', (_what, scope, reason) => {
      expect(refusal(refresh(active, first, { scope }))).toEqual({
        code: 'invalid_scope',
        reason,
        action: 'none',
      })
    })
  })

  describe('rotateRefreshToken, a token presented again', () => {
    const strict = { refreshTokenGrace: 0 }
    const reused = { code: 'invalid_grant', reason: 'refresh_token_reused', action: 'delete' }

    it('gets the same tokens within the grace, and writes the record unchanged', () => {
      const again = refresh(afterFirst.active, first, {}, later(lifetimes.refreshTokenGrace - 1))
      expect(again).toMatchObject({ action: 'touch', outcome: afterFirst.issued })
    })

    it('gets the same tokens however often it comes', () => {
      for (let time = 0; time < 5; time++)
        expect(answerOf(refresh(afterFirst.active, first))).toEqual(afterFirst.issued)
    })

    it('gets a new access token beside the same refresh token when the first one has ended within the grace', () => {
      const short = { accessToken: 10 }
      const rotated = refreshed(active, first, later(0, short))
      const again = refresh(rotated.active, first, {}, later(10, short))
      expect(answerOf(again)).toMatchObject({
        expiresAt: noon + 20,
        scope: rotated.issued.scope,
        refreshToken: rotated.issued.refreshToken,
      })
      expect(answerOf(again).accessToken).not.toBe(rotated.issued.accessToken)
      expect(written(again)).toHaveProperty('refreshToken', rotated.active.refreshToken)
      expect(findAccessTokenIn(written(again), answerOf(again).accessToken, noon + 10)).toBeDefined()
    })

    it('gets another one of the requested scope, when the first was dropped since', () => {
      const short = { accessToken: 10 }
      const rotated = refreshed(active, first, later(0, short))
      const bend = { scope: 'photos.read' }
      const again = written(refresh(rotated.active, first, bend, later(10, short)))
      const third = refresh(again, first, bend, later(11, short))
      expect(answerOf(third)).toMatchObject({
        expiresAt: noon + 21,
        scope: ['photos.read'],
        refreshToken: rotated.issued.refreshToken,
      })
      expect(findAccessTokenIn(written(third), answerOf(third).accessToken, noon + 11)).toBeDefined()
    })

    it('revokes once the grace is over', () => {
      expect(refusal(refresh(afterFirst.active, first, {}, later(lifetimes.refreshTokenGrace)))).toEqual(
        reused,
      )
    })

    it('revokes at once without a grace', () => {
      const record = refreshed(active, first, later(0, strict)).active
      expect(refusal(refresh(record, first, {}, later(0, strict)))).toEqual(reused)
      expect(refusal(refresh(record, first, {}, later(0)))).toEqual(reused)
      expect(refusal(refresh(afterFirst.active, first, {}, later(0, strict)))).toEqual(reused)
    })

    it('revokes when it is an older generation, even within the grace', () => {
      expect(refusal(refresh(afterSecond.active, first))).toEqual(reused)
    })

    it('revokes although it has expired long since', () => {
      expect(refusal(refresh(afterSecond.active, first, {}, later(2 * lifetimes.refreshToken)))).toEqual(
        reused,
      )
    })

    it('is refused and revokes nothing when it was current as the request came, and others rotated twice meanwhile', () => {
      const slow = rotateRefreshToken(afterSecond.active, refreshWith(first), context(), active)
      expect(refusal(slow)).toMatchObject({ reason: 'refresh_token_superseded', action: 'none' })
      const older = rotateRefreshToken(afterSecond.active, refreshWith(first), context(), afterFirst.active)
      expect(refusal(older)).toEqual(reused)
    })

    it('revokes without a grace, even when it was current as the request came', () => {
      const record = refreshed(active, first, later(0, strict)).active
      expect(refusal(rotateRefreshToken(record, refreshWith(first), later(0, strict), active))).toEqual(
        reused,
      )
    })

    it.each([
      ['scope_exceeded', 'photos.read photos.delete'],
      ['scope_malformed', 'photos.read  photos.write'],
    ])('is held to the granted scope within the grace, too: %s', (reason, scope) => {
      expect(refusal(refresh(afterFirst.active, first, { scope }))).toMatchObject({ reason, action: 'none' })
    })

    it.each([
      ['within the grace', afterFirst.active],
      ['as an older generation', afterSecond.active],
    ])('gets and revokes nothing from another client, %s', (_when, current) => {
      expect(refusal(refresh(current, first, { clientId: 'mallory' }))).toMatchObject({
        reason: 'refresh_token_of_another_client',
        action: 'none',
      })
    })

    it('revokes when it is not the token that was rotated out, though of its generation', () => {
      const twin = createRefreshToken(active.id, 0, active.refreshToken!.tagKey, secureRandom)
      expect(refusal(refresh(afterFirst.active, twin))).toEqual(reused)
    })

    it('leaves only the answer of the last rotation on record, and no token in clear', () => {
      const records: readonly Active[] = [active, afterFirst.active, afterSecond.active]
      expect(records.map((record) => record.refreshToken!.rotation !== undefined)).toEqual([
        false,
        true,
        true,
      ])
      const text = JSON.stringify(records)
      for (const token of [first, afterFirst.issued.refreshToken!, afterFirst.issued.accessToken])
        expect(text).not.toContain(token.slice(3))
    })

    it('leaves no answer on record without a grace', () => {
      expect(refreshed(active, first, later(0, strict)).active.refreshToken!.rotation).toBeUndefined()
    })
  })
})

describe('rotation', () => {
  const narrow = tokenOf(['photos.read'])
  const first = activeAuthorization()
  const presented = first.issued.refreshToken!
  const of = (active: Active) => active.refreshToken!
  const rotated = rotate(first.active, presented, narrow, context())
  const next = rotated.authorization
  const stampedStart = { ...first.active, tokenType: 'stamped' }
  const stamped = rotate(stampedStart, presented, narrow, context())

  /** The record with another rotation. */
  const changedRotation = (active: Active, bend: object) => ({
    ...of(active),
    rotation: { ...of(active).rotation!, ...bend },
  })

  describe('rotate', () => {
    it('issues a pair that the rotated token derives again', () => {
      expect(rederiveTokens(next, of(next), presented)).toEqual({
        accessToken: rotated.issued.accessToken,
        stored: next.accessTokens.at(-1),
        properties: {},
        refreshTokenExpiresAt: next.refreshToken?.expiresAt,
        refreshToken: rotated.issued.refreshToken,
      })
    })

    it('derives it again with the data of the token type', () => {
      const { issued, authorization } = stamped
      expect(issued.properties).toHaveProperty('stamp')
      expect(rederiveTokens(authorization, of(authorization), presented)).toMatchObject({
        accessToken: issued.accessToken,
        properties: issued.properties,
      })
    })

    it('issues another pair each time, so that of two racing rotations neither knows the pair of the other', () => {
      const secrets = Array.from({ length: 50 }, () => rotate(first.active, presented, narrow, context()))
      const tokens = secrets.flatMap(({ issued }) => [issued.accessToken, issued.refreshToken])
      expect(new Set(tokens.map((token) => token!.slice(-32))).size).toBe(100)
    })

    it('derives nothing for any other token [refresh-11]', () => {
      for (const other of [
        rotated.issued.refreshToken!,
        rotated.issued.accessToken,
        presented.slice(0, -1),
        '',
      ])
        expect(rederiveTokens(next, of(next), other)).toBeUndefined()
    })

    it('derives nothing once the salt was altered, nor before any rotation', () => {
      fc.assert(
        fc.property(fc.string(), (salt) => {
          fc.pre(salt !== of(next).rotation!.salt)
          expect(rederiveTokens(next, changedRotation(next, { salt }), presented)).toBeUndefined()
        }),
      )
      expect(rederiveTokens(first.active, of(first.active), presented)).toBeUndefined()
    })

    it('keeps nothing on record that shows a token, or what its type added, and no more than a salt for a bearer [refresh-10]', () => {
      const { authorization, issued } = stamped
      const record = JSON.stringify(authorization)
      expect(record).not.toContain(issued.properties['stamp'])
      for (const token of [presented, issued.accessToken, issued.refreshToken!])
        expect(record).not.toContain(token.slice(-43))
      expect(of(next).rotation).toEqual({
        at: context().now,
        salt: expect.stringMatching(/^[\w-]{22}$/),
        sealedProperties: undefined,
      })
    })

    it('notices what was altered in the store', () => {
      const { authorization } = stamped
      const sealed = of(authorization).rotation!.sealedProperties!
      const bytes = Buffer.from(sealed, 'base64url')
      for (const altered of [
        '',
        'garbage',
        sealed.slice(0, 20),
        flipped(bytes, 3),
        flipped(bytes, bytes.length - 1),
      ])
        expect(() =>
          rederiveTokens(
            authorization,
            changedRotation(authorization, { sealedProperties: altered }),
            presented,
          ),
        ).toThrow('altered in the store')
    })

    it('draws the secret of the token type from random bytes, not from the tokens', () => {
      const drawn: number[] = []
      const random = (bytes: number) => {
        drawn.push(bytes)
        return secureRandom(bytes)
      }
      rotate(stampedStart, presented, narrow, context({ random }))
      // Salt, stamp, and the nonce of its seal.
      expect(drawn).toEqual([16, 6, 12])
    })
  })

  function flipped(bytes: Buffer, at: number): string {
    const copy = Buffer.from(bytes)
    copy[at]! ^= 1
    return copy.toString('base64url')
  }
})
