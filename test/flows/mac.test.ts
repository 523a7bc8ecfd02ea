import { EventEmitter, once } from 'node:events'
import express from 'express'
import { createBearerGuard, implicit, mac, type Counters } from '../../lib/index'
import { bent, nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { authorizationRequest, Flow } from '../support/flows/flow'
import { macHeader, type MacTokens, type SignedParts } from '../support/flows/mac'
import { fragmentOf } from '../support/flows/redirection'

const hosts = ['api.example.com']
const signing = { tokenTypes: [mac({ hosts })] }
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
  access_token: expect.stringMatching(/^at_[A-Za-z0-9_-]{64}$/),
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
    const on = { responseTypes: [implicit()], clients: [slideshow.registration] }
    const set = stage({ ...macByDefault, ...on })
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
    const counters = gathering(inner.store.counters, together)
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
    const counters: Counters = {
      add: () => Promise.reject(new Error('connection refused')),
      useOnce: () => Promise.reject(new Error('connection refused')),
    }
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

  test('are signed with SHA-1 where the server chose it for its old clients', async () => {
    const tokenTypes = [mac({ hosts, algorithms: ['hmac-sha-1'] })]
    const set = stage({ tokenTypes, tokenType: 'mac' })
    const { body } = await set.flow.request(nightlyReport, grant)
    expect(body.mac_algorithm).toBe('hmac-sha-1')
    expect(await statusOf(set, body)).toBe(200)
  })
})

/** Counters at which all of these calls have arrived before the first goes on. */
function gathering(counters: Counters, together: number): Counters {
  let arrived = 0
  const gate = new EventEmitter()
  const opened = once(gate, 'open')
  return {
    ...counters,
    add: (...given) => counters.add(...given),
    async useOnce(key, seconds) {
      if (++arrived === together) gate.emit('open')
      await opened
      return counters.useOnce(key, seconds)
    },
  }
}
