import {
  type AuthorizationServerOptions,
  type LoginRequest,
  memoryStore,
  createAuthorizationServer,
} from '../../lib/index'
import { photoBook } from '../support/flows/clients'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { asked, loginOf, loginStage, session } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'
import { manyTimes } from '../support/flows/raw-request'
import { redirectionOf } from '../support/flows/redirection'
import { getTokens, ofClient } from '../support/flows/registered-client'
import { day, inMemory, notesApp, registeringOn } from '../support/flows/registering'
import { but } from '../support/stores/but'
import { consentFormOf } from '../support/flows/consent-form'
import { type Brought, pushingStage } from '../support/flows/pushing'
import { setStage } from '../support/flows/stage'
import express, { type Express, type RequestHandler } from 'express'
import supertest from 'supertest'
import { canonicalOptions } from '../support/flows/application'

describe('prompt=login', () => {
  test('sends an owner who is logged in to a new login, and then to the page', async () => {
    const { ask, open, now, clock, flow } = loginStage()
    const { back, prompt: again } = loginOf(await ask(asked, 'alice', now() - 60))
    expect(again).toBe('login')
    clock.advance(590)
    const page = await open(back, 'alice', now())
    expect(page.status).toBe(200)
    // The login that decides counts, and not that of the page alone.
    for (const [at, outcome] of [
      [now() - 600, 'login_required'],
      [now(), 'code'],
    ] as const)
      expect(outcomeOf(await flow.decide(page, 'approve', 'alice', session(at)))).toBe(`redirect ${outcome}`)
  })

  // The clock of the process that took the login may be 5 seconds behind.
  test('takes a login that seems to be up to 5 seconds older than its demand', async () => {
    const { ask, open, now } = loginStage()
    const { back } = loginOf(await ask(asked, 'alice', now() - 60))
    expect(outcomeOf(await open(back, 'alice', now() - 6))).toBe('redirect login_required')
    expect((await open(back, 'alice', now() - 5)).status).toBe(200)
  })
})

describe('prompt=none of a client that registered itself', () => {
  const set = async (options: Partial<AuthorizationServerOptions> = { authorizations: true }) => {
    const staged = registeringOn(inMemory)({}, options)
    const client = await staged.register(notesApp)
    const silent = { ...ofClient(client), prompt: 'none', state: 's' }
    /** The error that the client gets by redirect, or `page`. */
    const ask = async (bend: object = {}, owner: string | null = 'alice') => {
      const answer = await staged.flow.ask({ ...silent, ...bend }, owner ?? undefined)
      if (answer.status === 303) return redirectionOf(answer).parameters
      expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('notes.example')])
      return 'page'
    }
    const signedOut = () => ask({}, null)
    return { ...staged, client, ask, signedOut }
  }

  // RFC 9700 4.11.2: a stranger could approve the client for himself, and send the link to others.
  test('reaches it by redirect where the owner of this session has let it in, and with no code', async () => {
    const staged = await set()
    const { ask, signedOut, client, oauth } = staged
    expect([await ask(), await signedOut()]).toEqual(['page', 'page'])
    await getTokens(staged, client)
    const error = { error: 'consent_required', state: 's', iss: 'http://localhost' }
    expect(await ask()).toMatchObject(error)
    expect(await ask({ scope: 'unheard-of' })).toMatchObject({ error: 'invalid_scope' })
    expect(await ask({ response_mode: 'form_post' })).toMatchObject({ error: 'invalid_request' })
    expect([await ask({}, 'mallory'), await signedOut()]).toEqual(['page', 'page'])
    expect(await ask({ prompt: undefined, scope: 'unheard-of' })).toBe('page')
    const other = await staged.register({ ...notesApp, client_name: 'Other' })
    expect(await ask({ client_id: other.body.client_id })).toBe('page')
    await oauth.authorizations.revoke('alice', client.body.client_id)
    expect(await ask()).toBe('page')
  })

  test('is a page once the approval has expired, and where the server keeps no list of approvals', async () => {
    const staged = await set()
    await getTokens(staged, staged.client)
    staged.clock.advance(40 * day)
    const again = await staged.register(notesApp)
    expect(await staged.ask({ client_id: again.body.client_id })).toBe('page')
    const without = await set({})
    await getTokens(without, without.client)
    expect(await without.ask()).toBe('page')
  })

  test('is a page while the store cannot say what the owner has let in', async () => {
    const store = memoryStore()
    let isAway = false
    const failing = but(store, {
      read: async (key) => {
        if (isAway && key.startsWith('owner:')) throw new Error('away')
        return store.read(key)
      },
    })
    const limits = { selfRegisteredClients: false as const }
    const staged = await set({ authorizations: true, store: failing, limits })
    await getTokens(staged, staged.client)
    expect(await staged.ask()).toMatchObject({ error: 'consent_required' })
    isAway = true
    expect(await staged.ask()).toBe('page')
  })
})

