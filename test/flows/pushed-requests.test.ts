import type { DocumentFetch } from '../../lib/index'
import { formPost, pushedAuthorizationRequests, requestObjects } from '../../lib/paths/pushed-requests'
import { photoBook, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { type Brought, pushingStage, requestUriPrefix } from '../support/flows/pushing'
import { setStage } from '../support/flows/stage'
import { application } from '../support/flows/application'
import { from, guess, trusting } from '../support/flows/guesses'
import { loginOf } from '../support/flows/login-stage'
import { postedFormOf } from '../support/flows/posted-form'
import { objectClaims, requestObject, signingPrint } from '../support/flows/request-object'
import { describeOnStores } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

describe('Pushed requests', () => {
  type Options = Parameters<typeof setStage>[0]
  type Plugin = Parameters<typeof pushingStage>[2]
  const stage = (options?: Options, plugin?: Plugin) => pushingStage(setStage, options, plugin)
  const returnTo = (location: string | undefined) =>
    String(new URL(String(location), 'http://localhost').searchParams.get('return_to'))
  const tokenIn = (page: Parameters<typeof consentFormOf>[0]) =>
    consentFormOf(page, '/authorize').fields['authorization_request']

  describe('a pushed request', () => {
    test('is answered with the lifetime of the option, in seconds', async () => {
      const { push } = stage({}, { lifetime: 90, path: '/par' })
      expect((await push()).body).toEqual({ request_uri: expect.any(String), expires_in: 90 })
    })

    test('that begins after the end of what its client got is good, and one from before is not', async () => {
      const { oauth, flow, pushed, clock } = stage({ authorizations: true })
      const before = await pushed()
      clock.advance(1)
      await oauth.authorizations.revokeClient('photo-print')
      clock.advance(30)
      expect((await flow.ask(await pushed(), 'alice')).status).toBe(200)
      expect(outcomeOf(await flow.ask(before, 'alice'))).toBe('page 400 invalid_request_uri')
    })
  })

  describe('the owner of a pushed request', () => {
    test('gets another form, and the first is void, if the page would show something else', async () => {
      let scope = ['photos:read', 'photos:print']
      const { flow, pushed } = stage({ plugins: [{ name: 'narrowing', authorize: () => ({ scope }) }] })
      const request = await pushed()
      const wide = await flow.ask(request, 'alice')
      scope = ['photos:read']
      const narrow = await flow.ask(request, 'alice')
      expect(tokenIn(narrow)).not.toBe(tokenIn(wide))
      expect(outcomeOf(await flow.decide(wide, 'approve', 'alice'))).toBe('page 400 invalid_request')
      expect(outcomeOf(await flow.decide(narrow, 'approve', 'alice'))).toBe('redirect code')
    })

    test('uses it up by an approval without a page, also once the page was there', async () => {
      let isApproved = false
      const { flow, pushed } = stage({ skipConsent: () => isApproved })
      const request = await pushed()
      const page = await flow.ask(request, 'alice')
      isApproved = true
      expect(outcomeOf(await flow.ask(request, 'bob'))).toBe('page 400 invalid_request')
      expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('redirect code')
      expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('page 400 invalid_request')
      expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('page 400 invalid_request')
    })

    test('has one open request, however often the page is reloaded', async () => {
      const { flow, pushed } = stage({ limits: { openRequests: { attempts: 2, seconds: 60 } } })
      const request = await pushed()
      for (let reloads = 0; reloads < 5; reloads++)
        expect((await flow.ask(request, 'alice')).status).toBe(200)
      expect((await flow.ask(await pushed(), 'alice')).status).toBe(200)
      expect((await flow.ask(await pushed(), 'alice')).status).toBe(429)
      expect((await flow.ask(request, 'alice')).status).toBe(200)
    })
  })

  describe('the browser', () => {
    test('returns from a login of ten minutes to the same request, and brings it once more', async () => {
      const { flow, pushed, clock, store } = stage()
      const request = await pushed()
      clock.advance(59)
      const back = returnTo((await flow.ask(request)).get('Location'))
      expect(new URLSearchParams(back.split('?')[1]).get('request_uri')).toBe(request.request_uri)
      clock.advance(300)
      await flow.ask(request)
      expect(store.calls.write).toBe(2)
      clock.advance(299)
      const page = await flow.open(back, 'alice')
      expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect code')
    })
  })

  describe('a request_uri', () => {
    test.each<[string, (request: Brought) => Record<string, string | readonly string[]>, string]>([
      [
        'with another secret',
        ({ request_uri }) => ({ request_uri: `${request_uri.slice(0, -4)}AAAA` }),
        'invalid_request',
      ],
      [
        'that is truncated',
        ({ request_uri }) => ({ request_uri: request_uri.slice(0, -1) }),
        'invalid_request_uri',
      ],
      [
        'of another kind of credential',
        ({ request_uri }) => ({ request_uri: request_uri.replace('rh_', 'lr_') }),
        'invalid_request_uri',
      ],
      ['with __proto__', () => ({ request_uri: `${requestUriPrefix}__proto__` }), 'invalid_request_uri'],
      [
        'with another urn',
        ({ request_uri }) => ({ request_uri: request_uri.replace('oauth', 'other') }),
        'request_uri_not_supported',
      ],
      [
        'that comes twice',
        ({ request_uri }) => ({ request_uri: [request_uri, request_uri] }),
        'invalid_request',
      ],
      ['with a request object', () => ({ request: 'e30.e30.' }), 'invalid_request'],
      ['of no client', () => ({ client_id: '' }), 'invalid_request'],
    ])('%s is refused on a page, and leaves the request as it is', async (_what, bend, code) => {
      const { flow, pushed } = stage()
      const request = await pushed()
      const refused = await flow.ask({ ...request, ...bend(request) }, 'alice')
      expect(outcomeOf(refused)).toBe(`page 400 ${code}`)
      expect((await flow.ask(request, 'alice')).status).toBe(200)
    })
  })

  test('a client pushes as much as its share, without a share in that of others', async () => {
    const { push } = stage({}, { limits: { client: { attempts: 2, seconds: 60 } } })
    await push()
    expect((await push({ scope: 'unknown' })).status).toBe(400)
    await push()
    const refused = await push()
    expect([refused.status, refused.get('Retry-After')]).toEqual([429, '30'])
    expect((await push({}, photoBook)).status).toBe(201)
  })

  test('public clients of one network push as much as its share, and proven clients have their own', async () => {
    const { flow, push, clock } = stage(
      {},
      { limits: { network: { attempts: 2, seconds: 60 }, client: false } },
    )
    for (const status of [201, 201, 429, 429]) expect((await push({}, photoBook)).status).toBe(status)
    for (let pushes = 0; pushes < 4; pushes++) expect((await push()).status).toBe(201)
    clock.advance(30)
    expect((await flow.request(photoBook, authorizationRequest(photoBook), '/par')).status).toBe(201)
  })

  test('require_pushed_authorization_requests is true or false alone', () => {
    const name = 'require_pushed_authorization_requests'
    for (const value of ['true', 1, {}]) {
      const clients = [
        Object.assign({}, photoPrint.registration, JSON.parse(JSON.stringify({ [name]: value }))),
      ]
      expect(() => stage({ clients })).toThrow(name)
    }
  })

  test.each([
    [{ lifetime: 4 }, 'lifetime'],
    [{ lifetime: 601 }, 'lifetime'],
    [{ required: 'yes' }, 'required'],
    [{ path: 'par' }, 'path'],
    [{ limits: { client: { attempts: 0 } } }, 'limits.client.attempts'],
    [{ requird: true }, 'requird'],
  ])('options such as %j are refused with their path', (options, path) => {
    expect(() => stage({}, JSON.parse(JSON.stringify(options)))).toThrow(path)
  })
})

describeOnStores('A signed request with a response in a form', (stage) => {
  test('crosses two processes: request, login, decision and tokens', async () => {
    const options = {
      clients: [signingPrint.registration],
      plugins: [requestObjects({ required: true }), formPost()],
    }
    const first = stage(options)
    const second = application({ ...options, store: first.store, clock: first.clock.read, storeDeadline: 10 })
    const now = Math.floor(first.clock.read() / 1000)
    const request = requestObject({ ...objectClaims(now), response_mode: 'form_post' })
    const { back } = loginOf(await first.flow.ask({ client_id: 'photo-print', request }))
    // The object ends while Alice logs in.
    first.clock.advance(300)
    const page = await second.flow.open(back, 'alice')
    const { action, fields } = postedFormOf(await first.flow.decide(page, 'approve', 'alice'))
    expect([action, fields['state']]).toEqual(['https://print.example/callback', 'af0ifjsldkj'])
    const again = postedFormOf(await second.flow.decide(page, 'approve', 'alice'))
    expect(again.fields).toEqual(fields)
    const { accessToken } = tokensOf(await second.flow.redeem(signingPrint, String(fields['code'])))
    expect((await first.flow.photos(accessToken)).body).toMatchObject({ subject: 'alice' })
  })
})

test.each(['/par', '/authorize'])(
  'the keys for an object that comes to %s are fetched, and not for a network over its limit',
  async (path) => {
    const { jwks: _, ...unsigned } = signingPrint.registration
    const jwks_uri = 'https://print.example/jwks.json'
    const client = { ...signingPrint, registration: { ...unsigned, jwks_uri } }
    const asked: string[] = []
    const documents: DocumentFetch = {
      async fetch(url) {
        asked.push(url)
        throw new Error('No answer.')
      },
    }
    const set = application(
      {
        clients: [client.registration],
        plugins: [requestObjects({ documents }), pushedAuthorizationRequests()],
        limits: { networks: { clients: { attempts: 2, seconds: 60 } } },
      },
      trusting,
    )
    const request = requestObject(objectClaims(Math.floor(Date.now() / 1000)))
    const send = async (address: string) => {
      const flow = from(set, address)
      if (path === '/par') return flow.request(client, { request }, path)
      return flow.ask({ client_id: 'photo-print', request }, 'alice')
    }
    await guess(from(set, '192.0.2.8'))
    await guess(from(set, '192.0.2.8'))
    await send('192.0.2.8')
    expect(asked).toEqual([])
    await send('192.0.2.7')
    expect(asked).toEqual([jwks_uri])
  },
)
