import { type AuthorizationStore, memoryStore } from 'express-authorization-server'
import type { Response } from 'supertest'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import { setStage } from '../support/flows/stage'
import { prompt } from './prompt'
import { pushedAuthorizationRequests } from './pushed-authorization-requests'

const asked = { ...authorizationRequest(photoPrint), prompt: 'login' }

/** A host whose header names the owner, and the time of the login. */
function stage(options: Parameters<typeof setStage>[0] = {}) {
  const set = setStage({
    plugIns: [prompt],
    resourceOwner: (req) => {
      const subject = req.get('X-Owner')
      const at = req.get('X-Logged-In-At')
      return subject && { subject, ...(at && { authenticatedAt: Number(at) }) }
    },
    ...options,
  })
  const now = () => Math.floor(set.clock.read() / 1000)
  /** A request of an owner who logged in at this time. */
  const open = (path: string, owner?: string, at?: number) =>
    set.flow.open(path, owner, at === undefined ? {} : { 'X-Logged-In-At': String(at) })
  const ask = (fields: Record<string, string | undefined>, owner?: string, at?: number) =>
    open(`/authorize?${formOf(fields)}`, owner, at)
  return { ...set, now, open, ask }
}

const loginOf = (response: Response) => {
  const { pathname, searchParams } = new URL(String(response.get('Location')), 'http://localhost')
  expect([response.status, pathname]).toEqual([303, '/login'])
  return { back: String(searchParams.get('return_to')), prompt: searchParams.get('prompt') }
}

describe('prompt=login', () => {
  test('sends an owner who is logged in to a new login, and then to the page', async () => {
    const { ask, open, now, clock, flow } = stage()
    const { back, prompt: again } = loginOf(await ask(asked, 'alice', now() - 60))
    expect(again).toBe('login')
    clock.advance(590)
    const page = await open(back, 'alice', now())
    expect(page.status).toBe(200)
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect code')
  })

  test('takes one login of an owner who was not logged in', async () => {
    const { ask, open, now } = stage()
    const { back, prompt: again } = loginOf(await ask(asked))
    expect(again).toBeNull()
    expect((await open(back, 'alice', now())).status).toBe(200)
  })

  test('ends on a page if the login comes back three times without a new login', async () => {
    const { ask, open, now, failures } = stage()
    let response = await ask(asked, 'alice', now() - 1)
    for (let returns = 0; returns < 3; returns++)
      response = await open(loginOf(response).back, 'alice', now() - 1)
    expect(response.status).toBe(400)
    expect(response.text).toContain('without a new login')
    expect(failures).toMatchObject([{ reason: 'login_loop' }])
  })

  test('uses a reference up with the page, and keeps one record for all returns', async () => {
    const { ask, open, now, store } = stage()
    const first = loginOf(await ask(asked, 'alice', now() - 1)).back
    const second = loginOf(await open(first, 'alice', now() - 1)).back
    expect(store.calls.save).toBe(1)
    expect((await open(second, 'alice', now())).status).toBe(200)
    loginOf(await open(second, 'alice', now() - 1))
  })

  test.each<[string, (back: URLSearchParams) => void, number]>([
    ['other parameters', (back) => back.set('state', 'of another request'), 0],
    ['another client', (back) => [back.set('client_id', 'photo-book'), back.delete('redirect_uri')], 0],
    ['another secret', (back) => back.set('login_returns', `1.lr_${'A'.repeat(64)}`), 0],
    ['no reference', (back) => back.delete('login_returns'), 0],
    ['its own parameters after its lifetime', () => {}, 600],
  ])('demands a login again for a reference with %s', async (_what, bend, seconds) => {
    const { ask, open, now, clock } = stage()
    const { back } = loginOf(await ask(asked, 'alice', now() - 1))
    const url = new URL(back, 'http://localhost')
    bend(url.searchParams)
    clock.advance(seconds)
    const again = loginOf(await open(url.pathname + url.search, 'alice', now()))
    expect(again.prompt).toBe('login')
  })

  test('a reference approves nothing, whoever has seen it', async () => {
    const { ask, flow } = stage()
    const { back } = loginOf(await ask(asked, 'alice'))
    const reference = String(/lr_[\w-]{64}/.exec(back))
    for (const authorization_request of [reference, reference.replace('lr_', 'ar_')]) {
      const fields = { authorization_request, decision: 'approve' }
      expect(outcomeOf(await flow.submit('/authorize', fields, 'alice'))).toBe('page 400 invalid_request')
    }
  })

  test("an attacker's reference shows an owner a page of the owner's own, which the attacker cannot decide", async () => {
    const { ask, open, flow, now } = stage()
    const { back } = loginOf(await ask(asked, 'mallory'))
    const page = await open(back, 'alice', now())
    expect(page.text).toContain('alice')
    const { action, fields } = consentFormOf(page, '/authorize')
    const response = await flow.submit(action, { ...fields, decision: 'approve' }, 'mallory')
    expect(outcomeOf(response)).toBe('page 400 invalid_request')
  })

  test('keeps no more demanded logins of one network than the limit allows, until they end', async () => {
    const limits = { networks: { authorization: { attempts: 3, seconds: 1 } } }
    const { ask, open, now, clock, store } = stage({ limits })
    const backs: string[] = []
    for (let logins = 0; logins < 3; logins++) backs.push(loginOf(await ask(asked)).back)
    clock.advance(2)
    expect((await ask(asked)).status).toBe(429)
    expect(store.calls.save).toBe(3)
    expect((await open(String(backs[0]), 'alice', now())).status).toBe(200)
    loginOf(await ask(asked))
  })

  test('keeps the demand in a request that its client pushed, which is used up by the page', async () => {
    const { ask, open, flow, now, clock, store } = stage({ plugIns: [prompt, pushedAuthorizationRequests] })
    const { body } = await flow.request(photoPrint, asked, '/par')
    const pushed = { client_id: 'photo-print', request_uri: String(body.request_uri) }
    const { back } = loginOf(await ask(pushed, 'alice', now() - 1))
    expect(back).not.toContain('lr_')
    clock.advance(60)
    const again = loginOf(await open(back, 'alice', now() - 61)).back
    expect(store.calls.save).toBe(2)
    expect((await open(again, 'alice', now())).status).toBe(200)
    expect((await open(again, 'alice', now())).status).toBe(400)
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
    const { ask, flow } = stage({ plugIns: [prompt, pushedAuthorizationRequests], store })
    const { body } = await flow.request(photoPrint, asked, '/par')
    const response = await ask({ client_id: 'photo-print', request_uri: body.request_uri }, 'alice')
    expect(outcomeOf(response)).toBe('page 400 invalid_request')
  })

  test('of a full request is refused, because its URL has no room for the reference', async () => {
    const { ask } = stage()
    const count = 100 - Object.keys(asked).length
    const many = Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, '1']))
    expect(redirectionOf(await ask({ ...asked, ...many }, 'alice')).parameters['error']).toBe(
      'invalid_request',
    )
  })
})