describe('max_age', () => {
  const aged = (max_age: string, prompt?: string) => ({ ...asked, prompt, max_age })

  // After a login, 5 seconds are for its way back.
  test.each([
    ['5', 10, 'question'],
    ['5', 11, 'login'],
    ['0', 30, 'question'],
  ])('%s: a new login that comes back after %i s leads to the %s', async (max_age, seconds, where) => {
    const { ask, open, now, clock } = loginStage()
    const { back, prompt: again } = loginOf(await ask(aged(max_age), 'alice'))
    expect(again).toBe('login')
    const loggedIn = now()
    clock.advance(seconds)
    const response = await open(back, 'alice', loggedIn)
    expect(response.status === 200 ? 'question' : 'login').toBe(where)
    if (where === 'question') return
    // Once more, and no loop: who comes back without another login does not get the page.
    const { back: way, prompt: more } = loginOf(response)
    expect(more).toBe('login')
    expect(outcomeOf(await open(way, 'alice', loggedIn))).toBe('redirect login_required')
    expect((await open(way, 'alice', now())).status).toBe(200)
  })

  test('takes a login of before the request that is young enough, from an owner whom the server did not know', async () => {
    const { ask, open, now } = loginStage()
    const { back } = loginOf(await ask(aged('600')))
    expect((await open(back, 'alice', now() - 500)).status).toBe(200)
    const other = loginOf(await ask(aged('600'))).back
    expect(outcomeOf(await open(other, 'alice', now() - 700))).toBe('redirect login_required')
  })
})

test('what the client proposes reaches a login of the host as an object', async () => {
  const heard: LoginRequest[] = []
  const { ask } = loginStage({
    login: (_request, response, _returnTo, request) => {
      heard.push(request)
      response.end()
    },
  })
  const wishes = { login_hint: 'alice@example.com', acr_values: 'mfa pwd', ui_locales: 'de fr' }
  await ask({ ...asked, ...wishes, prompt: 'login' })
  expect(heard[0]).toEqual({
    again: false,
    selectAccount: false,
    acrValues: ['mfa', 'pwd'],
    loginHint: 'alice@example.com',
    uiLocales: ['de', 'fr'],
  })
})

test('a prompt that the server does not know is ignored [OpenID Connect Core 3.1.2.1]', async () => {
  const { ask } = loginStage()
  expect(outcomeOf(await ask({ ...asked, prompt: 'create' }, 'alice'))).toBe('question')
  expect(loginOf(await ask({ ...asked, prompt: 'Login login create' }, 'alice')).prompt).toBe('login')
})

test.each([
  { prompt: 'none create' },
  { max_age: '-1' },
  { max_age: '12345678901' },
  { login_hint: 'x'.repeat(1025) },
])('%j is invalid_request', async (bend) => {
  const { ask } = loginStage()
  expect(outcomeOf(await ask({ ...asked, prompt: undefined, ...bend }, 'alice'))).toBe(
    'redirect invalid_request',
  )
})

