import { memoryStore, type Plugin } from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { bent, photoPrint } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { consentFormOf } from '../support/flows/consent-form'
import { deviceCode, deviceStage, television, toaster } from '../support/flows/device-stage'
import { ownerOfHeaders, session } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'
import { inMemory, registeringOn } from '../support/flows/registering'
import { signedFormat } from '../support/flows/signed-format'
import { tokensOf } from '../support/flows/tokens'
import { but } from '../support/stores/but'
import { altered } from '../support/altered'

const titleOf = ({ text }: { readonly text: string }) => /<title>([^<]*)</.exec(text)?.[1]
const allowed = 'Your device has access'
const form = 'Connect a device'

describe('a device', () => {
  const signed = { name: 'signed', open: () => ({ accessTokenFormats: [signedFormat('signed')] }) }

  test.each<[string, typeof television, Plugin[]]>([
    ['with refresh tokens', television, []],
    ['without refresh tokens', toaster, []],
    ['with signed tokens', television, [signed]],
  ])(
    '%s gets the same tokens again if a response is lost, and a late poll ends nothing',
    async (_, device, plugins) => {
      const { flow, poll, enter, decide, clock } = await deviceStage(device, plugins)
      await decide(await enter(), 'approve')
      const { body: first } = await poll()
      expect((await poll()).body).toEqual(first)
      clock.advance(600)
      expect(outcomeOf(await poll())).toBe('400 invalid_grant')
      expect((await flow.photos(first.access_token)).status).toBe(200)
    },
  )

  test('hears a denial until the request expires, and gets tokens for an approval in the last second of its code', async () => {
    const denied = await deviceStage()
    await denied.decide(await denied.enter(), 'deny')
    for (const [seconds, outcome] of [
      [0, '400 access_denied'],
      [0, '400 access_denied'],
      [720, '400 expired_token'],
    ] as const) {
      denied.clock.advance(seconds)
      expect(outcomeOf(await denied.poll())).toBe(outcome)
    }
    const late = await deviceStage()
    const page = await late.enter()
    late.clock.advance(599)
    await late.decide(page, 'approve')
    late.clock.advance(30)
    expect(outcomeOf(await late.poll())).toBe('tokens')
  })

  test('that polls without a pause lets its owner decide', async () => {
    const { poll, enter, decide } = await deviceStage()
    const page = await enter()
    const [answer] = await Promise.all([decide(page, 'approve'), ...Array.from({ length: 24 }, () => poll())])
    expect(titleOf(answer)).toBe(allowed)
    expect(outcomeOf(await poll())).toBe('tokens')
  })

  test('of a network that sends too many requests has to wait', async () => {
    const { begin, clock } = await deviceStage(television, [], {}, { requests: { attempts: 3, seconds: 60 } })
    await begin()
    await begin()
    const over = await begin()
    expect([outcomeOf(over), over.get('Retry-After')]).toEqual(['429 temporarily_unavailable', '60'])
    clock.advance(60)
    expect((await begin()).status).toBe(200)
  })

  test('is one of 100 of its network in ten minutes by default', async () => {
    const { begin, clock } = await deviceStage(television, [], { limits: { networks: false } })
    for (let request = 1; request < 100; request++) expect((await begin()).status).toBe(200)
    expect((await begin()).get('Retry-After')).toBe('600')
    clock.advance(600)
    expect((await begin()).status).toBe(200)
  })

  test('has ten minutes for its owner, and hears of the end for two more', async () => {
    const { poll, enter, begin, clock, store } = await deviceStage()
    clock.advance(599)
    expect(outcomeOf(await poll())).toBe('400 authorization_pending')
    expect((await enter()).status).toBe(200)
    clock.advance(1)
    expect((await enter()).status).toBe(400)
    expect(outcomeOf(await poll())).toBe('400 expired_token')
    const kept = jest.spyOn(store, 'write')
    await begin()
    expect(kept.mock.calls.map(([, , { seconds = 0 }]) => Math.ceil(seconds))).toEqual([600 + 120])
  })

  test('that registered itself counts for its network, with a secret too, and a client of the host does not', async () => {
    const kiosk = bent(photoPrint, { redirect_uris: [], response_types: [], grant_types: [deviceCode] })
    const { register, flow } = registeringOn(inMemory)(
      { grantTypes: ['authorization_code', deviceCode] },
      {
        clients: [kiosk.registration],
        plugins: [deviceAuthorization({ requests: { attempts: 2, seconds: 60 } })],
      },
    )
    const metadata = { grant_types: [deviceCode], response_types: [], scope: 'photos:read' }
    const outcomes: string[] = []
    for (let time = 0; time < 3; time++) {
      const { body } = await register({ ...metadata, token_endpoint_auth_method: 'client_secret_basic' })
      const own = { ...bent(kiosk, { client_id: body.client_id }), secret: body.client_secret }
      outcomes.push(outcomeOf(await flow.request(own, { scope: 'photos:read' }, '/device_authorization')))
    }
    expect(outcomes).toEqual(['a code', 'a code', '429 temporarily_unavailable'])
    const ofHost = await flow.request(kiosk, { scope: 'photos:read' }, '/device_authorization')
    expect(outcomeOf(ofHost)).toBe('a code')
  })
})

