import { outcomeOf } from '../support/flows/outcome'
import { deviceStage, television } from '../support/flows/device-stage'
import { tokensOf } from '../support/flows/tokens'

describe('a device', () => {
  test('gets its tokens by polls while its owner decides on a page', async () => {
    const { flow, body, poll, pollLater, enter, decide } = await deviceStage()
    expect(body).toEqual({
      device_code: expect.stringMatching(/^rh_/),
      user_code: expect.stringMatching(/^[B-Z]{8}$/),
      verification_uri: 'http://localhost/device',
      expires_in: 600,
      interval: 5,
    })
    expect(outcomeOf(await poll())).toBe('400 authorization_pending')
    expect(outcomeOf(await poll())).toBe('400 slow_down')
    const page = await enter(`${body.user_code.slice(0, 4).toLowerCase()}-${body.user_code.slice(4)}`)
    expect(outcomeOf(await pollLater())).toBe('400 authorization_pending')
    const done = await decide(page, 'approve')
    expect(done.text).toContain('Go back to your device')
    const { accessToken, refreshToken } = tokensOf(await pollLater())
    expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'alice', clientId: 'television' })
    expect(outcomeOf(await flow.refresh(television, refreshToken))).toBe('tokens')
  })

  test('gets the same tokens again if a response is lost, and ends its grant with a late poll', async () => {
    const { flow, pollLater, enter, decide, clock } = await deviceStage()
    await decide(await enter(), 'approve')
    const first = tokensOf(await pollLater())
    const { accessToken, refreshToken } = tokensOf(await pollLater())
    expect([accessToken, refreshToken]).toEqual([first.accessToken, first.refreshToken])
    clock.advance(30)
    expect(outcomeOf(await pollLater())).toBe('400 invalid_grant')
    expect((await flow.photos(first.accessToken)).status).toBe(401)
  })
})