describe('a demanded login', () => {
  test.each<[string, (back: URLSearchParams) => void, number]>([
    ['other parameters', (back) => back.set('state', 'of another request'), 0],
    ['another client', (back) => [back.set('client_id', 'photo-book'), back.delete('redirect_uri')], 0],
    ['another secret', (back) => back.set('login_returns', `1.lr_${'A'.repeat(65)}`), 0],
    ['no reference', (back) => back.delete('login_returns'), 0],
    ['its own parameters after its lifetime', () => {}, 600],
  ])('demands a login again for a reference with %s', async (_what, bend, seconds) => {
    const { ask, open, now, clock } = loginStage()
    const { back } = loginOf(await ask(asked, 'alice', now() - 1))
    const url = new URL(back, 'http://localhost')
    bend(url.searchParams)
    clock.advance(seconds)
    const again = loginOf(await open(url.pathname + url.search, 'alice', now()))
    expect(again.prompt).toBe('login')
  })

  test('a reference approves nothing, whoever has seen it', async () => {
    const { ask, flow } = loginStage()
    const { back } = loginOf(await ask(asked, 'alice'))
    const reference = String(/lr_[\w-]{65}/.exec(back))
    for (const authorization_request of [reference, reference.replace('lr_', 'ar_')]) {
      const fields = { authorization_request, decision: 'approve' }
      expect(outcomeOf(await flow.submit('/authorize', fields, 'alice'))).toBe('page 400 invalid_request')
    }
  })

  test("an attacker's reference shows an owner a page of the owner's own, which the attacker cannot decide", async () => {
    const { ask, open, flow, now } = loginStage()
    const { back } = loginOf(await ask(asked, 'mallory'))
    const page = await open(back, 'alice', now())
    expect(page.text).toContain('alice')
    const { action, fields } = consentFormOf(page, '/authorize')
    const response = await flow.submit(action, { ...fields, decision: 'approve' }, 'mallory')
    expect(outcomeOf(response)).toBe('page 400 invalid_request')
  })

  test('keeps no more demanded logins of one network than the limit allows, until they end', async () => {
    const limits = { networks: { authorization: { attempts: 3, seconds: 1 } } }
    const { ask, open, now, clock } = loginStage({ limits })
    const backs: string[] = []
    for (let logins = 0; logins < 3; logins++) backs.push(loginOf(await ask(asked)).back)
    clock.advance(2)
    expect((await ask(asked)).status).toBe(429)
    expect((await open(String(backs[0]), 'alice', now())).status).toBe(200)
    loginOf(await ask(asked))
  })

  test('are 600 of one network in the time of a request by default', async () => {
    const { app, clock } = loginStage({ limits: { networks: { authorization: { seconds: 1 } } } })
    const asking = { method: 'GET', path: `/authorize?${formOf(asked)}`, headers: [] }
    expect(new Set(await manyTimes(app, asking, 600))).toEqual(new Set([303]))
    clock.advance(599)
    expect(await manyTimes(app, asking, 1)).toEqual([429])
    clock.advance(1)
    expect(await manyTimes(app, asking, 1)).toEqual([303])
  })

  test('of a pushed request counts, too, when a browser brings it without a login and lengthens its life', async () => {
    const limits = { networks: { authorization: { attempts: 3, seconds: 1 } } }
    const { pushed, flow, clock } = pushingStage(setStage, { limits }, {})
    const asks: Brought[] = []
    for (let time = 0; time < 5; time++) asks.push(await pushed())
    for (const [at, brought] of asks.slice(0, 3).entries()) {
      loginOf(await flow.ask(brought))
      clock.advance(at % 2)
    }
    clock.advance(2)
    // Again, which lengthens nothing.
    loginOf(await flow.ask({ ...asks[0] }))
    expect((await flow.ask({ ...asks[3] })).status).toBe(429)
    // An owner who is logged in brings it.
    clock.advance(2)
    expect((await flow.ask({ ...asks[4] }, 'alice')).status).toBe(200)
    expect((await flow.ask({ ...asks[0] }, 'alice')).status).toBe(200)
    clock.advance(2)
    loginOf(await flow.ask({ ...asks[3] }))
  })

  test('of a full request is refused, because its URL has no room for the reference', async () => {
    const { ask } = loginStage()
    const count = 100 - Object.keys(asked).length
    const many = Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, '1']))
    expect(redirectionOf(await ask({ ...asked, ...many }, 'alice')).parameters['error']).toBe(
      'invalid_request',
    )
  })
})

