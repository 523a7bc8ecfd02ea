import type { AuthorizationServerOptions } from '../../lib/index'
import { consentFormOf } from '../support/flows/consent-form'
import { authorizationRequest, type Fields, type RepeatedFields } from '../support/flows/flow'
import { publicViewer, viewer, WaitingRequest, type Way, ways, waysStage } from '../support/flows/four-ways'
import { alice, claimsIn } from '../support/flows/identity-stage'
import { answersOf, boxesOf, workspaceQuestion } from '../support/flows/owner-decision'
import { Prover } from '../support/flows/prover'
import { photosApi } from '../support/flows/resources'

const already = 'You have allowed this already'
const refused = 'page 400 invalid_request'
const unmet = 'unmet_authentication_requirements'

function stageOf(way: Way, options: Partial<AuthorizationServerOptions> = {}) {
  const set = waysStage(options)
  const open = (bend: RepeatedFields = {}, client = viewer) => WaitingRequest.open(way, set, bend, client)
  /** A request that its owner approves, and its tokens. */
  const walk = async (bend: RepeatedFields = {}, client = viewer) => {
    const request = await open(bend, client)
    const page = await request.page()
    return { page, tokens: (await request.tokens(await request.decide(page))).body }
  }
  return { ...set, open, walk }
}

type Tell = (way: Way) => Promise<void>
type Rows = Readonly<Record<string, Tell>>

/** What a cell has, where it differs from the others of its row. */
const but = <T>(way: Way, usual: T, others: Partial<Record<Way, T>>): T => others[way] ?? usual

const identity: Rows = {
  openid: async (way) => {
    const { open, login, flow, now } = stageOf(way)
    const request = await open({ scope: 'openid profile', nonce: 'n-0S6' })
    const how = login('mfa otp')
    const { body } = await request.tokens(await request.decide(await request.page(how), 'approve', { how }))
    const told = { sub: 'alice', aud: 'viewer', nonce: 'n-0S6', acr: 'mfa', amr: ['otp'], auth_time: now() }
    expect(claimsIn(body.id_token)).toMatchObject({ ...told, at_hash: expect.any(String) })
    const { body: refreshed } = await flow.refresh(viewer, body.refresh_token)
    expect(claimsIn(refreshed.id_token)).not.toHaveProperty('nonce')
    const bearer = { Authorization: `Bearer ${body.access_token}` }
    expect((await flow.open('/userinfo', undefined, bearer)).body).toEqual({
      sub: 'alice',
      name: alice.name,
    })
  },

  'openid by the default scope': async (way) => {
    const { walk } = stageOf(way, { defaultScope: 'openid profile' })
    expect((await walk({ scope: undefined })).tokens).toHaveProperty('id_token')
  },

  'claims that the page shows': async (way) => {
    const { walk } = stageOf(way)
    const claims = JSON.stringify({ id_token: { email: null } })
    const { page, tokens } = await walk({ scope: 'openid', claims })
    expect(page.text).toContain('<bdi>email</bdi>')
    expect(claimsIn(tokens.id_token)).toMatchObject({ sub: 'alice', email: alice.email })
  },

  'claims that name the owner': async (way) => {
    const { open, login } = stageOf(way)
    const claims = JSON.stringify({ id_token: { sub: { value: 'bob' } } })
    const request = await open({ scope: 'openid', claims })
    // Who is back from a demanded login has had the chance.
    if (way !== 'demanded login') expect(await request.leads()).toBe('login prompt=login')
    expect(await request.leads()).toBe(but(way, 'login_required', { device: 'page 400 login_required' }))
    const page = await request.page(login(), 'bob')
    const { body } = await request.tokens(await request.decide(page, 'approve', { owner: 'bob' }))
    expect(claimsIn(body.id_token)).toMatchObject({ sub: 'bob' })
  },

  'a subject that no ID token may have': async (way) => {
    const { open, login, failures } = stageOf(way)
    const request = await open({ scope: 'openid' })
    const { status } = await request.page(login(), 'x'.repeat(256))
    expect(status).toBe(but(way, 303, { device: 500 }))
    expect(String(failures.at(-1)?.cause)).toContain('255 ASCII characters')
  },
}

