import request, { type Response } from 'supertest'
import { memoryDynamicClients, memoryStore } from '../../lib/index'
import { application } from '../support/flows/application'
import { photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { notesApp } from '../support/flows/registering'
import { refusalOf, tokensOf } from '../support/flows/tokens'

// Seconds. The store of a busy machine must answer within them where it does not hang.
const storeDeadline = 1

/** A patient server, and on the same store an impatient one, which meets the trouble. */
function twoServers(stage: SetStage) {
  const { flow: calm, store, clock } = stage()
  const { flow, failures } = application({ store, clock: clock.read, storeDeadline })
  return { calm, store, flow, failures }
}

const unavailable = '400 temporarily_unavailable'

describe('While the store fails', () => {
  const trouble = 'fails'
  describeOnStores('the token endpoint asks to try again', (stage) => {
    test.each(['find', 'save'] as const)('for a code, which is not spent (%s) [store-3]', async (verb) => {
      const { calm, flow, store, failures } = twoServers(stage)
      const code = await calm.approve(photoBook)
      store.begin(trouble, verb)
      const response = await flow.redeem(photoBook, code)
      expect(refusalOf(response)).toBe(unavailable)
      expect(response.get('Retry-After')).toBe('1')
      expect(failures).toMatchObject([
        { endpoint: 'token', reason: 'store_unavailable', clientId: 'photo-book', cause: expect.any(Error) },
      ])
      store.recover()
      expect(tokensOf(await calm.redeem(photoBook, code)).scope).toBe('photos:read photos:print')
    })

    test('for a refresh token, which is not rotated', async () => {
      const { calm, flow, store } = twoServers(stage)
      const { accessToken, refreshToken } = await calm.tokens(photoPrint)
      for (const verb of ['find', 'save'] as const) {
        store.begin(trouble, verb)
        expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe(unavailable)
        store.recover()
      }
      expect((await calm.photos(accessToken)).status).toBe(200)
      expect(tokensOf(await calm.refresh(photoPrint, refreshToken)).scope).toBe('photos:read photos:print')
    })

    test('for a replayed code, whose tokens die when it is tried again [code-18]', async () => {
      const { calm, flow, store } = twoServers(stage)
      const code = await calm.approve(photoBook)
      const { accessToken } = tokensOf(await calm.redeem(photoBook, code))
      store.begin(trouble, 'remove')
      expect(refusalOf(await flow.redeem(photoBook, code))).toBe(unavailable)
      store.recover()
      expect(refusalOf(await calm.redeem(photoBook, code))).toBe('400 invalid_grant')
      expect((await calm.photos(accessToken)).status).toBe(401)
    })
  })

  describeOnStores('the authorization endpoint', (stage) => {
    const asked = authorizationRequest(photoBook)

    test('asks the owner to try again when the request of an unregistered client cannot be kept', async () => {
      const { store, clock } = stage()
      const dynamicRegistration = { store: memoryDynamicClients() }
      const { app, flow } = application({ store, clock: clock.read, storeDeadline, dynamicRegistration })
      const { body } = await request(app).post('/register').send(notesApp)
      const [redirect_uri = ''] = notesApp.redirect_uris
      const registration = { ...photoBook.registration, client_id: String(body.client_id) }
      const ofStranger = { ...authorizationRequest({ registration }), redirect_uri, scope: 'photos:read' }
      store.begin(trouble, 'save')
      const page = await flow.ask(ofStranger, 'alice')
      expect([page.status, page.get('Retry-After')]).toEqual([503, '1'])
      expect(page.text).toContain('reload this page to try again')
      expect(page.text).not.toContain('This request cannot go on')
      expect(page.text).toContain(`href="${redirect_uri}?error=temporarily_unavailable&amp;`)
      store.recover()
      expect((await flow.ask(ofStranger, 'alice')).text).toContain('name="decision"')
    })

    test.each(['approve', 'deny'])(
      'shows the owner a page when a request cannot be read, and sends the client an error when the decision cannot be stored: %s',
      async (decision) => {
        const { calm, flow, store } = twoServers(stage)
        const page = await calm.ask(asked, 'alice')
        store.begin(trouble, 'find')
        const response = await flow.decide(page, decision, 'alice')
        expect([errorPageOf(response), response.get('Retry-After')]).toEqual([
          '503 temporarily_unavailable',
          '1',
        ])
        store.recover()
        store.begin(trouble, 'save')
        const { uri, parameters } = redirectionOf(await flow.decide(page, decision, 'alice'))
        expect([uri, parameters]).toEqual([
          'https://book.example/callback',
          expect.objectContaining({ error: 'temporarily_unavailable', state: asked.state }),
        ])
        expect(parameters).not.toHaveProperty('code')
        store.recover()
        expect(codeOf(await calm.decide(page, 'approve', 'alice'))).toMatch(/^ac_/)
      },
    )

    test('needs no store to hand off to the login, nor to refuse', async () => {
      const { flow, store } = twoServers(stage)
      store.begin(trouble, 'find', 'save', 'remove')
      expect(redirectionOf(await flow.ask(asked)).uri).toBe('/login')
      expect(errorPageOf(await flow.ask({}, 'alice'))).toBe('400 invalid_request')
    })
  })

  describeOnStores('a guarded route', (stage) => {
    test('answers 503, which is not the fault of the token [token-13]', async () => {
      const { calm, flow, store } = twoServers(stage)
      const { accessToken } = await calm.tokens(photoBook)
      store.begin(trouble, 'find')
      const response = await flow.photos(accessToken)
      expect(refusalOf(response)).toBe('503 temporarily_unavailable')
      expect(response.get('Retry-After')).toBe('1')
      expect(response.headers).not.toHaveProperty('www-authenticate')
      store.recover()
      expect((await calm.photos(accessToken)).status).toBe(200)
    })
  })
})

describeOnStores('While the store hangs', (stage) => {
  /** What comes of a request that meets a store without an answer. */
  async function meanwhile(
    verb: 'find' | 'save' | 'remove',
    prepare: (servers: ReturnType<typeof twoServers>) => Promise<() => Promise<Response>>,
  ): Promise<Response> {
    const servers = twoServers(stage)
    const ask = await prepare(servers)
    servers.store.begin('hangs', verb)
    return ask()
  }

  // All wait for the same deadline, at once.
  test('every endpoint and guard answers within the deadline, and asks to try again', async () => {
    const asked = authorizationRequest(photoBook)
    const answers = await Promise.all([
      meanwhile('find', async ({ calm, flow }) => {
        const code = await calm.approve(photoBook)
        return () => flow.redeem(photoBook, code)
      }),
      meanwhile('save', async ({ calm, flow }) => {
        const { refreshToken } = await calm.tokens(photoPrint)
        return () => flow.refresh(photoPrint, refreshToken)
      }),
      meanwhile('remove', async ({ calm, flow }) => {
        const code = await calm.approve(photoBook)
        await calm.redeem(photoBook, code)
        return () => flow.redeem(photoBook, code)
      }),
      meanwhile('find', async ({ calm, flow }) => {
        const { accessToken } = await calm.tokens(photoBook)
        return () => flow.photos(accessToken)
      }),
      meanwhile('find', async ({ calm, flow }) => {
        const page = await calm.ask(asked, 'alice')
        return () => flow.decide(page, 'approve', 'alice')
      }),
      meanwhile(
        'save',
        async ({ flow }) =>
          () =>
            flow.ask(asked, 'alice'),
      ),
    ])
    expect(answers.map(outcomeOf)).toEqual([
      ...Array.from({ length: 3 }, () => unavailable),
      '503 temporarily_unavailable',
      'page 503 temporarily_unavailable',
      'redirect temporarily_unavailable',
    ])
  })
})

test('A full memory store asks the client to come again, and drops nothing for it [store-1]', async () => {
  const { flow } = application({ store: memoryStore({ maximumRecords: 1 }) })
  const asked = authorizationRequest(photoBook)
  const page = await flow.ask(asked, 'alice')
  const { parameters } = redirectionOf(await flow.ask(asked, 'bob'))
  expect(parameters).toMatchObject({ error: 'temporarily_unavailable', state: asked.state })
  expect(codeOf(await flow.decide(page, 'approve', 'alice'))).toMatch(/^ac_/)
})
