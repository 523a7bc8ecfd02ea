import { hashSync } from 'bcrypt'
import type { Response } from 'supertest'
import { memoryStore, type StoredValue } from '../../lib/index'
import { bent, everyClient, nightlyReport, photoBook, photoFrame } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { expectUncachedJson, tokensOf } from '../support/flows/tokens'

const report = bent(nightlyReport, { may_introspect: true })
const frame = bent(photoFrame, { may_introspect: true })
const stage = () => setStage({ clients: [photoBook, report, frame].map(({ registration }) => registration) })

function answerOf(response: Response): unknown {
  expect(response.status).toBe(200)
  expectUncachedJson(response)
  return JSON.parse(response.text)
}

test('[INT-1] only a confidential client that is registered for it may ask, once it is authenticated [revocation-7]', async () => {
  const { flow } = setStage()
  const { accessToken } = await flow.tokens(photoBook)
  for (const client of everyClient)
    expect(outcomeOf(await flow.introspect(client, accessToken))).toBe('400 unauthorized_client')
  const { registration } = report
  for (const client of [{ registration }, { registration, secret: 'guess' }])
    expect(outcomeOf(await stage().flow.introspect(client, accessToken))).toBe('401 invalid_client')
})

test('[INT-2] a good access token of any client is active, with all that it stands for and no null [implicit-7]', async () => {
  const { flow, clock } = stage()
  for (const client of [photoBook, frame]) {
    const exp = Math.floor(clock.read() / 1000) + 3600
    const { accessToken } = await flow.tokens(client, { scope: 'photos:read' })
    expect(answerOf(await flow.introspect(report, accessToken))).toEqual({
      active: true,
      scope: 'photos:read',
      client_id: client.registration.client_id,
      token_type: 'bearer',
      exp,
      sub: 'alice',
      iss: 'http://localhost',
    })
  }
})

test('[INT-3] a client that acts for itself is its own subject', async () => {
  const { flow } = stage()
  const grant = { grant_type: 'client_credentials', scope: 'reports:write' }
  const { accessToken } = tokensOf(await flow.request(report, grant))
  const own = { active: true, sub: 'nightly-report', client_id: 'nightly-report' }
  expect(answerOf(await flow.introspect(frame, accessToken))).toMatchObject(own)
})

test('[INT-4] of everything else nothing is said but that it is not active [revocation-9]', async () => {
  const { flow, clock } = stage()
  const tokens = await flow.tokens(photoBook)
  const revoked = await flow.tokens(photoBook)
  await flow.revoke(photoBook, revoked.refreshToken)
  const forged = `${tokens.accessToken.slice(0, 25)}${'A'.repeat(43)}`
  for (const token of ['x', '世界', forged, await flow.approve(photoBook), revoked.accessToken])
    expect(answerOf(await flow.introspect(report, token))).toEqual({ active: false })
  clock.advance(3600)
  expect(answerOf(await flow.introspect(report, tokens.accessToken))).toEqual({ active: false })
})

test('[INT-4] a removed token is not active, whatever a cache still holds, which guards alone trust', async () => {
  const plain = memoryStore()
  let cached: StoredValue | undefined
  const store = Object.assign(plain, { peek: () => cached })
  const { flow } = setStage({ clients: [photoBook, report].map(({ registration }) => registration), store })
  const { accessToken } = await flow.tokens(photoBook)
  const key = `authorization:${accessToken.slice(3, 25)}`
  cached = await plain.read(key)
  await plain.remove(key)
  expect((await flow.photos(accessToken)).status).toBe(200)
  expect(answerOf(await flow.introspect(report, accessToken))).toEqual({ active: false })
})

test('[INT-5] a refresh token is active for its client alone, and called so [revocation-10]', async () => {
  const { flow } = stage()
  const { refreshToken } = await flow.tokens(frame)
  const own = { active: true, client_id: 'photo-frame', sub: 'alice', token_use: 'refresh_token' }
  expect(answerOf(await flow.introspect(frame, refreshToken))).toMatchObject(own)
  for (const [token_type_hint, answer] of [
    ['refresh_token', own],
    ['access_token', { active: false }],
  ] as const)
    expect(answerOf(await flow.introspect(frame, refreshToken, { token_type_hint }))).toMatchObject(answer)
  expect(answerOf(await flow.introspect(report, refreshToken))).toEqual({ active: false })
})

test('[INT-6] the token is required, in the body, and a hint changes nothing about an access token [revocation-11]', async () => {
  const { flow } = stage()
  const { accessToken } = await flow.tokens(photoBook)
  expect(outcomeOf(await flow.introspect(report, ''))).toBe('400 invalid_request')
  const inQuery = await flow.request(report, {}, `/introspect?token=${accessToken}`)
  expect(outcomeOf(inQuery)).toBe('400 invalid_request')
  for (const token_type_hint of ['access_token', 'refresh_token', 'pickle', ''])
    expect(answerOf(await flow.introspect(report, accessToken, { token_type_hint }))).toMatchObject({
      active: true,
    })
})

test('[INT-7] a public client cannot be registered for it [revocation-8]', () => {
  const { registration } = bent(photoBook, { may_introspect: true })
  expect(() => setStage({ clients: [registration] })).toThrow('clients[0].may_introspect')
})

// RFC 7662 2.1 to 2.3: the values are those of the examples.
test('[INT-1, INT-4, INT-6] the examples of RFC 7662 get the answers of the examples', async () => {
  const client_secret_hashes = [hashSync('gX1fBat3bV', 4)]
  const client = bent(report, { client_id: 's6BhdRkqt3', client_secret_hashes })
  const { flow } = setStage({ clients: [photoBook, client].map(({ registration }) => registration) })
  const ask = (token: string, Authorization = 'Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW') =>
    flow.submit('/introspect', `token=${token}&token_type_hint=access_token`, undefined, { Authorization })
  expect(answerOf(await ask('mF_9.B5f-4.1JqM'))).toEqual({ active: false })
  expect(answerOf(await ask((await flow.tokens(photoBook)).accessToken))).toMatchObject({
    active: true,
    client_id: 'photo-book',
    scope: 'photos:read photos:print',
    sub: 'alice',
    iss: 'http://localhost',
  })
  const wrong = `Basic ${Buffer.from('s6BhdRkqt3:guess').toString('base64')}`
  expect(outcomeOf(await ask('mF_9.B5f-4.1JqM', wrong))).toBe('401 invalid_client')
})
