import { deviceStage, television, toaster } from '../support/flows/device-stage'
import { outcomeOf } from '../support/flows/outcome'
import { signedFormat } from '../support/flows/signed-format'
import { tokensOf } from '../support/flows/tokens'

describe('a device', () => {
  test('gets the same signed token again, too', async () => {
    const signed = { name: 'signed', open: () => ({ accessTokenFormats: [signedFormat('signed')] }) }
    const { flow, pollLater, enter, decide } = await deviceStage(television, [signed])
    await decide(await enter(), 'approve')
    const [first, second] = [await pollLater(), await pollLater()]
    expect(first.body.access_token).toMatch(/^eyJ/)
    expect(second.body.access_token).toBe(first.body.access_token)
    expect((await flow.photos(second.body.access_token)).status).toBe(200)
  })

  test('without refresh tokens gets another access token if a response is lost', async () => {
    const { flow, pollLater, enter, decide } = await deviceStage(toaster)
    await decide(await enter(), 'approve')
    const [first, second] = [tokensOf(await pollLater()), tokensOf(await pollLater())]
    for (const { accessToken, refreshToken } of [first, second]) {
      expect((await flow.photos(accessToken)).status).toBe(200)
      expect(refreshToken).toBe('')
    }
  })

  test('hears a denial as often as it asks, until the request expires', async () => {
    const { pollLater, enter, decide, clock } = await deviceStage()
    const page = await enter()
    expect((await decide(page, 'deny')).text).toContain('no access')
    expect(outcomeOf(await pollLater())).toBe('400 access_denied')
    expect(outcomeOf(await pollLater())).toBe('400 access_denied')
    expect(outcomeOf(await decide(page, 'approve'))).toBe('page 400 invalid_request')
    clock.advance(600)
    expect(outcomeOf(await pollLater())).toBe('400 expired_token')
  })

  test('gets nothing after its request has expired, and its code can no longer be entered', async () => {
    const { pollLater, enter, clock } = await deviceStage()
    clock.advance(600)
    expect(outcomeOf(await enter())).toBe('page 400 invalid_request')
    expect(outcomeOf(await pollLater())).toBe('400 expired_token')
  })

  test('another client gets nothing with its code, and does not end its grant', async () => {
    const { pollLater, enter, decide } = await deviceStage()
    await decide(await enter(), 'approve')
    expect(outcomeOf(await pollLater(toaster))).toBe('400 invalid_grant')
    expect(outcomeOf(await pollLater())).toBe('tokens')
  })
})

describe('a device whose client was revoked', () => {
  const open = () => deviceStage(television, [], { authorizations: true })

  test('gets no tokens for an approval from before', async () => {
    const { oauth, enter, decide, pollLater, clock } = await open()
    await decide(await enter(), 'approve')
    clock.advance(10)
    await oauth.authorizations.revokeClient('television')
    expect(outcomeOf(await pollLater())).toBe('400 invalid_grant')
  })

  test('keeps none of its tokens, and no repeated poll brings them back', async () => {
    const { flow, oauth, enter, decide, poll, pollLater, clock } = await open()
    await decide(await enter(), 'approve')
    const { accessToken, refreshToken } = tokensOf(await pollLater())
    expect((await flow.photos(accessToken)).status).toBe(200)
    clock.advance(5)
    await oauth.authorizations.revokeClient('television')
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect(outcomeOf(await flow.refresh(television, refreshToken))).toBe('400 invalid_grant')
    expect(outcomeOf(await poll())).toBe('400 invalid_grant')
  })

  test('gets tokens for an approval from afterwards', async () => {
    const { flow, oauth, enter, decide, pollLater, clock } = await open()
    await oauth.authorizations.revokeClient('television')
    clock.advance(6)
    await decide(await enter(), 'approve')
    const { accessToken } = tokensOf(await pollLater())
    expect((await flow.photos(accessToken)).status).toBe(200)
  })
})

describe('the page of a device', () => {
  test('asks for a login first, which returns to the page with the code', async () => {
    const { flow, body } = await deviceStage()
    const login = await flow.open(`/device?user_code=${body.user_code}`)
    const back = new URL(String(login.get('Location')), 'http://localhost').searchParams.get('return_to')
    expect((await flow.open(String(back), 'alice')).text).toContain(`value="${body.user_code}"`)
  })

  test('belongs to one of two owners who enter the code at once, and to that owner alone', async () => {
    const { enter, decide, pollLater } = await deviceStage()
    const pages = await Promise.all([enter(undefined, 'alice'), enter(undefined, 'mallory')])
    const [won, lost] = pages.toSorted((one, other) => one.status - other.status)
    expect([won?.status, lost?.status]).toEqual([200, 400])
    const page = won ?? (await enter())
    const winner = page === pages[0] ? 'alice' : 'mallory'
    const other = winner === 'alice' ? 'mallory' : 'alice'
    expect(outcomeOf(await decide(page, 'approve', other))).toBe('page 400 invalid_request')
    expect(outcomeOf(await pollLater())).toBe('400 authorization_pending')
    expect((await decide(page, 'approve', winner)).status).toBe(200)
  })

  test('takes the same decision again, and no decision of another site or without a login', async () => {
    const { enter, decide, flow } = await deviceStage()
    const page = await enter()
    const foreign = await decide(page, 'approve', 'alice', { 'Sec-Fetch-Site': 'cross-site' })
    expect(outcomeOf(foreign)).toBe('page 400 invalid_request')
    expect(outcomeOf(await flow.submit('/device', { user_code: 'X' }))).toBe('page 400 invalid_request')
    expect((await decide(page, 'approve')).status).toBe(200)
    expect((await decide(page, 'approve')).status).toBe(200)
  })

  test('lets one owner guess ten codes', async () => {
    const { enter } = await deviceStage()
    for (let guess = 0; guess < 10; guess++) await enter('BBBBBBBB')
    expect((await enter()).text).toContain('Too many codes')
  })
})
