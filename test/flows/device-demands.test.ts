import type { Response } from 'supertest'
import {
  type AuthorizationServerOptions,
  dpop,
  jwtAccessTokens,
  openIdConnect,
  stepUp,
} from '../../lib/index'
import { bent } from '../support/flows/clients'
import { deviceCode, deviceStage, television } from '../support/flows/device-stage'
import type { Fields, Headers } from '../support/flows/flow'
import { alice, claimsIn, identityKeys } from '../support/flows/identity-stage'
import { ownerOfHeaders, session } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'
import { Prover } from '../support/flows/prover'
import { tokensOf } from '../support/flows/tokens'

const issuer = 'http://localhost'
const titleOf = ({ text }: Response) => /<title>([^<]*)</.exec(text)?.[1]
const scopes = { openid: 'Know who you are', profile: 'See your name', 'photos:read': 'See your photos' }
const viewer = bent(television, { scope: 'openid profile photos:read' })

/** A device at a server with everything that looks at owners and their logins. */
async function stage(
  fields: Fields = {},
  { device = viewer, ...options }: Partial<AuthorizationServerOptions> & { device?: typeof viewer } = {},
) {
  const keys = identityKeys()
  const plugIns = [
    keys,
    openIdConnect({ keys, claims: async () => alice, claimsParameter: true }),
    stepUp({ acrValues: ['mfa', 'pwd'] }),
    jwtAccessTokens({ keys }),
    dpop({ baseUrl: issuer }),
  ]
  const staged = await deviceStage(device, plugIns, {
    clients: [device.registration],
    scopes,
    resources: { 'https://api.example/photos': { scopes: ['photos:read'] } },
    resourceOwner: ownerOfHeaders,
    ...options,
  })
  const now = () => Math.floor(staged.clock.read() / 1000)
  const { body, status } = await staged.begin(fields)
  const enterCode = (code: string, headers: Headers, owner = 'alice') => staged.enter(code, owner, headers)
  const enter = (headers: Headers, owner?: string) => enterCode(body.user_code, headers, owner)
  const decide = (page: Response, headers: Headers, owner = 'alice') =>
    staged.decide(page, 'approve', owner, {}, headers)
  const poll = () => staged.poll(device, { device_code: body.device_code })
  /** Where a code or a decision leads. */
  const led = async (response: Response): Promise<string> => {
    const location = response.get('Location')
    if (location === undefined)
      return response.status === 200 ? String(titleOf(response)) : outcomeOf(response)
    expect(response.status).toBe(303)
    const login = await staged.flow.open(location, 'alice', session(now()))
    const { pathname, searchParams } = new URL(String(login.get('Location')), issuer)
    expect(pathname).toBe('/login')
    const back = await staged.flow.open(String(searchParams.get('return_to')), 'alice', session(now()))
    expect(back.text).toContain(`value="${body.user_code}"`)
    searchParams.delete('return_to')
    return `login ${searchParams.toString()}`.trimEnd()
  }
  return { ...staged, now, body, status, enter, enterCode, decide, poll, led }
}

const question = 'Allow Television to access your account?'
const allowed = 'Your device has access'

describe('what the tokens of a device say of the login is that of the session', () => {
  test('whose form decides, and not that of another one which has entered the code before', async () => {
    const { enter, decide, poll, flow, now } = await stage({ scope: 'photos:read' })
    await enter(session(now(), 'mfa otp'))
    const weak = session(now() - 900, 'pwd')
    expect(titleOf(await decide(await enter(weak), weak))).toBe(allowed)
    const { body } = await poll()
    expect(claimsIn(body.access_token)).toMatchObject({ acr: 'pwd', auth_time: now() - 900 })
    expect((await flow.photos(body.access_token)).body.login).toMatchObject({ acr: 'pwd' })
  })

  test('that decides with a form of a stronger session, and none if the host says none', async () => {
    for (const [headers, login] of [
      [session(1_799_999_000, 'pwd'), { acr: 'pwd', authTime: 1_799_999_000, amr: [] }],
      [{}, undefined],
    ] as const) {
      const { enter, decide, poll, flow, now } = await stage({ scope: 'photos:read' })
      const page = await enter(session(now(), 'mfa'))
      await decide(page, headers)
      const { body } = await poll()
      expect((await flow.photos(body.access_token)).body.login).toEqual(login)
    }
  })
})

