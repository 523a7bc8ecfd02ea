import type { Response } from 'supertest'
import {
  jwtAccessTokens,
  tokenExchange,
  type AuthorizationServerOptions,
  type ExchangePolicy,
} from '../../lib/index'
import { bent, nightlyReport, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { partOf, sharedKeys } from '../support/flows/jwt-tokens'
import { codeOf } from '../support/flows/redirection'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { exchangeOf, service } from '../support/flows/token-exchange'

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

  test('is that of the session that decides, also if the decision comes twice', async () => {
    const { flow, login, told } = set()
    login.current = { authTime: how.authTime + 60, acr: 'gold' }
    const form = await flow.ask(authorizationRequest(photoPrint), 'alice')
    login.current = how
    await flow.decide(form, 'approve', 'alice')
    login.current = { authTime: how.authTime + 90, acr: 'gold' }
    const code = codeOf(await flow.decide(form, 'approve', 'alice'))
    expect(await told(tokenIn(await flow.redeem(photoPrint, code)))).toEqual(known)
  })

  test('is not renewed by a refresh', async () => {
    const { flow, login, told } = set()
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    login.current = { authTime: how.authTime + 900 }
    const refreshed = await flow.refresh(photoPrint, body.refresh_token)
    expect(await told(tokenIn(refreshed))).toEqual(known)
    const again = await flow.refresh(photoPrint, refreshed.body.refresh_token)
    expect(await told(tokenIn(again))).toEqual(known)
  })

  test('stays with its owner in an exchange, and reaches no token of another owner', async () => {
    const of = { owner: 'alice' }
    const policy: ExchangePolicy = () => ({ subject: of.owner, audience: [] })
    const clients = [photoPrint, service].map(({ registration }) => registration)
    const { flow, login, told } = set({ clients, grantTypes: [tokenExchange({ policy })] })
    const token = tokenIn(await flow.redeem(photoPrint, await flow.approve(photoPrint)))
    login.current = { authTime: how.authTime + 900 }
    const exchanged = async () => told(tokenIn(await flow.request(service, exchangeOf(token))))
    expect(await exchanged()).toEqual(known)
    of.owner = 'bob'
    expect(await exchanged()).toEqual({})
  })

  test('stands in JWT access tokens as auth_time, acr and amr, and a guard by signature reads it', async () => {
    const keys = sharedKeys()
    const api = 'https://api.example/photos'
    const { flow, app, oauth } = set({
      resources: { [api]: { scopes: ['photos:read', 'photos:print', 'reports:write'] } },
      plugIns: [keys, jwtAccessTokens({ keys })],
    })
    app.get('/signed', oauth.bearerGuard({ verify: 'signature' }), (request, response) => {
      response.json(request.oauth)
    })
    const token = tokenIn(await flow.redeem(photoPrint, await flow.approve(photoPrint)))
    expect(partOf(token, 1)).toMatchObject({ auth_time: how.authTime, acr: 'mfa', amr: ['pwd', 'otp'] })
    const signed = await flow.open('/signed', undefined, { Authorization: `Bearer ${token}` })
    expect(signed.body.login).toEqual(how)
  })

  test.each<[string, object]>([
    ['an acr without a time', { acr: 'mfa' }],
    ['an acr of 257 characters', { authTime: 1, acr: 'x'.repeat(257) }],
    ['an amr that is a text', { authTime: 1, amr: 'pwd' }],
  ])('with %s is a fault of the host', async (_what, given) => {
    const { flow, login, failures } = set()
    login.current = given
    await flow.ask(authorizationRequest(photoPrint), 'alice')
    expect(failures.at(-1)).toMatchObject({ code: 'server_error' })
    expect(String(failures.at(-1)?.cause)).toContain('The option resourceOwner must return')
  })
})
