import type { Response } from 'supertest'
import { nightlyReport, photoFrame, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { tokensOf } from '../support/flows/tokens'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const ask = (): Promise<Response> => setStage().flow.request(nightlyReport, grant)

test('[RSP-1] tokens come with status 200, as JSON in UTF-8, each parameter at the top', async () => {
  const { flow } = setStage()
  const response = await flow.redeem(photoPrint, await flow.approve(photoPrint))
  expect(response.status).toBe(200)
  expect(response.get('Content-Type')).toBe('application/json; charset=utf-8')
  const values: readonly unknown[] = Object.values(response.body)
  for (const value of values) expect(['string', 'number']).toContain(typeof value)
})

test('[RSP-2] an access token and its type are always there', async () => {
  expect((await ask()).body).toMatchObject({
    access_token: expect.stringMatching(/./),
    token_type: expect.stringMatching(/./),
  })
})

test('[RSP-3] the lifetime is a number of seconds that counts from the response', async () => {
  const { flow, clock } = setStage({ lifetimes: { accessToken: 100 } })
  const code = await flow.approve(photoPrint)
  clock.advance(30)
  const { body } = await flow.redeem(photoPrint, code)
  expect(body.expires_in).toBe(100)
  clock.advance(99)
  expect((await flow.photos(body.access_token)).status).toBe(200)
  clock.advance(1)
  expect((await flow.photos(body.access_token)).status).toBe(401)
})

test('[RSP-4] a scope that differs from the request is named', async () => {
  const { flow } = setStage({ defaultScope: 'photos:read photos:print' })
  expect((await flow.tokens(photoFrame, { scope: undefined })).scope).toBe('photos:read')
  const { body } = await flow.request(nightlyReport, { grant_type: 'client_credentials' })
  expect(body.scope).toBe('photos:read')
})

test('[RSP-5] no cache keeps tokens, nor what refuses them, nor codes, nor a page with a handle [code-20]', async () => {
  const { flow } = setStage()
  const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
  const approval = await flow.decide(page, 'approve', 'alice')
  const code = await flow.approve(photoPrint)
  const tokens = await flow.redeem(photoPrint, code)
  const { refreshToken } = tokensOf(tokens)
  for (const response of [
    page,
    approval,
    tokens,
    await flow.refresh(photoPrint, refreshToken),
    await flow.redeem(photoPrint, code),
    await flow.refresh(photoPrint, 'x'),
    await flow.request({ ...nightlyReport, secret: 'guess' }, grant),
    await flow.ask({}, 'alice'),
    await flow.ask({ ...authorizationRequest(photoPrint), scope: 'unheard-of' }, 'alice'),
    await flow.ask(authorizationRequest(photoPrint)),
    await flow.photos('x'),
  ])
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
})
