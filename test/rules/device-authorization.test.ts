import request from 'supertest'
import { basic, formOf } from '../support/flows/flow'
import { bent, photoPrint } from '../support/flows/clients'
import { deviceCode, deviceStage, television } from '../support/flows/device-stage'
import { outcomeOf } from '../support/flows/outcome'
import { tokensOf } from '../support/flows/tokens'
import { altered } from '../support/altered'

/** The client of the examples of RFC 8628. */
const example = bent(television, { client_id: '1406020730', scope: 'example_scope' })
const scopes = { example_scope: 'Do what examples do', 'photos:read': 'See', 'photos:print': 'Print' }
const openExample = () =>
  deviceStage(example, [], { clients: [example.registration], scopes }, { lifetime: 1800 })

const { registration, secret } = photoPrint
const kiosk = {
  registration: {
    ...registration,
    client_id: 'kiosk',
    redirect_uris: [],
    response_types: [],
    grant_types: [deviceCode],
  },
  secret,
}
const openKiosk = () => deviceStage(kiosk, [], { clients: [kiosk.registration] })

const post = (app: Parameters<typeof request>[0], path: string, body: string) =>
  request(app).post(path).set('Content-Type', 'application/x-www-form-urlencoded').send(body)

describe('the examples of RFC 8628', () => {
  test('[DEV-1, DEV-2, DEV-3] 3.1 and 3.2: the request gets such a response', async () => {
    const { app } = await openExample()
    const response = await post(app, '/device_authorization', 'client_id=1406020730&scope=example_scope')
    expect([response.status, response.type, response.get('Cache-Control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ])
    const { device_code, user_code } = response.body
    expect(response.body).toEqual({
      device_code: expect.stringMatching(/^[\x20-\x7E]{40,}$/),
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      verification_uri: 'http://localhost/device',
      verification_uri_complete: `http://localhost/device?user_code=${user_code}`,
      expires_in: 1800,
      interval: 5,
    })
    expect(device_code).not.toContain(user_code.replace('-', ''))
  })

  test('[DEV-7, DEV-9] 3.4 and 3.5: the poll gets authorization_pending, and tokens after the approval', async () => {
    const { app, body, enter, decide } = await openExample()
    const poll = () =>
      post(
        app,
        '/token',
        `grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=${body.device_code}&client_id=1406020730`,
      )
    expect((await poll()).body).toMatchObject({ error: 'authorization_pending' })
    await decide(await enter(), 'approve')
    expect((await poll()).body).toMatchObject({ token_type: 'bearer', scope: 'example_scope' })
  })
})

describe('the device authorization endpoint', () => {
  test('[DEV-1] takes a POST with a form, and nothing else', async () => {
    const { app } = await openExample()
    expect((await request(app).get('/device_authorization?client_id=1406020730')).status).toBe(405)
    const json = await request(app).post('/device_authorization').send({ client_id: '1406020730' })
    expect(outcomeOf(json)).toBe('400 invalid_request')
  })

  test('[DEV-4] authenticates a client as the token endpoint does, and takes the client_id of a public client', async () => {
    const { app, begin } = await openKiosk()
    expect((await begin({}, kiosk)).status).toBe(200)
    const open = await openExample()
    expect((await open.begin()).status).toBe(200)
    const wrong = await request(app)
      .post('/device_authorization')
      .set('Authorization', basic('kiosk', 'wrong'))
      .type('form')
      .send('')
    expect(outcomeOf(wrong)).toBe('401 invalid_client')
    expect(outcomeOf(await post(app, '/device_authorization', 'client_id=kiosk'))).toBe('401 invalid_client')
    expect(outcomeOf(await post(app, '/device_authorization', 'scope=photos:read'))).toBe(
      '401 invalid_client',
    )
  })

  test('[DEV-5] ignores a parameter without a value or unknown, and refuses a repeated one', async () => {
    const { app } = await openExample()
    const send = async (more: string) =>
      (await post(app, '/device_authorization', `client_id=1406020730&${more}`)).status
    expect(await send('scope=example_scope&resource=&colour=red&colour=green')).toBe(200)
    expect(await send('scope=example_scope&scope=example_scope')).toBe(400)
    expect(await send('client_id=1406020730')).toBe(400)
  })

  test.each([
    ['invalid_scope', { scope: 'photos:print' }],
    ['unauthorized_client', { client_id: 'photo-book' }],
    ['invalid_client', { client_id: 'nobody' }],
  ])('[DEV-6] refuses with %s in the form of RFC 6749 5.2', async (error, bend) => {
    const book = bent(television, {
      client_id: 'photo-book',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      redirect_uris: ['https://book.example/callback'],
    })
    const { app } = await deviceStage(example, [], {
      clients: [example.registration, book.registration],
      scopes,
    })
    const { body, status } = await post(
      app,
      '/device_authorization',
      formOf({ client_id: '1406020730', ...bend }),
    )
    expect([status, body]).toEqual([
      error === 'invalid_client' ? 401 : 400,
      { error, error_description: expect.any(String) },
    ])
  })

  test('[DEV-20] refuses a request without TLS', async () => {
    const { app } = await deviceStage(television, [], { issuer: 'https://auth.example' }).catch(() => ({
      app: undefined,
    }))
    expect(app).toBeDefined()
    const response = await post(app ?? '', '/device_authorization', 'client_id=television')
    expect(outcomeOf(response)).toBe('400 invalid_request')
    expect(response.body.error_description).toMatch(/TLS/)
  })

  test('[DEV-21] is named by the metadata, and so is the grant type', async () => {
    const { flow } = await openExample()
    const { body } = await flow.open('/.well-known/oauth-authorization-server')
    expect(body).toMatchObject({
      device_authorization_endpoint: 'http://localhost/device_authorization',
      grant_types_supported: expect.arrayContaining([deviceCode]),
    })
  })
})

describe('the page', () => {
  test('[DEV-10] asks for a login before anything else', async () => {
    const { flow, body, poll } = await openExample()
    expect(outcomeOf(await flow.open('/device'))).toBe('login')
    expect(outcomeOf(await flow.submit('/device', { user_code: body.user_code }))).toBe(
      'page 400 invalid_request',
    )
    expect(outcomeOf(await poll())).toBe('400 authorization_pending')
  })

  test('[DEV-11, DEV-15] asks the owner about the client and the scope, and lets no code bring access by itself', async () => {
    const { enter, decide, poll } = await openExample()
    const page = await enter()
    expect(page.text).toContain('Television')
    expect(page.text).toContain('Do what examples do')
    expect(outcomeOf(await poll())).toBe('400 authorization_pending')
    await decide(page, 'deny')
    expect(outcomeOf(await poll())).toBe('400 access_denied')
  })

  test('[DEV-3] wants a code of a link confirmed: opening the link claims nothing', async () => {
    const { flow, body, enter, decide } = await openExample()
    const { pathname, search } = new URL(body.verification_uri_complete)
    const page = await flow.open(pathname + search, 'mallory')
    expect(page.text).toMatch(new RegExp(`name="user_code"\\s+value="${body.user_code}"`))
    const question = await enter(body.user_code, 'alice')
    expect((await decide(question, 'approve')).text).toContain('Your device has access')
  })

  test('[DEV-12] ignores letter case and punctuation in a code, which has eight letters of twenty', async () => {
    const { body, enter } = await openExample()
    expect(body.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect((await enter(body.user_code.toLowerCase().replace('-', ' . '))).status).toBe(200)
  })

  test('[DEV-13] takes few wrong codes of one owner', async () => {
    const { enter } = await openExample()
    const statuses = new Set<number>()
    for (let guess = 0; guess < 12; guess++) statuses.add((await enter('BCDF-GHJK')).status)
    expect([...statuses]).toEqual([400, 429])
  })

  test('[DEV-16] warns of codes that somebody has sent, before the code and before the decision', async () => {
    const { flow, enter, body } = await openExample()
    const warning = 'Did somebody send you this code or link?'
    for (const page of [
      await flow.open('/device', 'alice'),
      await flow.open(`/device?user_code=${body.user_code}`, 'alice'),
      await enter(),
    ])
      expect(page.text).toContain(warning)
  })

  test('[DEV-17] shows from where and when the device asked', async () => {
    const { enter, clock } = await openExample()
    clock.advance(185)
    const { text } = await enter()
    expect(text).toMatch(/Requested from[\s\S]*127\.0\.0\.1/)
    expect(text).toMatch(/3 minutes ago/)
  })
})

describe('a poll', () => {
  test('[DEV-7] without its code, or with one that is none, is refused', async () => {
    const { poll } = await openExample()
    expect(outcomeOf(await poll(example, { device_code: undefined }))).toBe('400 invalid_request')
    expect(outcomeOf(await poll(example, { device_code: 'none' }))).toBe('400 invalid_grant')
  })

  test('[DEV-8] of a client with a secret is authenticated, and that of a public client names it', async () => {
    const { app, body, enter, decide, poll } = await openKiosk()
    await decide(await enter(), 'approve')
    const fields = formOf({ grant_type: deviceCode, device_code: body.device_code })
    expect(outcomeOf(await post(app, '/token', fields))).toBe('401 invalid_client')
    expect(outcomeOf(await post(app, '/token', `${fields}&client_id=kiosk`))).toBe('401 invalid_client')
    expect(outcomeOf(await poll({ ...kiosk, secret: altered(secret) }))).toBe('401 invalid_client')
    expect(outcomeOf(await poll())).toBe('tokens')
  })

  test('[DEV-9] hears each error of 3.5 in the form of RFC 6749 5.2', async () => {
    const errorAfter = async (seconds: number, decision?: string) => {
      const { clock, enter, decide, poll } = await deviceStage()
      await poll()
      if (decision !== undefined) await decide(await enter(), decision)
      clock.advance(seconds)
      const { status, body } = await poll()
      expect(status).toBe(400)
      expect(Object.keys(body)).toEqual(['error', 'error_description'])
      return body.error
    }
    expect(await errorAfter(5)).toBe('authorization_pending')
    expect(await errorAfter(2)).toBe('slow_down')
    expect(await errorAfter(5, 'deny')).toBe('access_denied')
    expect(await errorAfter(600)).toBe('expired_token')
  })

  test('[DEV-14] that comes too early lengthens the interval by 5 seconds, for all later polls', async () => {
    const { clock, poll } = await deviceStage()
    const after = async (seconds: number) => {
      clock.advance(seconds)
      return (await poll()).body.error
    }
    expect(await after(0)).toBe('authorization_pending')
    // Within a second it is the same poll: libraries try one method of authentication after the other.
    expect(await after(1)).toBe('authorization_pending')
    expect(await after(1)).toBe('slow_down')
    expect(await after(10)).toBe('authorization_pending')
    expect(await after(8)).toBe('slow_down')
    expect(await after(15)).toBe('authorization_pending')
    expect(await after(13)).toBe('slow_down')
  })

  test('[DEV-18] gets nothing once the code has expired, and neither does its owner', async () => {
    const { clock, enter, poll, decide } = await openExample()
    const page = await enter()
    clock.advance(1800)
    expect(outcomeOf(await poll())).toBe('400 expired_token')
    expect((await enter()).status).toBe(400)
    expect(outcomeOf(await decide(page, 'approve'))).toBe('page 400 invalid_request')
  })

  test('[DEV-19] gets the tokens of an approval once: a later one gets none, and a client gets those of no other', async () => {
    const toaster = bent(example, { client_id: 'toaster' })
    const { clock, enter, poll, decide } = await deviceStage(example, [], {
      clients: [example.registration, toaster.registration],
      scopes,
    })
    await decide(await enter(), 'approve')
    expect(outcomeOf(await poll(toaster))).toBe('400 invalid_grant')
    tokensOf(await poll())
    clock.advance(60)
    expect(outcomeOf(await poll())).toBe('400 invalid_grant')
  })
})