const essential = JSON.stringify({ id_token: { acr: { essential: true, values: ['mfa', 'gold'] } } })
const hints = { login_hint: 'alice@example.com', ui_locales: 'de fr' }
const hinted = '&login_hint=alice%40example.com&ui_locales=de+fr'

/** A request that a login of the class `met` meets, and an older one of `pwd` does not. */
const demanding =
  (fields: Fields, demanded: string, met: string, registered = {}): Tell =>
  async (way) => {
    const { open, login, registrations, now } = stageOf(way)
    registrations.set('viewer', { ...viewer.registration, ...registered })
    const request = await open(fields)
    const lacking = login('pwd', 600)
    const demand = request.demand ?? (await request.leads(lacking))
    expect(demand).toBe(`login prompt=login${demanded}`)
    // A device sends who did not log in to the login again. An essential acr that is not met is told as such (OIC-27).
    const lost = 'claims' in fields && way !== 'demanded login' ? unmet : 'login_required'
    const atDevice = { device: `login prompt=login${demanded}` }
    expect(await request.leads(lacking)).toBe(but(way, lost, atDevice))
    if (met !== 'pwd') expect(await request.leads()).toBe(but(way, unmet, { device: `page 400 ${unmet}` }))
    const how = login(met)
    const page = await request.page(how)
    expect(await request.led(page)).toBe('page')
    expect(await request.decided(page, 'approve', { how: lacking })).toBe(but(way, lost, atDevice))
    const other = await open(fields)
    const atOnce = await other.page(how)
    expect(await other.decided(atOnce, 'approve', { how: lacking })).toBe(
      but(way, 'login_required', atDevice),
    )
    const { login: known } = await request.access(await request.decide(page, 'approve', { how }))
    expect(known).toMatchObject({ acr: met, authTime: now() })
  }

const logins: Rows = {
  acr_values: demanding({ acr_values: 'mfa' }, '&acr_values=mfa', 'mfa'),
  'an essential acr': demanding(
    { scope: 'openid photos:read', claims: essential },
    '&acr_values=mfa+gold',
    'gold',
  ),
  max_age: demanding({ max_age: '60' }, '', 'pwd'),
  'max_age with hints for the login': demanding({ max_age: '60', ...hints }, hinted, 'pwd'),
  default_max_age: demanding({}, '', 'pwd', { default_max_age: 60 }),

  'prompt=login': async (way) => {
    const { open, login, failures } = stageOf(way)
    const request = await open({ prompt: 'login' })
    const before = login('pwd', 60)
    expect(request.demand ?? (await request.leads(before))).toBe('login prompt=login')
    expect(await request.leads(before)).toBe(but(way, 'login_required', { device: 'login prompt=login' }))
    const untimed = await request.leads({})
    expect(untimed).toBe(but(way, 'login_required', { device: 'page 400 login_required' }))
    expect(failures.at(-1)).toMatchObject({ reason: 'login_not_renewed' })
    expect(await request.leads()).toBe('page')
  },

  'prompt=select_account': async (way) => {
    const { open, login } = stageOf(way)
    const request = await open({ prompt: 'select_account' })
    const usual = login('pwd', 600)
    const both = { 'demanded login': 'login prompt=login+select_account' }
    const demand = request.demand ?? (await request.leads(usual))
    expect(demand).toBe(but(way, 'login prompt=select_account', both))
    // A choice alone brings any login.
    const chosen = but(way, 'page', { 'demanded login': 'login_required' })
    expect(await request.leads(usual, 'bob')).toBe(chosen)
    expect(await request.leads(login(), 'bob')).toBe('page')
  },

  'prompt=none': async (way) => {
    const { open, walk } = stageOf(way, { rememberConsent: true })
    // A login is demanded or silent, and a device always needs the page.
    const never = { 'demanded login': 'invalid_request', device: 'interaction_required' }
    const silent = async (owner?: string) => (await open({ prompt: 'none' })).leads(undefined, owner)
    expect(await silent('')).toBe(but(way, 'login_required', never))
    expect(await silent()).toBe(but(way, 'consent_required', never))
    await walk()
    expect(await silent()).toBe(but(way, 'allowed', never))
  },

  'another login at the decision': async (way) => {
    const { open, login, now } = stageOf(way)
    const decidedWith = async (how: ReturnType<typeof login>, ...pages: ReturnType<typeof login>[]) => {
      const request = await open()
      let page = await request.page()
      for (const each of pages) page = await request.page(each)
      return (await request.access(await request.decide(page, 'approve', { how }))).login
    }
    expect(await decidedWith(login(), login('mfa otp'))).toEqual({ acr: 'pwd', amr: [], authTime: now() })
    expect(await decidedWith(login('mfa'), login())).toEqual({ acr: 'mfa', amr: [], authTime: now() })
    expect(await decidedWith(login(), login('mfa'), login())).toMatchObject({ acr: 'pwd' })
  },
}