describe('the form for a code', () => {
  test('is one of this page for this owner: any other form leads to the step that compares the code', async () => {
    const { flow, body, enter } = await deviceStage()
    const { user_code } = body
    const fieldsOf = async (owner: string) =>
      consentFormOf(await flow.open('/device', owner), '/device').fields
    const alices = await fieldsOf('alice')
    for (const fields of [{}, { form: 'x'.repeat(43) }, await fieldsOf('bob')]) {
      const headers = { Origin: 'null' }
      const page = await flow.submit('/device', { ...fields, user_code }, 'alice', headers)
      expect(outcomeOf(page)).toBe('form 400')
      expect(page.text).toContain(`value="${user_code}"`)
    }
    const json = { Accept: 'application/json' }
    const { body: view } = await flow.open('/device', 'alice', json)
    expect(view.fields).toEqual(alices)
    expect((await flow.submit('/device', { user_code }, 'alice', json)).body.error).toBe('invalid_request')
    expect(outcomeOf(await flow.submit('/device', { ...alices, user_code }, 'alice'))).toBe('question')
    expect(outcomeOf(await enter())).toBe('question')
  })
})

describe('a device whose owner takes everything back', () => {
  test('gets nothing by a decision under way, whose owner was read before', async () => {
    const clock = new Clock()
    let meanwhile = async () => {}
    const resourceOwner = async (request: { get(name: string): string | undefined }) => {
      await meanwhile()
      return request.get('X-Owner')
    }
    const { oauth, enter, decide, poll } = await deviceStage(television, [], {
      authorizations: true,
      resourceOwner,
      clock: clock.read,
      store: memoryStore({ clock: clock.read }),
    })
    const page = await enter()
    meanwhile = async () => {
      await oauth.authorizations.revokeAll('alice')
      clock.advance(5)
    }
    expect(outcomeOf(await decide(page, 'approve'))).toBe('page 400 access_denied')
    meanwhile = async () => {}
    expect(outcomeOf(await poll())).toBe('400 authorization_pending')
    expect((await oauth.authorizations.list('alice')).authorizations).toEqual([])
  })

  test('is on the list of its owner from the decision on, before it polls', async () => {
    const { oauth, flow, enter, decide, pollLater } = await deviceStage(television, [], {
      authorizations: true,
    })
    await decide(await enter(), 'approve')
    const { authorizations } = await oauth.authorizations.list('alice')
    expect(authorizations).toMatchObject([{ clientId: 'television', scope: ['photos:read'] }])
    expect((await flow.open('/authorizations', 'alice')).text).toContain('Television')
    expect(await oauth.authorizations.revoke('alice', 'television')).toMatchObject({ count: 1 })
    expect(outcomeOf(await pollLater())).toBe('400 invalid_grant')
  })
})

