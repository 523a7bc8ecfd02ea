import type { Response } from 'supertest'
import { photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'
import { codeOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'

const asked = authorizationRequest(photoBook)

// Doorkeeper passed a public client that was approved once, without authentication (CVE-2023-34246).
test.each([photoBook, photoPrint])(
  'who was approved before is asked for again: $registration.client_id [consent-6]',
  async (client) => {
    const { flow } = setStage()
    await flow.tokens(client)
    const silent = await flow.ask({ ...authorizationRequest(client), prompt: 'none' }, 'alice')
    expect(outcomeOf(silent)).toBe('redirect consent_required')
    const again = await flow.ask(authorizationRequest(client), 'alice')
    expect(again.status).toBe(200)
    expect(again.headers).not.toHaveProperty('location')
    expect(consentFormOf(again, '/authorize').fields).not.toHaveProperty('decision')
  },
)

// better-auth believed a name in the body without a login (CVE-2025-61928).
test.each(['subject', 'sub', 'user_id', 'owner', 'resource_owner', 'login_hint', 'id_token_hint'])(
  'a request cannot say by %s who the owner is [consent-7]',
  async (name) => {
    const { flow } = setStage()
    const claim = { [name]: 'alice' }
    const nobody = await flow.ask({ ...asked, ...claim })
    expect(nobody.get('Location')).toMatch(/^\/login\?return_to=/)
    const page = await flow.ask({ ...asked, ...claim }, 'mallory')
    const { action, fields } = consentFormOf(page, '/authorize')
    const code = codeOf(await flow.submit(action, { ...fields, ...claim, decision: 'approve' }, 'mallory'))
    const { accessToken } = tokensOf(await flow.redeem(photoBook, code, claim))
    expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'mallory' })
  },
)

// dex gave the code to every holder of the id of the request (CVE-2022-39222).
test('the consent token of a page gives its code to its owner alone, and no longer once it is redeemed [consent-5]', async () => {
  const { flow } = setStage()
  const page = await flow.ask(asked, 'alice')
  const { action, fields } = consentFormOf(page, '/authorize')
  const stolen = { ...fields, decision: 'approve' }
  const thief = async () => [
    await flow.submit(action, stolen, 'mallory'),
    await flow.submit(action, stolen),
    await flow.open(`/authorize?${formOf(stolen)}`, 'mallory'),
  ]
  for (const response of await thief()) expect(errorPageOf(response)).toMatch(/^400 /)
  const code = codeOf(await flow.decide(page, 'approve', 'alice'))
  for (const response of await thief()) {
    expect(errorPageOf(response)).toMatch(/^400 /)
    expect(response.text).not.toContain(code)
  }
  tokensOf(await flow.redeem(photoBook, code))
  for (const response of await thief()) expect(errorPageOf(response)).toMatch(/^400 /)
  const late = await flow.submit(action, stolen, 'alice')
  expect(late.get('Location')).toBeUndefined()
  expect(late.text).not.toContain(code)
})

// Keycloak put a request into a cookie in clear (CVE-2024-4540); Passport kept a session over a login (CVE-2022-25896).
test('no answer sets a cookie: nothing of a request lies in the browser, and no session is touched [consent-31]', async () => {
  const { flow } = setStage()
  const answers: Response[] = [await flow.ask(asked), await flow.ask(asked, 'alice')]
  for (const decision of ['approve', 'deny'])
    answers.push(await flow.decide(await flow.ask(asked, 'alice'), decision, 'alice'))
  for (const client of [photoBook, photoPrint, photoFrame]) {
    const response = await flow.redeem(client, await flow.approve(client))
    const { accessToken, refreshToken } = tokensOf(response)
    answers.push(response, await flow.refresh(client, refreshToken), await flow.photos(accessToken))
    answers.push(await flow.revoke(client, refreshToken), await flow.photos(accessToken))
  }
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 303, 401]))
  for (const { headers } of answers) expect(headers).not.toHaveProperty('set-cookie')
})
