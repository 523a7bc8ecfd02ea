import type { RefreshedGrant, AuthorizationServerOptions } from '../../lib/index'
import { tokenExchange, type ExchangePolicy } from '../../lib/paths/grants'
import { photoPrint, bent, nightlyReport } from '../support/flows/clients'
import { decideWith, withOptionalScope, workspaceQuestion } from '../support/flows/owner-decision'
import { recordingStage } from '../support/flows/recording-stage'
import { authorizationRequest } from '../support/flows/flow'
import { codeOf } from '../support/flows/redirection'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import type { Response } from 'supertest'
import { exchangeOf, service } from '../support/flows/token-exchange'

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
})

const report = bent(nightlyReport, { may_introspect: true })
const how = { authTime: 1_700_000_000, acr: 'mfa', amr: ['pwd', 'otp'] }

describeOnStores('The login of an owner', (stage: SetStage) => {
  /** A host whose owner logs in again whenever a test says so. */
  function set(options: Partial<AuthorizationServerOptions> = {}) {
    const login: { current: object } = { current: how }
    const clients = [photoPrint, report].map(({ registration }) => registration)
    const staged = stage({
      clients,
      resourceOwner: (req) => {
        const subject = req.get('X-Owner')
        return subject === undefined ? undefined : { subject, ...login.current }
      },
      ...options,
    })
    const told = async (token: string) => {
      const { auth_time, acr } = (await staged.flow.introspect(report, token)).body
      return { auth_time, acr }
    }
    return { ...staged, login, told }
  }
  const known = { auth_time: how.authTime, acr: 'mfa' }
  const tokenIn = ({ body }: Response) => String(body.access_token)

  test('reaches the token by the page and its code, req.oauth and introspection', async () => {
    const { flow, told } = set()
    const token = tokenIn(await flow.redeem(photoPrint, await flow.approve(photoPrint)))
    expect(await told(token)).toEqual(known)
    expect((await flow.photos(token)).body.login).toEqual(how)
  })

  test('stays with its owner in an exchange, and reaches no token of another owner', async () => {
    const of = { owner: 'alice' }
    const policy: ExchangePolicy = () => ({ subject: of.owner, audience: [] })
    const clients = [photoPrint, service].map(({ registration }) => registration)
    const { flow, login, told } = set({ clients, plugins: [tokenExchange({ policy })] })
    const token = tokenIn(await flow.redeem(photoPrint, await flow.approve(photoPrint)))
    login.current = { authTime: how.authTime + 900 }
    const exchanged = async () => told(tokenIn(await flow.request(service, exchangeOf(token))))
    expect(await exchanged()).toEqual(known)
    of.owner = 'bob'
    expect(await exchanged()).toEqual({})
  })

  test.each<[string, object]>([
    ['an acr without a time', { acr: 'mfa' }],
    ['an acr of 257 characters', { authTime: 1, acr: 'x'.repeat(257) }],
    ['an amr that is a text', { authTime: 1, amr: 'pwd' }],
    ['a time in milliseconds', { authTime: Date.now() }],
    ['a time with a fraction', { authTime: 1.5 }],
    ['a time that is a text', { authTime: '1800000000' }],
  ])('with %s is a fault of the host', async (_what, given) => {
    const { flow, login, failures } = set()
    login.current = given
    await flow.ask(authorizationRequest(photoPrint), 'alice')
    expect(failures.at(-1)).toMatchObject({ code: 'server_error' })
    expect(String(failures.at(-1)?.cause)).toContain('The option resourceOwner must return')
  })
})
