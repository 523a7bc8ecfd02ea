import { authorizationIdOf, type AuthorizationStore, memoryStore } from 'express-authorization-server'
import { photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { Gate } from '../support/flows/gate'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf } from '../support/flows/redirection'
import { setStage } from '../support/flows/stage'
import { pushedAuthorizationRequests, urn } from './pushed-authorization-requests'

type Options = Parameters<typeof setStage>[0]

function stage(options: Options = {}) {
  const set = setStage({ plugIns: [pushedAuthorizationRequests], ...options })
  const push = async (bend = {}, client = photoPrint) =>
    set.flow.request(client, { ...authorizationRequest(client), ...bend }, '/par')
  /** What a browser sends of a pushed request. */
  const pushed = async (bend = {}) => {
    const { body } = await push(bend)
    return { client_id: 'photo-print', request_uri: String(body.request_uri) }
  }
  return { ...set, push, pushed }
}

describe('a pushed authorization request', () => {
  test('is answered with a reference, and gives a code for what was pushed, whatever the browser adds', async () => {
    const { flow, push } = stage()
    const { status, body } = await push({ scope: 'photos:read' })
    expect([status, body]).toEqual([201, { request_uri: expect.stringMatching(/^urn:/), expires_in: 600 }])
    const sent = {
      client_id: 'photo-print',
      request_uri: body.request_uri,
      scope: 'photos:print',
      state: 'x',
    }
    const page = await flow.ask(sent, 'alice')
    expect(page.text).not.toContain('Print your photos')
    const response = await flow.decide(page, 'approve', 'alice')
    expect(response.get('Location')).toContain('state=af0ifjsldkj')
    const tokens = await flow.redeem(photoPrint, codeOf(response))
    expect(tokens.body).toMatchObject({ scope: 'photos:read' })
  })

  test('has its page in the language that it asks for', async () => {
    const { flow, pushed } = stage()
    const page = await flow.ask(await pushed({ ui_locales: 'ja' }), 'alice')
    expect(page.text).toContain('<html lang="ja"')
  })

  test('is used once: by its consent page, and by an approval without a page', async () => {
    for (const skipConsent of [() => false, () => true]) {
      const { flow, pushed } = stage({ skipConsent })
      const request = await pushed()
      expect([200, 303]).toContain((await flow.ask(request, 'alice')).status)
      expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('page 400 invalid_request')
    }
  })

  test('survives a slow login, and ends with its lifetime', async () => {
    const { flow, pushed, clock } = stage()
    const request = await pushed()
    const login = await flow.ask(request)
    const back = new URL(String(login.get('Location')), 'http://localhost').searchParams.get('return_to')
    clock.advance(599)
    expect((await flow.open(String(back), 'alice')).status).toBe(200)
    const late = await pushed()
    clock.advance(600)
    expect(outcomeOf(await flow.ask(late, 'alice'))).toBe('page 400 invalid_request')
  })

  test('is good for its own client alone, and another client does not use it up', async () => {
    const { flow, pushed } = stage()
    const request = await pushed()
    const foreign = await flow.ask({ ...request, client_id: 'photo-book' }, 'alice')
    expect(outcomeOf(foreign)).toBe('page 400 invalid_request')
    expect((await flow.ask(request, 'alice')).status).toBe(200)
  })

  test.each([
    ['another secret', (uri: string) => uri.slice(0, -4) + 'AAAA'],
    ['another kind of credential', (uri: string) => uri.replace('rh_', 'lr_')],
    ['no handle', () => `${urn}x`],
  ])('with %s is refused on a page', async (_what, forge) => {
    const { flow, pushed } = stage()
    const { request_uri, ...rest } = await pushed()
    const response = await flow.ask({ ...rest, request_uri: forge(request_uri) }, 'alice')
    expect(outcomeOf(response)).toBe('page 400 invalid_request')
  })

  test('is checked when it is pushed, and keeps no credential of the client', async () => {
    const { push, store, flow } = stage()
    expect(outcomeOf(await push({ scope: 'reports:write' }))).toBe('400 invalid_scope')
    expect(outcomeOf(await push({ request_uri: 'urn:x' }))).toBe('400 invalid_request')
    const { secret } = photoPrint
    const fields = { ...authorizationRequest(photoPrint), client_secret: secret }
    const { body } = await flow.submit('/par', fields)
    const record = await store.find(String(authorizationIdOf(body.request_uri.slice(urn.length))))
    expect(JSON.stringify(record)).not.toContain(secret)
  })

  test('of another issuer on the same store is unknown', async () => {
    const store = memoryStore()
    const one = stage({ store })
    const other = stage({ store, issuer: 'http://localhost:3000' })
    expect(outcomeOf(await other.flow.ask(await one.pushed(), 'alice'))).toBe('page 400 invalid_request')
  })

  test.each([
    ['sees the page', false, 'question'],
    ['has approved before', true, 'redirect code'],
  ])(
    'belongs to one of two browsers that open it at once, whose owner %s',
    async (_what, isApproved, won) => {
      const inner = memoryStore()
      const gate = new Gate()
      let isHeld = false
      // Both requests have read the unclaimed record before one of them writes.
      const store: AuthorizationStore = {
        find: (id) => inner.find(id),
        save: async (authorization, ...revisions) => {
          if (isHeld) await gate.pass()
          return inner.save(authorization, ...revisions)
        },
        remove: (id) => inner.remove(id),
      }
      const { flow, pushed } = stage({ store, storeDeadline: 5, skipConsent: () => isApproved })
      const request = await pushed()
      isHeld = true
      const answers = [flow.ask(request, 'alice'), flow.ask(request, 'bob')]
      const both = Promise.all(answers)
      while (gate.waiting < 2) await new Promise(setImmediate)
      gate.open()
      const outcomes = (await both).map(outcomeOf)
      expect(outcomes.toSorted()).toEqual(['page 400 invalid_request', won])
    },
  )
})
