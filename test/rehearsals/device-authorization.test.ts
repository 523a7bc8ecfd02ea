import type { Response } from 'supertest'
import { generateKeyPairSync } from 'node:crypto'
import { memoryCounters, type PlugIn } from 'express-authorization-server'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { outcomeOf } from '../support/flows/outcome'
import { Clock } from '../support/flows/clock'
import { setStage } from '../support/flows/stage'
import { tokensOf } from '../support/flows/tokens'
import { deviceAuthorization, deviceCode } from './device-authorization'
import { signedAccessTokens, signerWith } from './signed-access-tokens'

const television = bent(photoBook, {
  client_id: 'television',
  redirect_uris: [],
  response_types: [],
  grant_types: [deviceCode, 'refresh_token'],
})
const toaster = bent(television, { client_id: 'toaster', grant_types: [deviceCode] })
const clients = [television, toaster, photoPrint].map(({ registration }) => registration)

/** A device that shows a code, and its owner at a browser. */
async function stage(device = television, others: readonly PlugIn[] = []) {
  const clock = new Clock()
  const counters = memoryCounters({ clock: clock.read })
  const { flow } = setStage({
    plugIns: [deviceAuthorization, ...others],
    clients,
    counters,
    clock: clock.read,
  })
  const { body } = await flow.request(device, { scope: 'photos:read' }, '/device_authorization')
  const poll = (client = device, bend = {}) =>
    flow.request(client, { grant_type: deviceCode, device_code: body.device_code, ...bend })
  /** A poll after the interval. */
  const pollLater = (...given: Parameters<typeof poll>) => {
    clock.advance(5)
    return poll(...given)
  }
  const enter = (user_code: string = body.user_code, owner = 'alice') =>
    flow.submit('/device', { user_code }, owner)
  const fieldsOf = (page: Response, decision: string) => {
    const [, consent_token] = /name="consent_token" value="([^"]+)"/.exec(page.text) ?? []
    return { consent_token, decision }
  }
  const decide = async (page: Response, decision: string, owner = 'alice', headers = {}) =>
    flow.submit('/device', fieldsOf(page, decision), owner, headers)
  return { flow, clock, body, poll, pollLater, enter, decide }
}

describe('a device', () => {
  test('gets its tokens by polls while its owner decides on a page', async () => {
    const { flow, body, poll, pollLater, enter, decide } = await stage()
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
    const { flow, pollLater, enter, decide, clock } = await stage()
    await decide(await enter(), 'approve')
    const first = tokensOf(await pollLater())
    const { accessToken, refreshToken } = tokensOf(await pollLater())
    expect([accessToken, refreshToken]).toEqual([first.accessToken, first.refreshToken])
    clock.advance(30)
    expect(outcomeOf(await pollLater())).toBe('400 invalid_grant')
    expect((await flow.photos(first.accessToken)).status).toBe(401)
  })

  test('gets the same signed token again, too', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const signed = signedAccessTokens(publicKey, signerWith(privateKey))
    const { flow, pollLater, enter, decide } = await stage(television, [signed])
    await decide(await enter(), 'approve')
    const payloadOf = ({ body }: Response) => String(body.access_token).split('.')[1]
    const [first, second] = [await pollLater(), await pollLater()]
    expect(payloadOf(first)).toMatch(/^eyJ/)
    expect(payloadOf(second)).toBe(payloadOf(first))
    expect((await flow.photos(second.body.access_token)).status).toBe(200)
  })

  test('without refresh tokens gets another access token if a response is lost', async () => {
    const { flow, pollLater, enter, decide } = await stage(toaster)
    await decide(await enter(), 'approve')
    const [first, second] = [tokensOf(await pollLater()), tokensOf(await pollLater())]
    for (const { accessToken, refreshToken } of [first, second]) {
      expect((await flow.photos(accessToken)).status).toBe(200)
      expect(refreshToken).toBe('')
    }
  })

  test('hears a denial as often as it asks, until the request expires', async () => {
    const { pollLater, enter, decide, clock } = await stage()
    const page = await enter()
    expect((await decide(page, 'deny')).text).toContain('no access')
    expect(outcomeOf(await pollLater())).toBe('400 access_denied')
    expect(outcomeOf(await pollLater())).toBe('400 access_denied')
    expect(outcomeOf(await decide(page, 'approve'))).toBe('page 400 invalid_request')
    clock.advance(600)
    expect(outcomeOf(await pollLater())).toBe('400 expired_token')
  })

  test('gets nothing after its request has expired, and its code can no longer be entered', async () => {
    const { pollLater, enter, clock } = await stage()
    clock.advance(600)
    expect(outcomeOf(await enter())).toBe('page 400 invalid_request')
    expect(outcomeOf(await pollLater())).toBe('400 expired_token')
  })

  test('another client gets nothing with its code, and does not end its grant', async () => {
    const { pollLater, enter, decide } = await stage()
    await decide(await enter(), 'approve')
    expect(outcomeOf(await pollLater(toaster))).toBe('400 invalid_grant')
    expect(outcomeOf(await pollLater())).toBe('tokens')
  })
})

describe('the page of a device', () => {
  test('asks for a login first, which returns to the page with the code', async () => {
    const { flow, body } = await stage()
    const login = await flow.open(`/device?user_code=${body.user_code}`)
    const back = new URL(String(login.get('Location')), 'http://localhost').searchParams.get('return_to')
    expect((await flow.open(String(back), 'alice')).text).toContain(`value="${body.user_code}"`)
  })

  test('belongs to one of two owners who enter the code at once, and to that owner alone', async () => {
    const { enter, decide, pollLater } = await stage()
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
    const { enter, decide, flow } = await stage()
    const page = await enter()
    const foreign = await decide(page, 'approve', 'alice', { 'Sec-Fetch-Site': 'cross-site' })
    expect(outcomeOf(foreign)).toBe('page 400 invalid_request')
    expect(outcomeOf(await flow.submit('/device', { user_code: 'X' }))).toBe('page 400 invalid_request')
    expect((await decide(page, 'approve')).status).toBe(200)
    expect((await decide(page, 'approve')).status).toBe(200)
  })

  test('lets one owner guess ten codes', async () => {
    const { enter } = await stage()
    for (let guess = 0; guess < 10; guess++) await enter('BBBBBBBB')
    expect((await enter()).text).toContain('Too many codes')
  })
})
