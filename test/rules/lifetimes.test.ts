import { bent, nightlyReport, photoPrint } from '../support/flows/clients'
import { job, mountResources, photosApi, printApi, withResources } from '../support/flows/resources'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import type { AuthorizationServerOptions } from '../../lib/index'

const hour = 3600
const print = bent(photoPrint, { may_introspect: true })
const stage = (options: Partial<AuthorizationServerOptions> = {}, client = print) =>
  setStage({ clients: [client.registration], ...options })

test.each([
  ['the client', 60, 60],
  ['the resource', 1200, 600],
])(
  '[LIF-1] of the lifetimes of server, resource and client the shortest counts: that of %s',
  async (...row) => {
    const [, access_token_lifetime, seconds] = row
    const client = bent(job, { access_token_lifetime })
    const options = withResources({ clients: [client.registration], lifetimes: { accessToken: 1800 } })
    const { flow } = setStage(options, { mount: mountResources })
    const lifetimeFor = async (resource: string) =>
      tokensOf(await flow.request(client, { grant_type: 'client_credentials', resource })).expiresIn
    expect([await lifetimeFor(photosApi), await lifetimeFor(printApi)]).toEqual([
      seconds,
      access_token_lifetime,
    ])
  },
)

test('[LIF-1] no client makes its lifetimes longer than those of the server', () => {
  for (const longer of [{ access_token_lifetime: 3601 }, { refresh_token_lifetime: 2_592_001 }])
    expect(() => stage({}, bent(print, longer))).toThrow(/_lifetime must be at most/)
})

test('[LIF-2] response, introspection and guard agree on the end of an access token', async () => {
  const { flow, clock } = stage({ lifetimes: { accessToken: 90 } })
  const { accessToken, expiresIn } = await flow.tokens(print)
  expect(expiresIn).toBe(90)
  const { exp } = (await flow.introspect(print, accessToken)).body
  expect(exp).toBe(Math.floor(clock.read() / 1000) + 90)
  clock.advance(89)
  expect((await flow.photos(accessToken)).status).toBe(200)
  clock.advance(1)
  expect((await flow.photos(accessToken)).status).toBe(401)
  expect((await flow.introspect(print, accessToken)).body).toEqual({ active: false })
})

test('[LIF-3] a refresh token that is not used expires, counted anew from each refresh [refresh-15]', async () => {
  const { flow, clock } = stage({ lifetimes: { refreshToken: hour } })
  const { refreshToken } = await flow.tokens(print)
  clock.advance(hour - 1)
  const next = tokensOf(await flow.refresh(print, refreshToken)).refreshToken
  clock.advance(hour)
  expect(refusalOf(await flow.refresh(print, next))).toBe('400 invalid_grant')
})

test('[LIF-4] a grant with an absolute end passes it by no refresh, and no token outlives it', async () => {
  const { flow, clock } = stage({ lifetimes: { grant: 2 * hour + 600 } })
  let { refreshToken } = await flow.tokens(print)
  for (const expected of [hour, 600]) {
    clock.advance(hour)
    const pair = tokensOf(await flow.refresh(print, refreshToken))
    expect(pair.expiresIn).toBe(expected)
    refreshToken = pair.refreshToken
  }
  clock.advance(600)
  expect(refusalOf(await flow.refresh(print, refreshToken))).toBe('400 invalid_grant')
})

test('[LIF-4] the absolute end counts from the approval, and a client may have an earlier one', async () => {
  const { flow, clock } = stage({ lifetimes: { grant: hour } }, bent(print, { grant_lifetime: 600 }))
  const code = await flow.approve(print)
  clock.advance(40)
  expect(tokensOf(await flow.redeem(print, code)).expiresIn).toBe(560)
})

test('[LIF-5] refresh_token_expires_in is absent, unless the host switches it on', async () => {
  const { flow } = stage()
  const { body } = await flow.redeem(print, await flow.approve(print))
  expect(body).not.toHaveProperty('refresh_token_expires_in')
})

test('[LIF-5] refresh_token_expires_in names the nearer end of refresh token and grant', async () => {
  const { flow, clock } = stage({
    lifetimes: { refreshToken: 1000, grant: 1500 },
    refreshTokenExpiresIn: true,
  })
  const first = (await flow.redeem(print, await flow.approve(print))).body
  clock.advance(900)
  const second = (await flow.refresh(print, first.refresh_token)).body
  expect([first.refresh_token_expires_in, second.refresh_token_expires_in]).toEqual([1000, 600])
  clock.advance(600)
  expect(refusalOf(await flow.refresh(print, second.refresh_token))).toBe('400 invalid_grant')
})

test('[LIF-5] a response without a refresh token has no refresh_token_expires_in', async () => {
  const { flow } = stage({ refreshTokenExpiresIn: true }, nightlyReport)
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
  expect((await flow.request(nightlyReport, grant)).body).not.toHaveProperty('refresh_token_expires_in')
})
