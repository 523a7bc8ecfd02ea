import { nightlyReport } from '../support/flows/clients'
import type { Stage } from '../support/flows/stores-of-run'
import { setStage } from '../support/flows/stage'
import { tokensOf } from '../support/flows/tokens'

const tokenFor = async ({ flow }: Stage, scope: string): Promise<string> =>
  tokensOf(await flow.request(nightlyReport, { grant_type: 'client_credentials', scope })).accessToken

test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])(
  '[RES-1] a token is taken from the Authorization header, under %s as under any case of it',
  async (scheme) => {
    const set = setStage()
    const Authorization = `${scheme} ${await tokenFor(set, 'photos:read')}`
    expect((await set.flow.open('/photos', undefined, { Authorization })).status).toBe(200)
  },
)

test('[RES-1] a token is taken under no other scheme, and from nowhere else', async () => {
  const set = setStage()
  const token = await tokenFor(set, 'photos:read')
  for (const Authorization of [`Basic ${token}`, `BearerX ${token}`, `MAC id="${token}"`])
    expect((await set.flow.open('/photos', undefined, { Authorization })).status).toBe(401)
  expect((await set.flow.open(`/photos?access_token=${token}`)).status).toBe(401)
})

test('[RES-2] a token that has expired, or has too little scope, is refused', async () => {
  const set = setStage()
  const [good, other] = [await tokenFor(set, 'photos:read'), await tokenFor(set, 'reports:write')]
  expect((await set.flow.photos(other)).status).toBe(403)
  set.clock.advance(3599)
  expect((await set.flow.photos(good)).status).toBe(200)
  set.clock.advance(1)
  expect((await set.flow.photos(good)).status).toBe(401)
})

test.each([
  ['invalid_token', 'Bearer x'],
  ['invalid_request', 'Bearer a b'],
])('[RES-3] the challenge names the error and the scope that is needed: %s', async (error, Authorization) => {
  const response = await setStage().flow.open('/photos', undefined, { Authorization })
  expect(response.get('WWW-Authenticate')).toMatch(
    new RegExp(`^Bearer realm="oauth", scope="photos:read", error="${error}", error_description="[^"]+"$`),
  )
})

test('[RES-3] the challenge for insufficient scope names the scope that is needed', async () => {
  const set = setStage()
  const response = await set.flow.photos(await tokenFor(set, 'reports:write'))
  expect(response.get('WWW-Authenticate')).toMatch(/scope="photos:read", error="insufficient_scope"/)
})

test('[RES-3] the challenge for a request without a token names no error', async () => {
  const response = await setStage().flow.open('/photos')
  expect(response.get('WWW-Authenticate')).toBe('Bearer realm="oauth", scope="photos:read"')
})