describe('a demand of a device is met or refused', () => {
  const essential = (values: readonly string[]) =>
    JSON.stringify({ id_token: { acr: { essential: true, values } } })
  const member = (name: string, value: number) => ({ device: bent(viewer, { [name]: value }) })
  const old = -600

  test.each<[string, Fields, Parameters<typeof stage>[1], string, string, string]>([
    ['max_age', { max_age: '60' }, {}, 'pwd', 'prompt=login', 'pwd'],
    ['default_max_age', {}, member('default_max_age', 60), 'pwd', 'prompt=login', 'pwd'],
    ['prompt=login', { prompt: 'login' }, {}, 'pwd', 'prompt=login', 'pwd'],
    ['acr_values', { acr_values: 'mfa' }, {}, 'pwd', 'prompt=login&acr_values=mfa', 'mfa'],
    [
      'an essential acr',
      { scope: 'openid', claims: essential(['mfa', 'gold']) },
      {},
      'pwd',
      'prompt=login&acr_values=mfa+gold',
      'gold',
    ],
    [
      'what its login is told',
      { max_age: '60', login_hint: 'alice@example.com', ui_locales: 'de fr' },
      {},
      'pwd',
      'prompt=login&login_hint=alice%40example.com&ui_locales=de+fr',
      'pwd',
    ],
  ])('%s by a login', async (_what, fields, options, how, asked, next) => {
    const { enter, decide, led, poll, now } = await stage(fields, options)
    expect(await led(await enter(session(now() + old, how)))).toBe(`login ${asked}`)
    expect(outcomeOf(await poll())).toBe('400 authorization_pending')
    const renewed = session(now(), next)
    const page = await enter(renewed)
    expect(await led(page)).toBe(question)
    // A weaker or older session of the same owner decides nothing, and the request stays open.
    expect(await led(await decide(page, session(now() + old, how)))).toMatch(/^login prompt=login/)
    expect(outcomeOf(await poll())).toBe('400 authorization_pending')
    expect(await led(await decide(page, renewed))).toBe(allowed)
    expect(claimsIn((await poll()).body.access_token)).toMatchObject({ acr: next, auth_time: now() })
  })

  test.each<[string, Fields, string]>([
    [
      'acr_values that no login of the server meets',
      { acr_values: 'gold' },
      'unmet_authentication_requirements',
    ],
    ['prompt=none, because a device needs the page', { prompt: 'none' }, 'interaction_required'],
    ['a malformed max_age', { max_age: 'x' }, 'invalid_request'],
    ['a request object', { scope: 'openid', request: 'x' }, 'request_not_supported'],
  ])('at its endpoint: %s', async (_what, fields, error) => {
    const { status, body } = await stage(fields)
    expect([status, body.error]).toEqual([400, error])
  })

  test.each<[string, Fields]>([
    ['acr_values', { acr_values: 'mfa' }],
    ['an essential acr', { scope: 'openid', claims: essential(['mfa']) }],
  ])(
    '%s: a new login that does not meet it is refused, and a better one may follow',
    async (_what, fields) => {
      const { enter, led, now, failures } = await stage(fields)
      expect(await led(await enter(session(now(), 'pwd')))).toContain('acr_values=mfa')
      expect(await led(await enter(session(now(), 'pwd')))).toBe('page 400 unmet_authentication_requirements')
      expect(failures.at(-1)).toMatchObject({ endpoint: 'device', reason: 'acr_not_met' })
      expect(await led(await enter(session(now(), 'mfa')))).toBe(question)
    },
  )

  test('prompt=select_account by a choice, after which any login is good', async () => {
    const { enter, led, now } = await stage({ prompt: 'select_account' })
    const usual = session(now() + old, 'pwd')
    expect(await led(await enter(usual))).toBe('login prompt=select_account')
    expect(await led(await enter(usual, 'bob'))).toBe(question)
  })

  test('the owner whom claims name is the only one who gets the page', async () => {
    const claims = JSON.stringify({ id_token: { sub: { value: 'bob' } } })
    const { enter, decide, led, now, poll } = await stage({ scope: 'openid', claims })
    expect(await led(await enter(session(now(), 'pwd')))).toBe('login prompt=login')
    expect(await led(await enter(session(now(), 'pwd')))).toBe('page 400 login_required')
    const page = await enter(session(now(), 'pwd'), 'bob')
    expect(await led(page)).toBe(question)
    await decide(page, session(now(), 'pwd'), 'bob')
    expect(claimsIn((await poll()).body.id_token)).toMatchObject({ sub: 'bob' })
  })

  test('a login that was demanded and did not come is demanded again, and one without a time is refused', async () => {
    const { enter, led, now, clock } = await stage({ prompt: 'login' })
    const before = session(now() - 60, 'pwd')
    for (let times = 0; times < 2; times++) expect(await led(await enter(before))).toBe('login prompt=login')
    expect(await led(await enter({}))).toBe('page 400 login_required')
    clock.advance(20)
    expect(await led(await enter(session(now(), 'pwd')))).toBe(question)
  })

  test('a subject that no ID token may have is a fault of the host', async () => {
    const { enter, now, failures } = await stage({ scope: 'openid' })
    expect((await enter(session(now()), 'x'.repeat(256))).status).toBe(500)
    expect(String(failures.at(-1)?.cause)).toContain('255 ASCII characters')
  })

  test('a script gets the way to the login', async () => {
    const { flow, body, now } = await stage({ acr_values: 'mfa' })
    const json = {
      Accept: 'application/json',
      'Sec-Fetch-Site': 'same-origin',
      'Content-Type': 'application/json',
    }
    const { body: view } = await flow.open('/device', 'alice', { ...json, ...session(now(), 'pwd') })
    const sent = JSON.stringify({ ...view.fields, user_code: body.user_code })
    const answer = await flow.submit('/device', sent, 'alice', { ...json, ...session(now(), 'pwd') })
    expect(answer.body).toEqual({
      redirect_to: `/device?user_code=${body.user_code}&prompt=login&acr_values=mfa`,
    })
  })
})