const original = authorizationRequest(photoBook)

/** The status of each answer to a browser whose login always leads back at once, until one is no redirect. */
async function walk(app: Express, between = () => {}): Promise<{ statuses: number[]; page: string }> {
  const statuses: number[] = []
  let path = `/authorize?${formOf(original)}`
  for (let i = 0; i < 8; i++) {
    const { status, headers, text } = await supertest(app).get(path)
    statuses.push(status)
    if (status !== 303) return { statuses, page: text }
    path = new URL(String(headers['location']), 'http://localhost').searchParams.get('return_to') ?? ''
    between()
  }
  return { statuses, page: '' }
}

let now = Date.parse('2026-11-23T12:00:00Z')
const withSession: RequestHandler = (req, _res, next) => next(void Object.assign(req, { session: {} }))

function appWith(environment = 'development', ...before: readonly RequestHandler[]) {
  const usual = process.env['NODE_ENV']
  process.env['NODE_ENV'] = environment
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const options = { ...canonicalOptions, resourceOwner: () => undefined, clock: () => now }
  const oauth = createAuthorizationServer(options)
  process.env['NODE_ENV'] = usual
  const reasons: string[] = []
  oauth.events.on('refused', ({ reason }) => reasons.push(reason))
  return { app: express().use(...before, oauth.router()), reasons }
}

afterEach(() => jest.restoreAllMocks())

describe('a login that does not reach the router', () => {
  test('ends at the third return with a page that says why and emits login_loop', async () => {
    const { app, reasons } = appWith()
    const { statuses, page } = await walk(app)
    expect(statuses).toEqual([303, 303, 303, 400])
    expect(page).toContain('mount the session middleware before oauth.router()')
    expect(reasons).toEqual(['login_loop'])
  })

  test('names the missing cookie if the request has a session', async () => {
    expect((await walk(appWith('development', withSession).app)).page).toContain('the browser sent no cookie')
  })

  test('ends in production, too, with a page that does not say what to mount', async () => {
    const usual = appWith('test')
    const { statuses, page } = await walk(usual.app)
    expect(statuses).toEqual([303, 303, 303, 400])
    expect(page).toContain('The login came back three times')
    expect(page).not.toContain('middleware')
  })
})

describe('an owner who is not logged in yet', () => {
  test('may open the same request in any number of tabs', async () => {
    const { app } = appWith()
    const statuses: number[] = []
    for (let tab = 0; tab < 5; tab++)
      statuses.push((await supertest(app).get('/authorize').query(original)).status)
    expect(statuses).toEqual(Array(5).fill(303))
  })

  test('may come back from the login without an owner as often as it takes longer than a minute', async () => {
    const { statuses } = await walk(appWith().app, () => (now += 31_000))
    expect(statuses).toEqual(Array(8).fill(303))
  })
})

test.each(['9.zzzzzzzz', '3.', '4.x'])('a forged count %j leads to the login', async (forged) => {
  const { app } = appWith()
  const { status } = await supertest(app)
    .get('/authorize')
    .query({ ...original, login_returns: forged })
  expect(status).toBe(303)
})