describe('a device whose client was revoked', () => {
  const open = () => deviceStage(television, [], { authorizations: true })

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

describe('the page of devices', () => {
  test('shows the permissions of the client, who is logged in, since when the device asks, and no markup of a link', async () => {
    const { flow, enter, clock, begin } = await deviceStage(television, [], {
      scopes: {
        'photos:read': { description: 'See your photos', group: 'Photos' },
        'photos:print': { description: 'Print your photos', weight: 'danger', optional: true },
      },
    })
    const { body } = await begin({ scope: 'photos:read photos:print' }, television)
    clock.advance(125)
    const { text } = await enter(body.user_code)
    expect(text).toMatch(/<bdi class="name">Television<\/bdi>/)
    expect(text).toMatch(/Photos[\s\S]*See your photos/)
    expect(text).toMatch(/class="danger"[\s\S]*name="scope:photos:print"/)
    expect(text).toMatch(/Signed in as[\s\S]*alice[\s\S]*Not you\?/)
    expect(text).toMatch(/2 minutes ago/)
    const odd = await flow.open('/device?user_code=%22%3E%3Cscript%3E', 'alice')
    expect([odd.status, odd.text.includes('<script'), titleOf(odd)]).toEqual([200, false, form])
  })

  test('lets a person change the account, and takes no decision of the first one then', async () => {
    const { flow, body, enter, decide, poll } = await deviceStage()
    const page = await enter(undefined, 'alice')
    const away = await decide(page, 'switch')
    expect(away.get('Location')).toBe(`/device?user_code=${body.user_code}&prompt=select_account`)
    const login = new URL(
      String((await flow.open(String(away.get('Location')), 'alice')).get('Location')),
      'http://localhost',
    )
    expect(login.searchParams.get('prompt')).toBe('select_account')
    const back = String(login.searchParams.get('return_to'))
    expect(back).toBe(`/device?user_code=${body.user_code}`)
    expect(outcomeOf(await decide(page, 'approve', 'alice'))).toBe('page 400 invalid_request')
    expect(titleOf(await flow.open(back, 'bob'))).toBe(form)
    expect(titleOf(await decide(await enter(undefined, 'bob'), 'approve', 'bob'))).toBe(allowed)
    const { accessToken } = tokensOf(await poll())
    expect((await flow.photos(accessToken)).body.subject).toBe('bob')
    expect(outcomeOf(await decide(page, 'switch'))).toBe('page 400 invalid_request')
  })

  test('takes no form of another site, without a login, without its token or with another button', async () => {
    const { enter, decide, flow, poll } = await deviceStage()
    const foreign = { 'Sec-Fetch-Site': 'cross-site' }
    expect(outcomeOf(await enter(undefined, 'alice', foreign))).toBe('page 400 invalid_request')
    const page = await enter()
    const { fields } = consentFormOf(page, '/device')
    const send = async (bend: object, owner?: string) =>
      outcomeOf(await flow.submit('/device', { ...fields, decision: 'approve', ...bend }, owner))
    expect(outcomeOf(await decide(page, 'approve', 'alice', {}, foreign))).toBe('page 400 invalid_request')
    expect(await send({})).toBe('page 400 invalid_request')
    expect(await send({ authorization_request: 'x' }, 'alice')).toBe('page 400 invalid_request')
    expect(await send({ decision: 'perhaps' }, 'alice')).toBe('page 400 invalid_request')
    const forged = altered(String(fields['authorization_request']))
    expect(await send({ authorization_request: forged }, 'alice')).toBe('page 400 invalid_request')
    expect(outcomeOf(await poll())).toBe('400 authorization_pending')
  })

  test('looks at the login that decides also where another process gave the form to another owner', async () => {
    const options = { store: memoryStore(), resourceOwner: ownerOfHeaders }
    const one = await deviceStage(television, [], options)
    const other = await deviceStage(television, [], options)
    const now = Math.floor(one.clock.read() / 1000)
    const [fresh, old] = [session(now), session(now - 600)]
    const { body } = await one.begin({ max_age: '60' })
    await one.enter(body.user_code, 'alice', fresh)
    const first = await other.enter(body.user_code, 'alice', fresh)
    await other.decide(first, 'switch', 'alice', {}, fresh)
    const page = await other.enter(body.user_code, 'bob', fresh)
    const again = await one.decide(page, 'approve', 'bob', {}, old)
    expect(again.get('Location')).toMatch(/^\/device\?.*prompt=login/)
    const poll = { device_code: body.device_code }
    expect(outcomeOf(await one.poll(television, poll))).toBe('400 authorization_pending')
    await one.decide(page, 'approve', 'bob', {}, fresh)
    expect(outcomeOf(await one.pollLater(television, poll))).toBe('tokens')
  })

  test('speaks the language of the owner on each of its pages', async () => {
    const { flow, body, enter, decide } = await deviceStage()
    expect(titleOf(await flow.open('/device?ui_locales=de', 'alice'))).toBe('Ein Gerät verbinden')
    const page = await flow.enterCode({ user_code: body.user_code, ui_locales: 'fr' }, 'alice')
    expect(page.text).toContain('Demande venant de')
    expect(titleOf(await decide(page, 'approve'))).toBe('Votre appareil a accès')
    expect(titleOf(await enter(undefined, 'alice', { 'Accept-Language': 'ar' }))).toBe(
      'أصبح لجهازك حق الوصول',
    )
  })

  test('gives its view and takes its forms as JSON', async () => {
    const { flow, body, poll } = await deviceStage()
    const json = { Accept: 'application/json', 'Sec-Fetch-Site': 'same-origin' }
    const code = await flow.open(`/device?user_code=${body.user_code}`, 'alice', json)
    expect(code.body).toMatchObject({ step: 'code', userCode: body.user_code, action: '?' })
    const send = (fields: object) =>
      flow.submit('/device', JSON.stringify(fields), 'alice', { ...json, 'Content-Type': 'application/json' })
    expect(outcomeOf(await send({ ...code.body.fields, user_code: 'BBBB-BBBB' }))).toBe('400 invalid_request')
    const asked = await send({ ...code.body.fields, user_code: body.user_code })
    expect(asked.body).toMatchObject({
      client: { client_id: 'television', client_name: 'Television' },
      device: { userCode: body.user_code, requestedFrom: '127.0.0.1' },
      scope: [{ token: 'photos:read', description: 'See your photos' }],
    })
    expect(await send({ ...asked.body.fields, decision: 'switch' }).then((answer) => answer.body)).toEqual({
      redirect_to: `/device?user_code=${body.user_code}&prompt=select_account`,
    })
    const again = await send({ ...code.body.fields, user_code: body.user_code })
    const done = await send({ ...again.body.fields, decision: 'approve' })
    expect(done.body).toMatchObject({ step: 'answer', answer: 'approved' })
    expect(outcomeOf(await poll())).toBe('tokens')
  })

  test('is rendered by the host, also with what is wrong', async () => {
    const { flow, body, failures, enter } = await deviceStage(
      television,
      [],
      {
        pages: {
          consent: (_request, response, view) =>
            response.send(`<p>${view.device?.userCode} ${view.resourceOwner.subject}</p>`),
        },
      },
      {
        page: (_request, response, view) =>
          response.send(`<p>${view.step} ${view.resourceOwner.subject}</p>`),
      },
    )
    const page = await flow.open('/device', 'alice')
    expect([page.status, page.text, page.get('Cache-Control')]).toEqual([
      200,
      '<p>code alice</p>',
      'no-store',
    ])
    const wrong = await enter('BBBB-BBBB')
    expect([wrong.status, wrong.text]).toEqual([400, '<p>code alice</p>'])
    expect(failures.map(({ reason }) => reason)).toContain('user_code_unknown')
    expect((await enter()).text).toBe(`<p>${body.user_code} alice</p>`)
  })
})

test('A user code is two times four letters without vowels, and a new one each time', async () => {
  const { begin } = await deviceStage()
  const codes = await Promise.all(
    Array.from({ length: 60 }, async () => String((await begin()).body.user_code)),
  )
  for (const code of codes) expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  expect(new Set(codes).size).toBe(60)
  // Of 480 letters, each of the 20 comes up, but once in many billion runs.
  expect(new Set(codes.join('').replaceAll('-', '')).size).toBe(20)
})

test('All processes find a code that one of them gave, and no other issuer on their store does', async () => {
  const store = memoryStore()
  const { body, clock } = await deviceStage(television, [], { store })
  const statusAt = async (bend: object) => {
    const { enter } = await deviceStage(television, [], { store, clock: clock.read, ...bend })
    return (await enter(body.user_code, 'alice', {})).status
  }
  expect([await statusAt({}), await statusAt({ issuer: 'http://127.0.0.1' })]).toEqual([200, 400])
})

test('The store holds no code, and after the decision nothing more of the request', async () => {
  const written: string[] = []
  const inner = memoryStore()
  const store = but(inner, {
    write: (key, value, terms) => {
      written.push(key + value)
      return inner.write(key, value, terms)
    },
  })
  const { body, enter, decide, poll } = await deviceStage(television, [], { store })
  await decide(await enter(), 'approve')
  await poll()
  for (const secret of [body.user_code, body.user_code.replace('-', ''), body.device_code])
    expect(written.join()).not.toContain(secret)
  expect(written.map((record) => record.includes('127.0.0.1'))).toEqual([true, true, false, false])
})

test('A device gets another code if a live authorization has the first one', async () => {
  const inner = memoryStore()
  let taken = 0
  const store = but(inner, {
    write: async (key, value, terms) => {
      const isWritten = await inner.write(key, value, terms)
      return terms.expected === undefined && taken-- > 0 ? false : isWritten
    },
  })
  const { begin, enter } = await deviceStage(television, [], { store })
  taken = 2
  const { body, status } = await begin()
  expect([status, (await enter(body.user_code)).status]).toEqual([200, 200])
  taken = 100
  expect((await begin()).status).toBe(500)
})

test('A store in trouble is no wrong code: nothing is counted', async () => {
  const { store, enter } = await deviceStage(television, [], {}, { guesses: { owner: { attempts: 2 } } })
  store.begin('fails', 'read')
  for (let turn = 0; turn < 4; turn++)
    expect(outcomeOf(await enter())).toBe('page 503 temporarily_unavailable')
  store.recover()
  expect((await enter()).status).toBe(200)
})
