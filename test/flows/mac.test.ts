import express from 'express'
import request from 'supertest'
import { implicit, memoryStore, type Store } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { mac, type MacOptions } from '../../lib/paths/mac'
import { bent, nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { authorizationRequest, Flow, type Headers } from '../support/flows/flow'
import { macHeader, type MacTokens, type SignedParts, headerOf, macAttributes } from '../support/flows/mac'
import { Gate } from '../support/flows/gate'
import { fragmentOf } from '../support/flows/redirection'
import { setStage } from '../support/flows/stage'
import { but } from '../support/stores/but'
import { altered } from '../support/altered'
import { withPlugins } from '../support/with-plug-ins'

describe('The token type mac', () => {
  const hosts = ['api.example.com']
  const signing = { plugins: [mac({ hosts })] }
  const macByDefault = { ...signing, tokenType: 'mac' }
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  function signature({ clock }: Stage, tokens: MacTokens, parts: SignedParts = {}) {
    const header = macHeader(tokens, { port: '80', ts: clock.read(), ...parts })
    return { Host: 'api.example.com', Authorization: header }
  }

  async function statusOf(set: Stage, tokens: MacTokens, parts: SignedParts = {}): Promise<number> {
    return (await set.flow.open('/photos', undefined, signature(set, tokens, parts))).status
  }

  const ofTypeMac = {
    access_token: expect.stringMatching(/^at_[A-Za-z0-9_-]{65}$/),
    token_type: 'mac',
    mac_key: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    mac_algorithm: 'hmac-sha-256',
  }

  describeOnStores('Tokens of the type mac', (stage) => {
    test('come with a code, and their requests are taken under MAC in any case', async () => {
      const set = stage(macByDefault)
      const { body } = await set.flow.redeem(photoBook, await set.flow.approve(photoBook))
      expect(body).toMatchObject({ ...ofTypeMac, refresh_token: expect.any(String), expires_in: 3600 })
      for (const scheme of ['MAC', 'mac', 'Mac']) {
        const headers = signature(set, body)
        const Authorization = headers.Authorization.replace('MAC', scheme)
        const answer = await set.flow.open('/photos', undefined, { ...headers, Authorization })
        expect(answer.body).toMatchObject({ subject: 'alice', clientId: 'photo-book', tokenType: 'mac' })
        expect(JSON.stringify(answer.body)).not.toContain('sealedKey')
      }
    })

    test('are good by age as well, counted from when they were issued', async () => {
      const set = stage(macByDefault)
      const { body } = await set.flow.request(nightlyReport, grant)
      expect(body).toMatchObject(ofTypeMac)
      set.clock.advance(1000)
      expect(await statusOf(set, body, { age: 1000 })).toBe(200)
      expect(await statusOf(set, body, { age: 940 })).toBe(200)
      expect(await statusOf(set, body, { age: 939 })).toBe(401)
      expect(await statusOf(set, body, { age: 1061 })).toBe(401)
    })

    test('are refreshed with a new key, and a repetition within the grace gets the same answer', async () => {
      const set = stage(macByDefault)
      const first = (await set.flow.redeem(photoPrint, await set.flow.approve(photoPrint))).body
      const second = (await set.flow.refresh(photoPrint, first.refresh_token)).body
      expect(second).toMatchObject(ofTypeMac)
      expect(second.mac_key).not.toBe(first.mac_key)
      expect((await set.flow.refresh(photoPrint, first.refresh_token)).body).toEqual(second)
      for (const tokens of [first, second]) expect(await statusOf(set, tokens)).toBe(200)
      expect(await statusOf(set, { ...second, mac_key: first.mac_key })).toBe(401)
    })

    test('come in a fragment with all their properties', async () => {
      const slideshow = bent(photoBook, { grant_types: ['implicit'], response_types: ['token'] })
      const plugins = withPlugins([implicit()], macByDefault.plugins)
      const set = stage({ ...macByDefault, plugins, clients: [slideshow.registration] })
      const asked = { ...authorizationRequest(slideshow), response_type: 'token' }
      const response = await set.flow.decide(await set.flow.ask(asked, 'alice'), 'approve', 'alice')
      const { parameters } = fragmentOf(response)
      expect(parameters).toMatchObject({ ...ofTypeMac, state: asked.state, iss: 'http://localhost' })
      const { access_token = '', mac_key = '', mac_algorithm = '' } = parameters
      expect(await statusOf(set, { access_token, mac_key, mac_algorithm })).toBe(200)
    })

    test('go to the clients that are registered for them, the type of an authorization stays what it was', async () => {
      const ofMac = bent(photoFrame, { token_type: 'mac' })
      const set = stage({ ...signing, clients: [ofMac.registration, photoPrint.registration] })
      const tokens = (await set.flow.redeem(ofMac, await set.flow.approve(ofMac))).body
      expect(tokens.token_type).toBe('mac')
      const usual = await set.flow.tokens(photoPrint)
      expect((await set.flow.photos(usual.accessToken)).body).toMatchObject({ tokenType: 'bearer' })

      const { store, clock } = set
      const changed = stage({ ...signing, store, clock: clock.read, clients: [photoFrame.registration] })
      const { body } = await changed.flow.refresh(photoFrame, tokens.refresh_token)
      expect(body.token_type).toBe('mac')
    })

    test('are challenged for, each scheme in a line of its own, Bearer first', async () => {
      const set = stage(signing)
      const challenges = 'Bearer realm="oauth", scope="photos:read", MAC realm="oauth", scope="photos:read"'
      expect((await set.flow.open('/photos')).get('WWW-Authenticate')).toBe(challenges)
      const refused = await set.flow.open('/photos', undefined, { Authorization: 'MAC id="x"' })
      expect(refused.status).toBe(400)
      // RFC 9449 7.2: the error stands in the challenge of the scheme that the request used.
      expect(refused.headers['www-authenticate']).toMatch(
        /^Bearer (?!.*error=.*MAC ).*, MAC .*error="invalid_request"/,
      )
    })

    test('are not taken by a guard that does not offer them', async () => {
      const set = stage(macByDefault)
      const { body } = await set.flow.request(nightlyReport, grant)
      const plain = stage({ store: set.store, clock: set.clock.read })
      expect(await statusOf(plain, body)).toBe(401)
      expect((await plain.flow.photos(body.access_token)).status).toBe(401)
    })

    test('are taken by a guard in another application, which shares the uses of a nonce', async () => {
      const set = stage(macByDefault)
      const { body } = await set.flow.request(nightlyReport, grant)
      const { store, clock } = set
      const guard = createBearerGuard({
        issuer: 'http://localhost',
        store,
        clock: clock.read,
        storeDeadline: 10,
        ...signing,
      })
      const app = express()
      app.get('/photos', guard('photos:read'), (req, res) => void res.json(req.oauth))
      const flow = new Flow(app)
      const headers = signature(set, body)
      expect((await flow.open('/photos', undefined, headers)).body).toMatchObject({ tokenType: 'mac' })
      expect((await set.flow.open('/photos', undefined, headers)).status).toBe(401)
      expect((await flow.open('/photos', undefined, headers)).status).toBe(401)
    })

    test('let one of many parallel requests with the same nonce through [token-26]', async () => {
      const together = 6
      const inner = stage(macByDefault)
      const counters = gathering(inner.store, together)
      const set = stage({ ...macByDefault, counters, store: inner.store, clock: inner.clock.read })
      const { body } = await set.flow.request(nightlyReport, grant)
      const headers = signature(inner, body)
      const answers = await Promise.all(
        Array.from({ length: together }, () => set.flow.open('/photos', undefined, headers)),
      )
      const statuses = answers.map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(1)
      expect(statuses.filter((status) => status === 401)).toHaveLength(together - 1)
    })

    test('are good for one request under several guards, and for no second request', async () => {
      const set = stage(macByDefault, {
        mount: (app, oauth) => {
          app.use(oauth.router())
          app.use('/photos', oauth.bearerGuard())
          app.get('/photos', oauth.bearerGuard('photos:read'), (req, res) => void res.json(req.oauth))
        },
      })
      const { body } = await set.flow.request(nightlyReport, grant)
      const headers = signature(set, body)
      expect((await set.flow.open('/photos', undefined, headers)).status).toBe(200)
      expect((await set.flow.open('/photos', undefined, headers)).status).toBe(401)
    })

    test('are good for a request once, and not again at any later time [token-25]', async () => {
      const set = stage(macByDefault)
      const { body } = await set.flow.request(nightlyReport, grant)
      const headers = signature(set, body, { ts: set.clock.read() + 60_000 })
      const reasons: (string | undefined)[] = []
      for (let second = 0; second <= 240; second += 20) {
        const { status } = await set.flow.open('/photos', undefined, headers)
        reasons.push(status === 200 ? 'good' : set.failures.at(-1)?.reason)
        set.clock.advance(20)
      }
      const replayed = Array.from({ length: 6 }, () => 'mac_replayed')
      const late = Array.from({ length: 6 }, () => 'mac_not_in_time')
      expect(reasons).toEqual(['good', ...replayed, ...late])
    })

    test('are answered with 503 when the uses of nonces cannot be counted [token-28]', async () => {
      const fail = () => Promise.reject(new Error('connection refused'))
      const counters = but(memoryStore(), { add: fail, write: fail })
      const set = stage({ ...macByDefault, counters })
      const { body } = await set.flow.request(nightlyReport, grant)
      const answer = await set.flow.open('/photos', undefined, signature(set, body))
      expect(answer.status).toBe(503)
      expect(answer.body.error).toBe('temporarily_unavailable')
    })

    test('are signed for port 443 behind a proxy that ends TLS', async () => {
      const set = stage(macByDefault)
      set.app.set('trust proxy', true)
      const { body } = await set.flow.request(nightlyReport, grant)
      const proxied = set.flow.behind({ 'X-Forwarded-Proto': 'https' })
      const headers = signature(set, body, { port: '443' })
      expect((await proxied.open('/photos', undefined, headers)).status).toBe(200)
      expect((await proxied.open('/photos', undefined, signature(set, body))).status).toBe(401)
    })
  })

  /** Counters at which all of these uses have arrived before the first goes on. */
  function gathering(counters: Store, together: number): Store {
    const gate = new Gate()
    return but(counters, {
      async write(...given) {
        if (gate.waiting === together - 1) gate.open()
        await gate.pass()
        return counters.write(...given)
      },
    })
  }
})

describe('Credentials of the type mac', () => {
  const job = bent(nightlyReport, { client_id: 'weekly-report', token_type: 'mac' })
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
  const digest = `${'A'.repeat(43)}=`

  function macStage(hosts = ['api.example.com'], store?: Store) {
    const tokenTypes = [mac({ hosts })]
    const set = setStage({ plugins: [...tokenTypes], clients: [job.registration], ...(store && { store }) })
    const call = async (Authorization: string, headers: Headers = {}) => {
      const { status } = await set.flow.open('/photos', undefined, { Authorization, ...headers })
      return status === 200 ? '200' : `${status} ${set.failures.at(-1)?.reason}`
    }
    return { ...set, call }
  }

  const good = { id: 'at_x', ts: '1336363200', nonce: 'dj83hs9s', mac: digest }
  const usual = headerOf(good)
  const bentBy = (attributes: object) => headerOf({ ...good, ...attributes })

  test.each([
    ['nothing', 'MAC'],
    ['an attribute twice in another case', `${usual}, NONCE="dj83hs9s"`],
    ['an unknown attribute', `${usual}, realm="x"`],
    ['__proto__', `${usual}, __proto__="x"`],
    ['an attribute without quotes', usual.replace('"at_x"', 'at_x')],
    ['an open quote', `${usual}, ext="x`],
    ['an escaped quote', `${usual}, ext="a\\"b"`],
    ['a tab inside a value', `${usual}, ext="a\tb"`],
    ['a comma at the end', `${usual}, x`],
    ['a comma at the beginning', usual.replace('MAC ', 'MAC , ')],
    ['no comma', usual.replaceAll(',', '')],
    ['space around the equals sign', usual.replaceAll('="', ' = "')],
    ...['0', '-1', '01336363200', '1336363200.5', '1e9', '9'.repeat(13), ''].map((ts) => [
      `the time ${ts}`,
      bentBy({ ts }),
    ]),
    ['an age without what is random', `MAC id="at_x", nonce="7:", mac="${digest}"`],
    ['an age with a sign', `MAC id="at_x", nonce="+7:x", mac="${digest}"`],
    ['a long nonce', bentBy({ nonce: 'x'.repeat(129) })],
    ['a nonce with a space', bentBy({ nonce: 'a b' })],
    ['a long id', bentBy({ id: 'x'.repeat(129) })],
    ['a MAC that is no base64', bentBy({ mac: `${'-'.repeat(43)}=` })],
    ['a MAC of another length', bentBy({ mac: 'AAAA' })],
    ['no MAC', usual.replace(/, mac=.*/, '')],
    ['no time', usual.replace(/ts="\d+", /, '')],
    ['a huge ext', bentBy({ ext: 'x'.repeat(8000) })],
    ['a bare token', 'MAC at_x'],
  ])('Credentials of the type mac with %s are malformed', async (_what, header = '') => {
    expect(await macStage().call(header)).toBe('400 token_malformed')
  })

  test('Credentials of the type mac have their attributes in any order, and their names in any case', async () => {
    const { call } = macStage()
    expect(await call(`MAC MAC="${digest}",\t Ts="1336363200" ,Nonce="x",ID="at_x"`)).toBe(
      '401 token_invalid',
    )
  })

  test.each([
    ['api.example.com', 'api.example.com', true],
    ['api.example.com:80', 'API.example.com', true],
    ['api.example.com', 'api.example.com:80', true],
    ['api.example.com:8443', 'api.example.com', false],
    ['api.example.com.evil.example', 'api.example.com', false],
    ['evil-api.example.com', 'api.example.com', false],
    ['example.com', 'api.example.com', false],
  ])('The Host %s is meant by the entry %s: %s', async (Host, entry, isMeant) => {
    const { flow, call, clock } = macStage(['other.example', entry])
    const { body } = await flow.request(job, grant)
    const [host = '', port = '80'] = Host.split(':')
    const header = headerOf(macAttributes(body, { host, port, ts: clock.read() }))
    expect(await call(header, { Host })).toBe(isMeant ? '200' : '401 mac_host_not_listed')
  })

  test('Each token has a key of 32 random bytes, which the store holds sealed [token-30]', async () => {
    const inner = memoryStore()
    const written: string[] = []
    const store = but(inner, {
      write: (...given) => {
        written.push(JSON.stringify(given))
        return inner.write(...given)
      },
    })
    const { flow } = macStage(['api.example.com'], store)
    const keys = new Set<string>()
    for (let token = 0; token < 2; token++) keys.add(String((await flow.request(job, grant)).body.mac_key))
    expect([keys.size, written.length]).toEqual([2, 2])
    for (const key of keys) {
      expect(Buffer.from(key, 'base64url')).toHaveLength(32)
      expect(written.join()).not.toContain(key)
    }
  })
})

describe('Attacks on the type mac', () => {
  const hosts = ['api.example.com', 'api.example.com:8080']
  const job = bent(nightlyReport, { client_id: 'weekly-report', token_type: 'mac' })
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  interface Scene extends Stage {
    readonly tokens: MacTokens
    /** The attributes of a good request that the client has made right now. */
    readonly signed: (parts?: SignedParts) => Record<string, string>
  }

  async function scene(options: Partial<MacOptions> = {}): Promise<Scene> {
    const set = setStage({
      plugins: [mac({ hosts, ...options })],
      clients: [job.registration, nightlyReport.registration],
    })
    const { body } = await set.flow.request(job, grant)
    const signed = (parts: SignedParts = {}) =>
      macAttributes(body, { port: '80', ts: set.clock.read(), ...parts })
    return { ...set, tokens: body, signed }
  }

  interface Sent {
    readonly header: string
    readonly method?: 'get' | 'head'
    readonly target?: string
    readonly host?: string
  }

  /** Status, and the reason that stays on this side. */
  async function outcome({ app, failures }: Stage, sent: Sent): Promise<string> {
    const { header, method = 'get', target = '/photos', host = 'api.example.com' } = sent
    const response = await request(app)[method](target).set({ Host: host, Authorization: header })
    return response.status === 200 ? '200' : `${response.status} ${failures.at(-1)?.reason}`
  }

  const flipped = (text = '') => altered(text, 0)
  const without = (attributes: Record<string, string>, name: string) =>
    headerOf(Object.fromEntries(Object.entries(attributes).filter(([key]) => key !== name)))

  test('what the attacks bend is good before they do', async () => {
    const set = await scene()
    expect(await outcome(set, { header: headerOf(set.signed()) })).toBe('200')
    expect(await outcome(set, { header: headerOf(set.signed({ age: 0 })) })).toBe('200')
    expect(await outcome(set, { header: headerOf(set.signed({ ext: 'a,b,c' })) })).toBe('200')
    const elsewhere = headerOf(set.signed({ port: '8080' }))
    expect(await outcome(set, { header: elsewhere, host: 'API.example.com:8080' })).toBe('200')
  })

  const wrong = '401 mac_wrong'

  test.each<[string, string, (set: Scene) => Sent | Promise<Sent>]>([
    ['for another host', wrong, ({ signed }) => ({ header: headerOf(signed({ host: 'other.example' })) })],
    [
      'for another server, sent on with its Host',
      '401 mac_host_not_listed',
      ({ signed }) => ({ header: headerOf(signed({ host: 'evil.example' })), host: 'evil.example' }),
    ],
    ['for another port', wrong, ({ signed }) => ({ header: headerOf(signed({ port: '8080' })) })],
    ['for another method', wrong, ({ signed }) => ({ header: headerOf(signed({ method: 'POST' })) })],
    ['for another path', wrong, ({ signed }) => ({ header: headerOf(signed({ target: '/album' })) })],
    ['with a query more', wrong, ({ signed }) => ({ header: headerOf(signed()), target: '/photos?all=1' })],
    [
      'for the same path in another spelling',
      wrong,
      ({ signed }) => ({ header: headerOf(signed({ target: '/%70hotos' })) }),
    ],
    [
      'too long ago',
      '401 mac_not_in_time',
      ({ signed, clock }) => ({ header: headerOf(signed({ ts: clock.read() - 61_000 })) }),
    ],
    ['with another key', wrong, ({ tokens, signed }) => keyed(tokens, signed, { mac_key: 'x'.repeat(43) })],
    [
      'with SHA-1, which the token is not for',
      wrong,
      ({ tokens, signed }) => keyed(tokens, signed, { mac_algorithm: 'hmac-sha-1' }),
    ],
    ['with another age', wrong, ({ signed }) => bend(signed({ age: 0 }), () => ({ nonce: '1:x' }))],
    ['with ext taken away', wrong, ({ signed }) => ({ header: without(signed({ ext: 'read' }), 'ext') })],
    ['with another MAC', wrong, ({ signed }) => bend(signed(), (good) => ({ mac: flipped(good['mac']) }))],
    [
      'not at all: the token as Bearer',
      '401 token_of_another_type',
      ({ tokens }) => ({ header: `Bearer ${tokens.access_token}` }),
    ],
    ['with the id of a token that is not', '401 token_invalid', ({ signed }) => otherId(signed())],
    [
      'with a bearer token as its id',
      '401 token_of_another_type',
      async ({ flow, signed }) => {
        const { body } = await flow.request(nightlyReport, grant)
        return bend(signed(), () => ({ id: body.access_token }))
      },
    ],
    ['with an age, twice', '401 mac_replayed', async (set) => spent(set, headerOf(set.signed({ age: 1 })))],
    [
      'twice, the second time with an empty ext',
      '401 mac_replayed',
      async (set) => {
        const header = headerOf(set.signed())
        await spent(set, header)
        return { header: `${header}, ext=""` }
      },
    ],
  ])('a request signed %s is refused: %s [token-23, token-24]', async (_how, expected, attack) => {
    const set = await scene()
    expect(await outcome(set, await attack(set))).toBe(expected)
  })

  test('a nonce is not used up by who has no key [token-27]', async () => {
    const set = await scene()
    const attributes = set.signed()
    const forged = headerOf({ ...attributes, mac: flipped(attributes['mac']) })
    expect(await outcome(set, { header: forged })).toBe(wrong)
    expect(await outcome(set, { header: headerOf(attributes) })).toBe('200')
  })

  test('a token of an algorithm that is not offered any more is refused [token-29]', async () => {
    const set = await scene({ algorithms: ['hmac-sha-1'] })
    expect(set.tokens.mac_algorithm).toBe('hmac-sha-1')
    const stricter = setStage({ store: set.store, clock: set.clock.read, plugins: [mac({ hosts })] })
    expect(await outcome(set, { header: headerOf(set.signed()) })).toBe('200')
    expect(await outcome(stricter, { header: headerOf(set.signed()) })).toBe('401 mac_algorithm_not_offered')
  })

  function keyed(tokens: MacTokens, signed: Scene['signed'], other: Partial<MacTokens>): Sent {
    const { ts = '' } = signed()
    return { header: headerOf(macAttributes({ ...tokens, ...other }, { port: '80', ts: Number(ts) * 1000 })) }
  }

  function bend(
    good: Record<string, string>,
    how: (good: Record<string, string>) => Record<string, string>,
  ): Sent {
    return { header: headerOf({ ...good, ...how(good) }) }
  }

  function otherId(good: Record<string, string>): Sent {
    return bend(good, ({ id = '' }) => ({ id: altered(id) }))
  }

  async function spent(set: Scene, header: string): Promise<Sent> {
    expect(await outcome(set, { header })).toBe('200')
    return { header }
  }
})