describe('a device with OpenID Connect', () => {
  test('gets an ID token, also by a refresh, and asks UserInfo', async () => {
    // A redirect_uri means nothing without a browser that goes there.
    const fields = { scope: 'openid profile', nonce: 'n-0S6', redirect_uri: 'https://elsewhere.example/' }
    const { enter, decide, poll, flow, now } = await stage(fields)
    const how = session(now() - 9, 'mfa otp')
    await decide(await enter(how), how)
    const { body } = await poll()
    expect(claimsIn(body.id_token)).toMatchObject({
      iss: issuer,
      aud: 'television',
      sub: 'alice',
      nonce: 'n-0S6',
      acr: 'mfa',
      amr: ['otp'],
      auth_time: now() - 9,
      at_hash: expect.any(String),
    })
    const refreshed = (await flow.refresh(viewer, body.refresh_token)).body
    expect(claimsIn(refreshed.id_token)).not.toHaveProperty('nonce')
    const bearer = { Authorization: `Bearer ${body.access_token}` }
    expect((await flow.open('/userinfo', undefined, bearer)).body).toEqual({ sub: 'alice', name: alice.name })
  })

  test.each<[string, Fields, string, boolean]>([
    ['a default scope with openid', { scope: undefined }, 'openid profile', true],
    ['a default scope without openid', { scope: undefined }, 'photos:read', false],
  ])('gets one for %s as well as an application with a browser', async (_what, fields, defaultScope, has) => {
    const { enter, decide, poll, now } = await stage(fields, { defaultScope })
    await decide(await enter(session(now())), session(now()))
    expect('id_token' in (await poll()).body).toBe(has)
  })

  test('and a key gets an ID token and a bound JWT, with the login that decided', async () => {
    const { begin, flow, clock, decide, now, enterCode } = await stage()
    const key = new Prover(clock.read)
    const { body } = await begin({ scope: 'openid photos:read', dpop_jkt: key.thumbprint, acr_values: 'mfa' })
    const mfa = session(now(), 'mfa')
    await decide(await enterCode(body.user_code, mfa), mfa)
    const poll = { grant_type: deviceCode, device_code: String(body.device_code) }
    const tokens = (await key.tokens(flow, poll, viewer)).body
    expect(tokens.token_type).toBe('DPoP')
    expect(claimsIn(tokens.access_token)).toMatchObject({ acr: 'mfa', cnf: { jkt: key.thumbprint } })
    expect(claimsIn(tokens.id_token)).toMatchObject({ acr: 'mfa', sub: 'alice' })
  })
})

describe('the page of devices always asks', () => {
  test('whatever the server remembers or the host skips, and asks the question of the host', async () => {
    const choice = { name: 'workspace', text: 'Which one?', answers: [{ value: 'w1', label: 'One' }] }
    const asked = jest.fn(() => choice)
    const skipConsent = jest.fn(() => true)
    const staged = await deviceStage(television, [], {
      skipConsent,
      choices: asked,
      rememberConsent: true,
    })
    const tokens = async () => {
      const { body } = await staged.begin()
      const page = await staged.enter(body.user_code)
      expect(titleOf(page)).toBe('Allow Television to access your account?')
      await staged.decide(page, 'approve')
      return tokensOf(await staged.poll(television, { device_code: body.device_code }))
    }
    await tokens()
    const { accessToken } = await tokens()
    expect((await staged.flow.photos(accessToken)).body).toMatchObject({ choice: { workspace: 'w1' } })
    expect([asked, skipConsent].map(({ mock }) => mock.calls.length)).toEqual([2, 0])
  })
})

