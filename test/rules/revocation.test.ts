import type { Response } from 'supertest'
import { nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { expectUncachedJson, tokensOf } from '../support/flows/tokens'
import { altered } from '../support/altered'

const answerOf = ({ status, text }: Response): string => `${status} ${text}`
const done = '200 {}'

test.each([
  ['[REV-1] a refresh token', 'refreshToken'],
  ['[REV-2] an access token', 'accessToken'],
] as const)(
  '%s ends its whole authorization, and no other one of the client [revocation-3]',
  async (_, which) => {
    const { flow } = setStage()
    const [tokens, other] = [await flow.tokens(photoPrint), await flow.tokens(photoPrint)]
    const later = tokensOf(await flow.refresh(photoPrint, tokens.refreshToken))
    const revoked = { ...later, accessToken: tokens.accessToken }
    expect(answerOf(await flow.revoke(photoPrint, revoked[which]))).toBe(done)
    for (const accessToken of [tokens.accessToken, later.accessToken])
      expect((await flow.photos(accessToken)).status).toBe(401)
    expect(outcomeOf(await flow.refresh(photoPrint, later.refreshToken))).toBe('400 invalid_grant')
    expect((await flow.photos(other.accessToken)).status).toBe(200)
  },
)

test('[REV-3] a token of another client, an unknown or a malformed one revokes nothing and looks like a success [revocation-1]', async () => {
  const { flow } = setStage()
  const { accessToken, refreshToken } = await flow.tokens(photoPrint)
  const strangers = [accessToken, refreshToken, `at_${'A'.repeat(65)}`, `rt_${'A'.repeat(82)}`, 'x', '世界']
  for (const client of [photoBook, nightlyReport])
    for (const token of strangers) expect(answerOf(await flow.revoke(client, token))).toBe(done)
  expect((await flow.photos(accessToken)).status).toBe(200)
  expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('tokens')
})

test('[REV-4] garbage that carries a known id revokes nothing, an old genuine refresh token does [refresh-8]', async () => {
  const { flow } = setStage()
  const { accessToken, refreshToken } = await flow.tokens(photoPrint)
  const id = accessToken.slice(3, 25)
  for (const token of [`at_${id}${'A'.repeat(42)}`, `rt_${id}${'A'.repeat(58)}`, altered(accessToken)])
    expect(answerOf(await flow.revoke(photoPrint, token))).toBe(done)
  expect((await flow.photos(accessToken)).status).toBe(200)
  const later = tokensOf(await flow.refresh(photoPrint, refreshToken))
  expect(answerOf(await flow.revoke(photoPrint, refreshToken))).toBe(done)
  expect((await flow.photos(later.accessToken)).status).toBe(401)
})

test('[REV-5] the response is 200 with {}, as JSON that is not cached', async () => {
  const { flow } = setStage()
  const { accessToken } = await flow.tokens(photoBook)
  for (const token of [accessToken, 'x']) {
    const response = await flow.revoke(photoBook, token)
    expectUncachedJson(response)
    expect(answerOf(response)).toBe(done)
  }
})

test('[REV-6] clients authenticate as at the token endpoint, and are refused as there [revocation-2]', async () => {
  const { flow } = setStage()
  const { accessToken: token } = await flow.tokens(photoPrint)
  const { client_id } = photoPrint.registration
  const wrong = await flow.revoke({ ...photoPrint, secret: 'guess' }, token)
  expect(outcomeOf(wrong)).toBe('401 invalid_client')
  expect(wrong.get('WWW-Authenticate')).toMatch(/^Basic /)
  expect(outcomeOf(await flow.submit('/revoke', { token, client_id }))).toBe('401 invalid_client')
  expect(outcomeOf(await flow.submit('/revoke', { token }))).toBe('401 invalid_client')
  expect((await flow.photos(token)).status).toBe(200)
  const named = await flow.submit('/revoke', { token, client_id, client_secret: photoPrint.secret })
  expect(answerOf(named)).toBe(done)
  expect((await flow.photos(token)).status).toBe(401)
  const { accessToken: other } = await flow.tokens(photoBook)
  expect(answerOf(await flow.submit('/revoke', { token: other, client_id: 'photo-book' }))).toBe(done)
  expect((await flow.photos(other)).status).toBe(401)
})

test('[REV-7] the token comes in the body, once', async () => {
  const { flow } = setStage()
  const { accessToken: token } = await flow.tokens(photoBook)
  const client = 'client_id=photo-book'
  for (const form of [client, `${client}&token=`, `${client}&token=${token}&token=${token}`])
    expect(outcomeOf(await flow.submit('/revoke', form))).toBe('400 invalid_request')
  expect(outcomeOf(await flow.submit(`/revoke?token=${token}`, client))).toBe('400 invalid_request')
  expect((await flow.photos(token)).status).toBe(200)
})

test.each(['access_token', 'refresh_token', 'pickle', ''])(
  '[REV-7] the hint %p changes nothing',
  async (token_type_hint) => {
    const { flow } = setStage()
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    expect(answerOf(await flow.revoke(photoBook, refreshToken, { token_type_hint }))).toBe(done)
    expect((await flow.photos(accessToken)).status).toBe(401)
  },
)
