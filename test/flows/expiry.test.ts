import { photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { codeOf } from '../support/flows/redirection'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const days = 24 * 3600

describeOnStores('By the clock', (stage) => {
  const asked = authorizationRequest(photoPrint)

  test('a consent page may be looked at for ten minutes', async () => {
    const { flow, clock } = stage()
    const [one, other] = [await flow.ask(asked, 'alice'), await flow.ask(asked, 'alice')]
    clock.advance(599)
    codeOf(await flow.decide(one, 'approve', 'alice'))
    clock.advance(1)
    expect(errorPageOf(await flow.decide(other, 'approve', 'alice'))).toBe('400 invalid_request')
  })

  test('a code lives for one minute from its approval', async () => {
    const { flow, clock } = stage()
    const page = await flow.ask(asked, 'alice')
    clock.advance(300)
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    const late = await flow.approve(photoPrint)
    clock.advance(59)
    tokensOf(await flow.redeem(photoPrint, code))
    clock.advance(1)
    expect(refusalOf(await flow.redeem(photoPrint, late))).toBe('400 invalid_grant')
  })

  test('an access token lives for an hour, which its answer says [token-18]', async () => {
    const { flow, clock } = stage()
    const { accessToken, expiresIn } = await flow.tokens(photoPrint)
    expect(expiresIn).toBe(3600)
    clock.advance(3599)
    expect((await flow.photos(accessToken)).status).toBe(200)
    clock.advance(1)
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('an access token is good until its own end, whatever comes of a refresh', async () => {
    const { flow, clock } = stage()
    const first = await flow.tokens(photoPrint)
    clock.advance(1800)
    const second = tokensOf(await flow.refresh(photoPrint, first.refreshToken))
    clock.advance(1799)
    expect((await flow.photos(first.accessToken)).status).toBe(200)
    clock.advance(1)
    expect((await flow.photos(first.accessToken)).status).toBe(401)
    expect((await flow.photos(second.accessToken)).status).toBe(200)
    clock.advance(1800)
    expect((await flow.photos(second.accessToken)).status).toBe(401)
  })

  test('a refresh token lives for thirty days, counted anew from each refresh [refresh-15]', async () => {
    const { flow, clock } = stage()
    const first = await flow.tokens(photoBook)
    clock.advance(30 * days - 1)
    const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
    clock.advance(30 * days - 1)
    const third = tokensOf(await flow.refresh(photoBook, second.refreshToken))
    clock.advance(30 * days)
    expect(refusalOf(await flow.refresh(photoBook, third.refreshToken))).toBe('400 invalid_grant')
  })

  test('each lifetime is as configured', async () => {
    const { flow, clock } = stage({
      authorizationRequestLifetime: 5,
      authorizationCodeLifetime: 10,
      accessTokenLifetime: 20,
      refreshTokenLifetime: 30,
    })
    const page = await flow.ask(asked, 'alice')
    clock.advance(5)
    expect(errorPageOf(await flow.decide(page, 'approve', 'alice'))).toBe('400 invalid_request')
    const code = await flow.approve(photoPrint)
    clock.advance(10)
    expect(refusalOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
    const { accessToken, refreshToken, expiresIn } = await flow.tokens(photoPrint)
    expect(expiresIn).toBe(20)
    clock.advance(20)
    expect((await flow.photos(accessToken)).status).toBe(401)
    clock.advance(10)
    expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
  })
})
