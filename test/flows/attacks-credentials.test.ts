import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { errorPageOf } from '../support/flows/error-page'
import { application } from '../support/flows/application'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'

test('a credential is worth nothing in the place of another, under no prefix [token-7]', async () => {
  const { flow } = setStage()
  const page = await flow.ask(authorizationRequest(photoBook), 'alice')
  const [consentToken = ''] = Object.values(consentFormOf(page, '/authorize').fields)
  const code = await flow.approve(photoBook)
  const { accessToken, refreshToken } = await flow.tokens(photoBook)
  const all = { consentToken, code, accessToken, refreshToken }
  expect(Object.values(all).every((credential) => /^[a-z]{2}_/.test(credential))).toBe(true)
  // As it is, behind the prefix of the place, and behind prefix and identifier of what belongs there.
  const guises = (own: string) =>
    Object.values(all).flatMap((credential) =>
      credential === own
        ? []
        : [credential, own.slice(0, 3) + credential.slice(3), own.slice(0, 25) + credential.slice(25)],
    )
  for (const guise of guises(accessToken)) expect((await flow.photos(guise)).status).toBe(401)
  for (const guise of guises(code))
    expect(refusalOf(await flow.redeem(photoBook, guise))).toBe('400 invalid_grant')
  for (const guise of guises(refreshToken))
    expect(refusalOf(await flow.refresh(photoBook, guise))).toBe('400 invalid_grant')
  for (const guise of guises(consentToken)) {
    const { action, fields } = consentFormOf(page, '/authorize')
    const forged = Object.fromEntries(Object.keys(fields).map((name) => [name, guise]))
    const response = await flow.submit(action, { ...forged, decision: 'approve' }, 'alice')
    expect(errorPageOf(response)).toMatch(/^400 /)
  }
  // The victim notices nothing of it.
  expect((await flow.photos(accessToken)).status).toBe(200)
  tokensOf(await flow.refresh(photoBook, refreshToken))
  tokensOf(await flow.redeem(photoBook, code))
  expect((await flow.decide(page, 'approve', 'alice')).status).toBe(303)
})

test('a client cannot widen at the token endpoint what the owner approved [token-9]', async () => {
  const { flow } = setStage()
  const wide = { scope: 'photos:read photos:print' }
  const code = await flow.approve(photoBook, { scope: 'photos:read' })
  const tokens = tokensOf(await flow.redeem(photoBook, code, wide))
  expect(tokens.scope).toBe('photos:read')
  expect((await flow.photos(tokens.accessToken)).body).toMatchObject({ scope: ['photos:read'] })
  expect(refusalOf(await flow.refresh(photoBook, tokens.refreshToken, wide))).toBe('400 invalid_scope')
})

test('a client that is named like an owner is not taken for that owner [token-19]', async () => {
  const alice = bent(nightlyReport, { client_id: 'alice' })
  const clients = [alice.registration, photoPrint.registration]
  const { flow } = setStage({ clients })
  const { accessToken } = tokensOf(
    await flow.request(alice, { grant_type: 'client_credentials', scope: 'photos:read' }),
  )
  const { body } = await flow.photos(accessToken)
  expect(body).toMatchObject({ clientId: 'alice' })
  expect(body).not.toHaveProperty('subject')
})

describeOnStores('A process that starts later', (stage) => {
  // Keycloak took a rotated refresh token again after a restart (CVE-2026-9802).
  test('still knows a refresh token that was rotated before it started, and ends what a thief would get [refresh-4]', async () => {
    const { flow, store, clock } = stage()
    const first = await flow.tokens(photoBook)
    const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
    clock.advance(31)
    const later = application({ store, clock: clock.read, storeDeadline: 10 })
    expect(refusalOf(await later.flow.refresh(photoBook, first.refreshToken))).toBe('400 invalid_grant')
    expect((await later.flow.photos(second.accessToken)).status).toBe(401)
    expect(refusalOf(await flow.refresh(photoBook, second.refreshToken))).toBe('400 invalid_grant')
  })
})
