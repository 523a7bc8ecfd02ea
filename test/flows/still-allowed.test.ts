import type { RefreshedGrant } from '../../lib/index'
import { photoPrint } from '../support/flows/clients'
import { decideWith, withOptionalScope, workspaceQuestion } from '../support/flows/owner-decision'
import { recordingStage } from '../support/flows/recording-stage'
import { authorizationRequest } from '../support/flows/flow'
import { codeOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

describeOnStores('The option stillAllowed', (stage) => {
  test('gets the grant as its owner approved it, at each refresh', async () => {
    const grants: RefreshedGrant[] = []
    const { flow, clock } = stage({
      ...withOptionalScope,
      choices: () => workspaceQuestion('w1', 'w2'),
      stillAllowed: (grant) => grants.push(grant) > 0,
    })
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    const grantedAt = Math.floor(clock.read() / 1000)
    const code = codeOf(await decideWith(flow, page, { choice: 'w2' }))
    const first = tokensOf(await flow.redeem(photoPrint, code))
    expect(grants).toEqual([])
    clock.advance(100)
    const second = tokensOf(await flow.refresh(photoPrint, first.refreshToken, { scope: 'photos:read' }))
    tokensOf(await flow.refresh(photoPrint, second.refreshToken))
    const grant = {
      clientId: 'photo-print',
      subject: 'alice',
      scope: ['photos:read'],
      choice: { workspace: 'w2' },
      grantedAt,
    }
    expect(grants).toEqual([grant, grant])
  })

  test('ends the authorization with false: invalid_grant, the event revoked, and no token lives on', async () => {
    let allowed = true
    const { flow, recorded } = recordingStage(stage, { stillAllowed: async () => allowed })
    const { accessToken, refreshToken } = await flow.tokens(photoPrint)
    allowed = false
    expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
    expect(recorded.find(({ event }) => event === 'revoked')).toMatchObject({
      reason: 'no_longer_allowed',
      clientId: 'photo-print',
      subject: 'alice',
    })
    allowed = true
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
  })

  test.each<[string, () => unknown]>([
    [
      'rejects',
      async () => {
        throw new Error('The directory is away.')
      },
    ],
    ['returns no boolean', () => undefined],
  ])('that %s is temporarily_unavailable, and spends nothing', async (_what, fails) => {
    let answer: () => unknown = () => true
    const { flow, failures } = stage({ stillAllowed: (...given) => Reflect.apply(answer, undefined, given) })
    const { accessToken, refreshToken } = await flow.tokens(photoPrint)
    answer = fails
    const refused = await flow.refresh(photoPrint, refreshToken)
    expect([refusalOf(refused), refused.get('Retry-After')]).toEqual(['400 temporarily_unavailable', '1'])
    expect(failures.at(-1)).toMatchObject({ reason: 'refresh_check_failed' })
    expect((await flow.photos(accessToken)).status).toBe(200)
    answer = () => true
    tokensOf(await flow.refresh(photoPrint, refreshToken))
  })

  test('is not asked for a repetition within the grace, which gets the same tokens', async () => {
    const stillAllowed = jest.fn(() => true)
    const { flow, clock } = stage({ stillAllowed })
    const { refreshToken } = await flow.tokens(photoPrint)
    const first = tokensOf(await flow.refresh(photoPrint, refreshToken))
    clock.advance(5)
    stillAllowed.mockReturnValue(false)
    expect(tokensOf(await flow.refresh(photoPrint, refreshToken))).toMatchObject({
      accessToken: first.accessToken,
      refreshToken: first.refreshToken,
    })
    expect(stillAllowed).toHaveBeenCalledTimes(1)
  })

  test('is asked for a repetition that would get another access token, and ends it', async () => {
    let allowed = true
    const { flow } = stage({ stillAllowed: () => allowed })
    const { refreshToken } = await flow.tokens(photoPrint)
    const { accessToken } = tokensOf(await flow.refresh(photoPrint, refreshToken))
    allowed = false
    const narrower = await flow.refresh(photoPrint, refreshToken, { scope: 'photos:read' })
    expect(refusalOf(narrower)).toBe('400 invalid_grant')
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('is not asked about an unknown refresh token, nor for a scope that the grant does not have', async () => {
    const { flow } = stage({ stillAllowed: () => false })
    const { accessToken, refreshToken } = await flow.tokens(photoPrint)
    expect(refusalOf(await flow.refresh(photoPrint, `${refreshToken.slice(0, -4)}AAAA`))).toBe(
      '400 invalid_grant',
    )
    const wider = await flow.refresh(photoPrint, refreshToken, { scope: 'reports:write' })
    expect(refusalOf(wider)).toBe('400 invalid_scope')
    expect((await flow.photos(accessToken)).status).toBe(200)
  })

  test('leaves parallel refreshes one outcome', async () => {
    const { flow } = stage({ stillAllowed: async () => true })
    const { refreshToken } = await flow.tokens(photoPrint)
    const all = await Promise.all([1, 2, 3, 4].map(() => flow.refresh(photoPrint, refreshToken)))
    expect(new Set(all.map((each) => tokensOf(each).refreshToken)).size).toBe(1)
  })
})