const refusing =
  (fields: Fields, error: string): Tell =>
  async (way) => {
    expect(await (await stageOf(way).open(fields)).leads()).toBe(error)
  }

const requests: Rows = {
  resource: async (way) => {
    const { walk, flow } = stageOf(way)
    const { page, tokens } = await walk({ resource: photosApi })
    expect(page.text).toContain(photosApi)
    expect((await flow.photos(tokens.access_token)).body.audience).toEqual([photosApi])
  },

  'an unknown resource': refusing({ resource: 'https://elsewhere.example' }, 'invalid_target'),
  'an unknown scope': refusing({ scope: 'photos:burn' }, 'invalid_scope'),
  'acr_values of no login': refusing({ acr_values: 'gold' }, unmet),
  'a malformed dpop_jkt': refusing({ dpop_jkt: 'x' }, 'invalid_request'),
  'a malformed max_age': refusing({ max_age: 'x' }, 'invalid_request'),
  'a request object without the plug-in': refusing(
    { scope: 'openid', request: 'x' },
    'request_not_supported',
  ),

  dpop_jkt: async (way) => {
    const { open, flow, clock } = stageOf(way)
    const key = new Prover(clock.read)
    const request = await open({ dpop_jkt: key.thumbprint })
    const decided = await request.decide(await request.page())
    const thief = new Prover(clock.read)
    for (const answer of [
      await request.tokens(decided),
      await thief.tokens(flow, request.grant(decided), viewer),
    ])
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant'])
    const { body } = await key.tokens(flow, request.grant(decided), viewer)
    expect(body.token_type).toBe('DPoP')
    expect((await key.call(flow, body.access_token)).body.subject).toBe('alice')
  },
}