const letters = 'BCDFGHJKLMNPQRSTVWXZ'
let made = 0
/** A code that was not tried before. */
const guess = (): string => {
  let rest = made++
  return Array.from({ length: 8 }, () => {
    const letter = letters.charAt(rest % 20)
    rest = Math.floor(rest / 20)
    return letter
  }).join('')
}

const open = async (own = {}) => {
  const set = await deviceStage(television, [], { limits: { networks: false } }, own)
  set.app.set('trust proxy', 'loopback')
  const from = (address: string, owner: string, code = guess()) =>
    set.enter(code, owner, { 'X-Forwarded-For': address })
  /** Enters so many wrong codes. */
  const times = async (count: number, address: string, owner: string) => {
    for (let turn = 0; turn < count; turn++) expect((await from(address, owner)).status).toBe(400)
  }
  return { ...set, from, times }
}

describe('wrong user codes', () => {
  test('of one owner are limited, wherever they come from, and then no store is asked', async () => {
    const { from, times, body, clock, failures } = await open()
    await times(9, '192.0.2.1', 'mallory')
    await times(1, '198.51.100.1', 'mallory')
    const over = await from('203.0.113.1', 'mallory', body.user_code)
    expect([over.status, over.get('Retry-After')]).toEqual([429, '900'])
    expect(over.text).toMatch(/too many wrong codes/)
    expect(failures.at(-1)).toMatchObject({ reason: 'user_code_owner_limited', endpoint: 'device' })
    expect((await from('192.0.2.1', 'alice', body.user_code)).status).toBe(200)
    clock.advance(900)
    expect((await from('203.0.113.1', 'mallory')).status).toBe(400)
  })

  test('of one network are limited, whoever enters them, and another network has no part in it', async () => {
    const { from, times, begin, body, clock, failures } = await open()
    for (const owner of ['a', 'b', 'c']) await times(10, '192.0.2.1', owner)
    const shared = await from('192.0.2.1', 'alice', body.user_code)
    expect([shared.status, shared.get('Retry-After')]).toEqual([429, '900'])
    expect(failures.at(-1)).toMatchObject({ reason: 'user_code_network_limited' })
    expect((await from('192.0.2.2', 'alice', body.user_code)).status).toBe(200)
    // Who shares the network waits 15 minutes at most.
    clock.advance(900)
    const { body: later } = await begin()
    expect((await from('192.0.2.1', 'alice', later.user_code)).status).toBe(200)
  })

  test('of one subscriber of IPv6 are limited over all its networks', async () => {
    const { from, times } = await open({ guesses: { network: { attempts: 1, seconds: 60 }, owner: false } })
    for (const block of ['1', '2', '3', '4']) await times(1, `2001:db8:0:10${block}::1`, 'mallory')
    expect((await from('2001:db8:0:105::1', 'mallory')).status).toBe(429)
    expect((await from('2001:db8:0:200::1', 'mallory')).status).toBe(400)
  })

  test('do not count if they are right, come again, or look like no code', async () => {
    const { from, body, begin } = await open({ guesses: { owner: { attempts: 1 } } })
    for (let turn = 0; turn < 3; turn++)
      expect((await from('192.0.2.1', 'alice', body.user_code)).status).toBe(200)
    for (const typed of ['', 'AEIOU', 'x'.repeat(64)])
      expect((await from('192.0.2.1', 'alice', typed)).status).toBe(400)
    const { body: second } = await begin()
    expect((await from('192.0.2.1', 'alice', second.user_code)).status).toBe(200)
  })

  test('may be entered without end with the limits off', async () => {
    const { times, from, body } = await open({ guesses: false })
    await times(11, '192.0.2.1', 'alice')
    expect((await from('192.0.2.1', 'alice', body.user_code)).status).toBe(200)
  })

  test('that are entered at once pass the limit no more than others, and the right owner elsewhere comes in', async () => {
    const { from, body, decide, poll } = await open()
    const answers = await Promise.all(Array.from({ length: 14 }, () => from('192.0.2.1', 'mallory')))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
    await decide(await from('192.0.2.7', 'alice', body.user_code), 'approve')
    expect((await poll()).status).toBe(200)
  })
})