describe('prompt=none', () => {
  test.each<[string, string | undefined, boolean, string]>([
    ['no owner is logged in', undefined, true, 'redirect login_required'],
    ['the owner has not approved before', 'alice', false, 'redirect consent_required'],
    ['the owner has approved before', 'alice', true, 'redirect code'],
  ])('shows no page if %s', async (_when, owner, approved, outcome) => {
    const skipConsent = jest.fn(() => approved)
    const { ask } = stage({ skipConsent })
    expect(outcomeOf(await ask({ ...asked, prompt: 'none' }, owner))).toBe(outcome)
    expect(skipConsent).toHaveBeenCalledTimes(owner === undefined ? 0 : 1)
  })

  test('is refused for an app that another app could pass for', async () => {
    const app = bent(photoBook, { redirect_uris: ['com.example.book:/callback'] })
    const { ask } = stage({ clients: [app.registration], skipConsent: () => true })
    const fields = { ...authorizationRequest(app), prompt: 'none' }
    expect(outcomeOf(await ask(fields, 'alice'))).toBe('redirect interaction_required')
    expect(outcomeOf(await ask({ ...fields, prompt: 'none login' }, 'alice'))).toBe(
      'redirect invalid_request',
    )
  })
})

test('prompt=consent shows the page to an owner who has approved before', async () => {
  const { ask } = stage({ skipConsent: () => true })
  expect(outcomeOf(await ask({ ...asked, prompt: 'consent' }, 'alice'))).toBe('question')
  expect(outcomeOf(await ask({ ...asked, prompt: undefined }, 'alice'))).toBe('redirect code')
})