const choices = () => workspaceQuestion('w1', 'w2')
const optional = { description: 'Print your photos', weight: 'write', optional: true } as const
const notOffered: readonly RepeatedFields[] = [
  { 'scope:openid': 'yes' },
  { 'scope:photos:print': 'on' },
  { 'scope:photos:print': ['yes', 'yes'] },
  { scope: 'photos:print' },
  { scope: 'photos:read openid' },
  { scope: 'photos:read', 'scope:photos:print': 'yes' },
]
const rememberConsent = true
const pages: Rows = {
  choices: async (way) => {
    const { open } = stageOf(way, { choices })
    const request = await open()
    const page = await request.page()
    expect(answersOf(page)).toEqual(['w1', 'w2'])
    for (const selected of [{}, { choice: 'w3' }, { choice: ['w1', 'w2'] }])
      expect(await request.decided(page, 'approve', { selected })).toBe(refused)
    const decided = await request.decide(page, 'approve', { selected: { choice: 'w2' } })
    expect((await request.access(decided)).choice).toEqual({ workspace: 'w2' })
  },

  'optional scopes': async (way) => {
    const { open } = stageOf(way, { scopes: { 'photos:print': optional } })
    for (const [selected, granted] of [
      [{}, 'photos:read'],
      [{ 'scope:photos:print': 'yes' }, 'photos:read photos:print'],
    ] as const) {
      const request = await open({ scope: 'photos:read photos:print' })
      const page = await request.page()
      expect(boxesOf(page)).toEqual(['scope:photos:print'])
      for (const bad of notOffered)
        expect(await request.decided(page, 'approve', { selected: bad })).toBe(refused)
      expect((await request.tokens(await request.decide(page, 'approve', { selected }))).body.scope).toBe(
        granted,
      )
    }
  },

  'openid, acr_values, dpop_jkt, choices and optional scopes together': async (way) => {
    const { open, login, flow, clock } = stageOf(way, {
      choices,
      scopes: { 'photos:print': optional },
    })
    const key = new Prover(clock.read)
    const scope = 'openid photos:read photos:print'
    const request = await open({ scope, dpop_jkt: key.thumbprint, acr_values: 'mfa' })
    const how = login('mfa')
    const selected = { choice: 'w1', 'scope:photos:print': 'yes' }
    const decided = await request.decide(await request.page(how), 'approve', { how, selected })
    const { body } = await key.tokens(flow, request.grant(decided), viewer)
    expect([body.scope, claimsIn(body.id_token)['acr']]).toEqual([scope, 'mfa'])
    const told = { choice: { workspace: 'w1' }, login: { acr: 'mfa' } }
    expect((await key.call(flow, body.access_token)).body).toMatchObject(told)
  },

  'remembered consent': async (way) => {
    const { open, walk } = stageOf(way, { rememberConsent })
    expect((await walk()).page.text).not.toContain(already)
    const request = await open()
    const page = await request.page()
    // The owner of a device compares its code on the page.
    expect(await request.led(page)).toBe(but(way, 'allowed', { device: 'page' }))
    expect(page.text.includes(already)).toBe(way === 'device')
    const wider = await (await open({ scope: 'photos:read photos:print' })).page()
    expect(wider.text).toContain(already)
  },

  'remembered consent of a public client': async (way) => {
    const { walk, flow } = stageOf(way, { rememberConsent })
    await walk({}, publicViewer)
    const again = await flow.ask({ ...authorizationRequest(publicViewer), scope: 'photos:read' }, 'alice')
    // Its https address proves it in a browser, and nothing does at a device.
    expect(again.status).toBe(but(way, 303, { device: 200 }))
  },

  'prompt=consent': async (way) => {
    const { open, walk } = stageOf(way, { rememberConsent })
    await walk()
    expect(await (await open({ prompt: 'consent' })).leads()).toBe('page')
  },

  skipConsent: async (way) => {
    const { open } = stageOf(way, { skipConsent: () => true })
    expect(await (await open()).leads()).toBe(but(way, 'allowed', { device: 'page' }))
  },

  'a page of the host': async (way) => {
    const { open, login, flow } = stageOf(way, {
      pages: { consent: (_request, response, view) => void response.json(view) },
    })
    const request = await open()
    const { body: view } = await request.page()
    expect(view).toMatchObject({ client: { client_id: 'viewer' }, scope: [{ token: 'photos:read' }] })
    const userCode = request.opened?.body.user_code
    expect(view.device).toEqual(but(way, undefined, { device: expect.objectContaining({ userCode }) }))
    const path = but(way, '/authorize', { device: '/device' })
    const decided = await flow.submit(path, { ...view.fields, decision: 'approve' }, 'alice', login())
    expect((await request.tokens(decided)).status).toBe(200)
  },
}

