import { setImmediate as turn } from 'node:timers/promises'
import request from 'supertest'
import { memoryStore, createAuthorizationServer, type Store, type StoreWarning } from '../../lib/index'
import { application, canonicalOptions } from '../support/flows/application'
import { photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
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
    test.each(['read', 'write'] as const)('for a code, which is not spent (%s) [store-3]', async (verb) => {
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
      for (const verb of ['read', 'write'] as const) {
        store.begin(trouble, verb)
        expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe(unavailable)
        store.recover()
      }
      expect((await calm.photos(accessToken)).status).toBe(200)
      expect(tokensOf(await calm.refresh(photoPrint, refreshToken)).scope).toBe('photos:read photos:print')
    })

    test.each([trouble, 'hangs'] as const)(
      'for a replayed code, whose tokens die when it is tried again (%s) [code-18]',
      async (ends) => {
        const { calm, flow, store } = twoServers(stage)
        const code = await calm.approve(photoBook)
        const { accessToken } = tokensOf(await calm.redeem(photoBook, code))
        store.begin(ends, 'remove')
        expect(refusalOf(await flow.redeem(photoBook, code))).toBe(unavailable)
        store.recover()
        expect(refusalOf(await calm.redeem(photoBook, code))).toBe('400 invalid_grant')
        expect((await calm.photos(accessToken)).status).toBe(401)
      },
    )
  })

  describeOnStores('the authorization endpoint', (stage) => {
    const asked = authorizationRequest(photoBook)

    test('asks the owner to try again when the request of an unregistered client cannot be kept', async () => {
      const { store, clock } = stage()
      const { app, flow } = application({
        store,
        clock: clock.read,
        storeDeadline,
        dynamicRegistration: {},
      })
      const { body } = await request(app).post('/register').send(notesApp)
      const [redirect_uri = ''] = notesApp.redirect_uris
      const registration = { ...photoBook.registration, client_id: String(body.client_id) }
      const ofStranger = { ...authorizationRequest({ registration }), redirect_uri, scope: 'photos:read' }
      store.begin(trouble, 'write')
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
        store.begin(trouble, 'read')
        const response = await flow.decide(page, decision, 'alice')
        expect([errorPageOf(response), response.get('Retry-After')]).toEqual([
          '503 temporarily_unavailable',
          '1',
        ])
        store.recover()
        store.begin(trouble, 'write')
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
      store.begin(trouble, 'read', 'write', 'remove', 'add', 'list')
      expect(redirectionOf(await flow.ask(asked)).uri).toBe('/login')
      expect(errorPageOf(await flow.ask({}, 'alice'))).toBe('400 invalid_request')
    })
  })

  describeOnStores('a guarded route', (stage) => {
    test('answers 503, which is not the fault of the token [token-13]', async () => {
      const { calm, flow, store } = twoServers(stage)
      const { accessToken } = await calm.tokens(photoBook)
      store.begin(trouble, 'read')
      const response = await flow.photos(accessToken)
      expect(refusalOf(response)).toBe('503 temporarily_unavailable')
      expect(response.get('Retry-After')).toBe('1')
      expect(response.headers).not.toHaveProperty('www-authenticate')
      store.recover()
      expect((await calm.photos(accessToken)).status).toBe(200)
    })
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

describe('Surroundings of a store', () => {
  const settled = async () => {
    for (let round = 0; round < 5; round++) await turn()
  }
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  beforeEach(() => {
    warned.mockClear()
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'Date'] })
  })
  afterEach(() => jest.useRealTimers())

  /** The warnings, as `CODE text`. */
  const warnings = () => warned.mock.calls.map(([text, options]) => `${Object(options).code} ${String(text)}`)
  const codes = () => warnings().map((warning) => warning.split(' ')[0])

  const serverOn = (store: Store, issuer = canonicalOptions.issuer) =>
    createAuthorizationServer({ ...canonicalOptions, issuer, store })

  /** A store that looks at its surroundings, and counts how often. */
  function looking(check: () => Promise<readonly StoreWarning[]>, place?: string) {
    const looks = { count: 0 }
    const store = Object.assign(memoryStore(), {
      ...(place !== undefined && { place }),
      check: () => {
        looks.count += 1
        return check()
      },
    })
    return { store, looks }
  }
  const refused = () => Promise.reject(new Error('ECONNREFUSED'))

  test('A store is closed by the last server that lets go of it, and what it throws comes through', async () => {
    let closed = 0
    const close = async () => {
      closed += 1
      throw new Error('half open')
    }
    const store = Object.assign(memoryStore(), { close })
    const [first, second] = [serverOn(store), serverOn(store)]
    serverOn(Object.assign(memoryStore(), { close }))
    await first.close()
    expect(closed).toBe(0)
    await expect(second.close()).rejects.toThrow('half open')
    expect(closed).toBe(1)
  })

  test('A store that two issuers share causes one warning, and one that servers of one issuer share causes none', () => {
    const [store, shared] = [memoryStore(), memoryStore()]
    for (let round = 0; round < 2; round++) for (const each of [store, shared]) serverOn(each)
    expect(warnings()).toEqual([])
    for (let round = 0; round < 2; round++) serverOn(shared, 'https://other.example')
    expect(warnings()).toEqual([
      expect.stringMatching(
        /^EAS_SHARED_STORE The issuers http:\/\/localhost and https:\/\/other\.example share one store\./,
      ),
    ])
  })

  describe('A store that looks at its surroundings', () => {
    test('does so once, for its first server', async () => {
      const { store, looks } = looking(async () => [{ code: 'EAS_TEST_ONCE', message: 'Change it.' }])
      for (let servers = 0; servers < 2; servers++) serverOn(store)
      await settled()
      await jest.advanceTimersByTimeAsync(3_600_000)
      expect([looks.count, codes()]).toEqual([1, ['EAS_TEST_ONCE']])
    })

    test('tries again until it can, less and less often', async () => {
      let attempts = 0
      const { store, looks } = looking(async () => {
        attempts += 1
        if (attempts <= 8) throw new Error('ECONNREFUSED')
        return [{ code: 'EAS_TEST_LATE', message: 'Change it.' }]
      }, 'Redis at late:6379')
      serverOn(store)
      await settled()
      // A client that refuses commands until it is connected may be about to be.
      expect([looks.count, codes()]).toEqual([1, []])
      await jest.advanceTimersByTimeAsync(1000)
      expect([looks.count, codes()]).toEqual([2, ['EAS_STORE_UNREACHABLE']])
      // 1, 2, 4, 8, 16, 32, 60 and 60 seconds.
      await jest.advanceTimersByTimeAsync(181_000)
      expect(looks.count).toBe(8)
      await jest.advanceTimersByTimeAsync(1000)
      expect([looks.count, codes()]).toEqual([9, ['EAS_STORE_UNREACHABLE', 'EAS_TEST_LATE']])
      await jest.advanceTimersByTimeAsync(3_600_000)
      expect(looks.count).toBe(9)
    })

    test('is warned of with its place and the cause, once for each place, when it cannot', async () => {
      for (const [trouble, place] of [
        ['ECONNREFUSED', 'Redis at one:6379'],
        ['NOAUTH', 'Redis at one:6379'],
        ['Command timed out', 'Redis at two:6379'],
      ])
        serverOn(looking(() => Promise.reject(new Error(trouble)), place).store)
      await jest.advanceTimersByTimeAsync(1000)
      expect(warnings().map((text) => text.split('. ')[0])).toEqual([
        'EAS_STORE_UNREACHABLE Redis at one:6379 cannot be used (ECONNREFUSED)',
        'EAS_STORE_UNREACHABLE Redis at two:6379 cannot be used (Command timed out)',
      ])
    })

    test('is warned of when it does not answer within 5 s', async () => {
      serverOn(looking(() => new Promise(() => {}), 'Redis at silent:6379').store)
      await jest.advanceTimersByTimeAsync(4999)
      expect(codes()).toEqual([])
      await jest.advanceTimersByTimeAsync(1)
      expect(warnings()).toEqual([
        expect.stringContaining('Redis at silent:6379 cannot be used (it did not answer within 5 s)'),
      ])
    })

    test('stops when its server closes, and harms none by what it throws', async () => {
      const { store, looks } = looking(refused)
      let answer: (found: readonly StoreWarning[]) => void = () => {}
      const running = looking(() => new Promise((resolve) => (answer = resolve)))
      const broken = looking(() => {
        throw new Error('no connection')
      })
      const servers = [store, running.store, broken.store].map((each) => serverOn(each))
      await Promise.all(servers.map((server) => server.close()))
      answer([{ code: 'EAS_TEST_RUNNING', message: 'Change it.' }])
      await settled()
      await jest.advanceTimersByTimeAsync(3_600_000)
      expect([looks.count, running.looks.count, broken.looks.count, codes()]).toEqual([1, 1, 1, []])
    })
  })
})
