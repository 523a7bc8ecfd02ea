import {
  type AuthorizationStore,
  memoryStore,
  pushedAuthorizationRequests,
} from 'express-authorization-server'
import { photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { asked, loginOf, loginStage, session } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'
import { type Brought, pushingStage } from '../support/flows/pushing'
import { redirectionOf } from '../support/flows/redirection'
import { setStage } from '../support/flows/stage'

describe('a demanded login', () => {
  test.each<[string, (back: URLSearchParams) => void, number]>([
    ['other parameters', (back) => back.set('state', 'of another request'), 0],
    ['another client', (back) => [back.set('client_id', 'photo-book'), back.delete('redirect_uri')], 0],
    ['another secret', (back) => back.set('login_returns', `1.lr_${'A'.repeat(64)}`), 0],
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
    const reference = String(/lr_[\w-]{64}/.exec(back))
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

  test('gives the owner the same form again by a reload, and demands a new login of another owner', async () => {
    const { ask, open, flow, now } = loginStage()
    const { back } = loginOf(await ask(asked, 'alice'))
    const login = session(now())
    const pages = [await open(back, 'alice', now()), await open(back, 'alice', now())]
    const [first, second] = pages.map((page) => consentFormOf(page, '/authorize').fields)
    expect(second).toEqual(first)
    expect(loginOf(await open(back, 'bob', now())).prompt).toBe('login')
    const response = await flow.submit('/authorize', { ...second, decision: 'approve' }, 'alice', login)
    expect(outcomeOf(response)).toBe('redirect code')
  })

  test('keeps the demand in a request that its client pushed, which stays until the decision', async () => {
    const { ask, open, flow, now, clock } = loginStage({
      plugIns: [pushedAuthorizationRequests()],
    })
    const { body } = await flow.request(photoPrint, asked, '/par')
    const pushed = { client_id: 'photo-print', request_uri: String(body.request_uri) }
    const { back } = loginOf(await ask(pushed, 'alice', now() - 6))
    expect(back).not.toContain('lr_')
    clock.advance(60)
    expect(outcomeOf(await open(back, 'alice', now() - 66))).toBe('redirect login_required')
    const page = await open(back, 'alice', now())
    expect((await open(back, 'alice', now())).status).toBe(200)
    await flow.decide(page, 'approve', 'alice', session(now()))
    expect((await open(back, 'alice', now())).status).toBe(400)
  })

  test('is refused on a page if another browser uses the pushed request up meanwhile', async () => {
    const inner = memoryStore()
    const store: AuthorizationStore = {
      find: (id) => inner.find(id),
      save: async (authorization, ...revisions) => {
        const { state, id } = authorization
        if (state === 'unclaimed' && authorization.demandedLogin !== undefined) await inner.remove(id)
        return inner.save(authorization, ...revisions)
      },
      remove: (id) => inner.remove(id),
    }
    const { ask, flow } = loginStage({ plugIns: [pushedAuthorizationRequests()], store })
    const { body } = await flow.request(photoPrint, asked, '/par')
    const response = await ask({ client_id: 'photo-print', request_uri: body.request_uri }, 'alice')
    expect(outcomeOf(response)).toBe('page 400 invalid_request')
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