const opposing =
  (decision: string, opposite: string, outcome: string): Tell =>
  async (way) => {
    const { open } = stageOf(way)
    const request = await open()
    const page = await request.page()
    const first = await request.decide(page, decision)
    expect(await request.led(first)).toBe(outcome)
    // The page of a device tells what was decided.
    expect(await request.decided(page, opposite)).toBe(but(way, refused, { device: outcome }))
    if (outcome === 'allowed') expect((await request.tokens(first)).status).toBe(200)
    else if (way === 'device') expect((await request.tokens(first)).body.error).toBe('access_denied')
  }

const decisions: Rows = {
  'another owner': async (way) => {
    const { open } = stageOf(way)
    const request = await open()
    const page = await request.page()
    // In a browser each owner has a request, and a demanded login is demanded of each.
    const others = { browser: 'page', 'demanded login': 'login prompt=login', device: 'form 400' }
    expect(await request.leads(undefined, 'bob')).toBe(but(way, refused, others))
    expect(await request.decided(page, 'approve', { owner: 'bob' })).toBe(refused)
    expect((await request.access(await request.decide(page))).subject).toBe('alice')
  },

  'a reload in another language': async (way) => {
    const { open, login } = stageOf(way)
    const request = await open()
    const first = await request.page()
    const second = await request.page({ ...login(), 'Accept-Language': 'de' })
    expect(second.text).toContain('<html lang="de"')
    const [one, other] = [first, second].map(
      (page) => consentFormOf(page, '/').fields['authorization_request'],
    )
    // Nothing names the record of a plain request, so its reload is another request.
    expect(one === other).toBe(way !== 'browser')
    await request.decide(first)
    const opposite = but(way, refused, { browser: 'denied', device: 'allowed' })
    expect(await request.decided(second, 'deny')).toBe(opposite)
    const others = { browser: 'page', 'demanded login': 'login prompt=login', device: 'allowed' }
    expect(await request.leads()).toBe(but(way, refused, others))
  },

  'a repeated decision': async (way) => {
    const { open, login } = stageOf(way)
    const request = await open()
    const page = await request.page()
    const first = await request.decide(page)
    const second = await request.decide(page, 'approve', { how: login('mfa') })
    expect(await request.led(second)).toBe('allowed')
    expect(request.grant(second)).toEqual(request.grant(first))
    // The first decision counts, and so does its login.
    expect((await request.access(second)).login).toMatchObject({ acr: 'pwd' })
    expect(await request.decided(page)).toBe(but(way, 'allowed already', { device: 'allowed' }))
  },

  'approve, then deny': opposing('approve', 'deny', 'allowed'),
  'deny, then approve': opposing('deny', 'approve', 'denied'),
}

const changes: Rows = {
  'a client that is disabled': async (way) => {
    const { open, registrations } = stageOf(way)
    const request = await open()
    const page = await request.page()
    registrations.set('viewer', { ...viewer.registration, disabled: true })
    expect(await request.decided(page)).toBe(refused)
    expect(await request.leads()).toBe(refused)
    registrations.set('viewer', viewer.registration)
    expect(await request.decided(page)).toBe('allowed')
  },

  'a scope that is withdrawn': async (way) => {
    const { open, registrations } = stageOf(way)
    const request = await open({ scope: 'photos:read photos:print' })
    const page = await request.page()
    registrations.set('viewer', { ...viewer.registration, scope: 'photos:read' })
    expect(await request.decided(page)).toBe(but(way, 'invalid_scope', { device: 'page 400 invalid_scope' }))
    registrations.set('viewer', viewer.registration)
    expect(await request.decided(page)).toBe('allowed')
  },
}

test.each(
  Object.entries({ ...identity, ...logins, ...requests, ...pages, ...decisions, ...changes }).flatMap(
    ([feature, tell]) => ways.map((way) => [feature, way, tell] as const),
  ),
)('%s, %s', async (_feature, way, tell) => {
  expect.hasAssertions()
  await tell(way)
})
