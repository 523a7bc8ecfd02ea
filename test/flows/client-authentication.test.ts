import bcrypt from 'bcrypt'
import { nightlyReport, photoBook, bent, photoFrame } from '../support/flows/clients'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { basic, formOf, redemption, type Fields, type Headers } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { rawRequest } from '../support/flows/raw-request'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { memoryStore, type ClientAuthenticationMethod, type Sender } from '../../lib/index'
import { bcryptPasswords } from '../../lib/paths/grants'
import { application, type Mount } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { Gate } from '../support/flows/gate'
import { countOf, from, guess, proven, right, trusting, wrong } from '../support/flows/guesses'
import { oldPrint, passwordRequest, withPassword } from '../support/flows/password'
import { but } from '../support/stores/but'
import { waitUntil } from '../support/wait-until'
import { withPlugins } from '../support/with-plug-ins'

describe('Client authentication', () => {
  const { client_id } = nightlyReport.registration
  const client_secret = nightlyReport.secret
  const Authorization = basic(client_id, client_secret)
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
  const challenge = 'Basic realm="oauth", charset="UTF-8"'
  const foreign = { Authorization: 'Digest a="b"' }

  const ask = ({ flow }: Stage, fields: Fields, headers: Headers = {}) =>
    flow.submit('/token', fields, undefined, headers)

  describeOnStores('A confidential client', (stage) => {
    test('that leaves its secret empty in the body authenticates by Basic', async () => {
      const response = await ask(stage(), { ...grant, client_secret: '' }, { Authorization })
      expect(tokensOf(response).scope).toBe('photos:read')
    })

    test('is refused by another scheme, and by an empty secret beside another one', async () => {
      const set = stage()
      const inBody = { ...grant, client_id, client_secret }
      for (const [fields, headers, refusal] of [
        [inBody, { Authorization: basic(client_id, '') }, '400 invalid_request'],
        [inBody, foreign, '400 invalid_request'],
        [{ ...grant, client_id }, foreign, '401 invalid_client'],
      ] as const) {
        const response = await ask(set, fields, headers)
        expect(refusalOf(response)).toBe(refusal)
        expect(response.get('WWW-Authenticate')).toBe(response.status === 401 ? challenge : undefined)
      }
    })

    test.each([
      ['two good', Authorization, Authorization],
      ['a good and a foreign', Authorization, 'Bearer abc'],
      ['an empty and a good', '', Authorization],
    ])('that sends %s Authorization header gets invalid_request', async (_, first, second) => {
      const type = ['Content-Type', 'application/x-www-form-urlencoded']
      const headers = [...type, 'Authorization', first, 'Authorization', second]
      const response = await rawRequest(stage().app, {
        method: 'POST',
        path: '/token',
        headers,
        body: formOf(grant),
      })
      expect([response.status, JSON.parse(response.text).error]).toEqual([400, 'invalid_request'])
    })

    test.each(['guess', ''])(
      'with the secret %j and an unknown client get the same answer [client-7]',
      async (secret) => {
        const set = stage()
        const inBody = (id: string) => ({ ...grant, client_id: id, client_secret: secret })
        for (const answer of [
          (id: string) => ask(set, grant, { Authorization: basic(id, secret) }),
          (id: string) => ask(set, inBody(id)),
        ]) {
          const [known, stranger] = [await answer(client_id), await answer('nobody')]
          expect([stranger.text, stranger.status]).toEqual([known.text, known.status])
          const ofItsOwn = { 'x-request-id': expect.any(String), date: expect.any(String) }
          expect(stranger.headers).toEqual({ ...known.headers, ...ofItsOwn })
        }
      },
    )
  })

  test.each<[string, Fields, Headers, string]>([
    ['no name', {}, {}, '401 invalid_client'],
    ['a secret it does not have', { client_id: 'photo-book', client_secret: 'x' }, {}, '401 invalid_client'],
    ['a password it does not have', {}, { Authorization: basic('photo-book', 'x') }, '401 invalid_client'],
    ['two names', { client_id: 'other' }, { Authorization: basic('photo-book', '') }, '400 invalid_request'],
    ['an empty client_secret', { client_id: 'photo-book', client_secret: '' }, {}, 'tokens'],
    ['an empty password', {}, { Authorization: basic('photo-book', '') }, 'tokens'],
  ])('A public client with %s: %s', async (_, fields, headers, outcome) => {
    const set = setStage()
    const code = await set.flow.approve(photoBook)
    expect(outcomeOf(await ask(set, { ...redemption(photoBook, code), ...fields }, headers))).toBe(outcome)
  })
})

describe('Client secrets', () => {
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  describeOnStores('A client secret', (stage) => {
    test('counts for the registered method only, where one is registered', async () => {
      const { client_id } = nightlyReport.registration
      const byBasic = { Authorization: basic(client_id, nightlyReport.secret) }
      const byBody = { client_id, client_secret: nightlyReport.secret }
      for (const [method, basicGets, bodyGets] of [
        ['client_secret_basic', 200, 401],
        ['client_secret_post', 401, 200],
      ] as const) {
        const client = bent(nightlyReport, { token_endpoint_auth_method: method })
        const { flow } = stage({ clients: [client.registration] })
        expect((await flow.submit('/token', grant, undefined, byBasic)).status).toBe(basicGets)
        expect((await flow.submit('/token', { ...grant, ...byBody })).status).toBe(bodyGets)
      }
    })
  })

  describe('More secrets than bcrypt can verify', () => {
    const busy = '400 temporarily_unavailable'
    const addresses = Array.from({ length: 40 }, (_, at) => `192.0.2.${at}`)

    // The comparisons are real, and wait until the test lets them.
    const real = bcrypt.compare.bind(bcrypt)
    let gate: Gate
    const compare = jest.spyOn(bcrypt, 'compare')
    beforeEach(() => {
      compare.mockReset()
      compare.mockImplementation(async (secret, digest) => real(secret, digest))
      gate = new Gate()
    })
    // A test that fails must leave no request waiting.
    afterEach(() => gate.open())
    /** Counters, and what is counted in the end, by the kind of count. */
    const watchedCounters = () => {
      const inner = memoryStore()
      const counted: Record<string, number> = {}
      const counters = but(inner, {
        add: async (key, amount, seconds) => {
          const kind = key.replace(/:[^:]*$/, '')
          counted[kind] = (counted[kind] ?? 0) + amount
          return inner.add(key, amount, seconds)
        },
      })
      return { counters, counted }
    }

    /** A server of which 40 strangers, each from an address of its own, ask more than it can verify. */
    async function besieged() {
      const { counters, counted } = watchedCounters()
      const clock = new Clock()
      const passwordHash = bcrypt.hashSync('wonderland', 4)
      const verify = bcryptPasswords((username) => ({ subject: username, passwordHash }))
      const { plugins, clients } = withPassword({ verify })
      const options = {
        counters,
        clock: clock.read,
        plugins,
        clients: [...clients, photoFrame.registration],
      }
      const { flow, failures } = application(options, trusting)
      expect(await right(flow, photoFrame)).toBe(proven)
      compare.mockImplementation(async (secret, digest) => {
        await gate.pass()
        return real(secret, digest)
      })
      const answers: string[] = []
      const siege = Promise.all(
        addresses.map(async (address) => {
          answers.push(await guess(from({ flow }, address), 'photo-frame'))
        }),
      )
      await waitUntil('the line is full', async () => answers.length === 4)
      return { flow, failures, counted, clock, answers, siege }
    }

    test('four are verified at once, 32 wait, and the others get Retry-After, uncounted [store-22]', async () => {
      const { answers, siege, counted, failures } = await besieged()
      expect(gate.waiting).toBe(4)
      expect(new Set(answers)).toEqual(new Set([busy]))
      expect(new Set(failures.map(({ reason }) => reason))).toEqual(
        new Set(['refresh_token_malformed', 'bcrypt_busy']),
      )
      gate.open()
      await siege
      expect([countOf(answers, busy), countOf(answers, wrong)]).toEqual([4, 36])
      expect(counted).toEqual({ 'client:address': 36, 'client:clientAndAddress': 36, 'client:client': 36 })
    })

    test('requests without bcrypt, or with a remembered secret, do not wait', async () => {
      const { flow, siege, clock } = await besieged()
      expect(await flow.open('/.well-known/oauth-authorization-server')).toHaveProperty('status', 200)
      expect(await right(flow, oldPrint)).toBe(proven)
      expect(await right(flow, photoFrame)).toBe(proven)
      clock.advance(300)
      // It is verified again, before all others that wait.
      const again = right(flow, photoFrame)
      gate.open()
      expect(await again).toBe(proven)
      await siege
    })

    test('passwords wait in the same queue, and one that was not verified is not counted', async () => {
      const { flow, siege, counted, failures } = await besieged()
      expect(refusalOf(await flow.request(oldPrint, passwordRequest))).toBe(busy)
      expect(failures.at(-1)).toMatchObject({ reason: 'bcrypt_busy' })
      expect(counted).toMatchObject({ 'password:username': 0, 'password:address': 0, 'password:client': 0 })
      gate.open()
      await siege
      tokensOf(await flow.request(oldPrint, passwordRequest))
    })
  })
})

describe('The sender of a method', () => {
  const client_id = 'watch'
  const watch = {
    client_id,
    client_type: 'confidential',
    credentials: { sealed: 'red' },
    grant_types: ['client_credentials'],
    scope: 'photos:read',
  } as const
  const form = { grant_type: 'client_credentials', client_id, scope: 'photos:read', wax: 'red' }

  type AuthenticatingServer = Parameters<ClientAuthenticationMethod['verify']>[3]
  type Verify = (server: AuthenticatingServer, sender: Sender | undefined) => Promise<unknown>

  /** A server behind one proxy, and a method of the host that looks at its fourth and fifth argument. */
  function open(look: Verify, options: Parameters<typeof application>[0] = {}) {
    const sealed: ClientAuthenticationMethod = {
      name: 'sealed',
      read: ({ body }) => {
        const credential = body.get('wax')
        return credential === undefined ? undefined : { clientId: body.require('client_id'), credential }
      },
      verify: async (client, credential, _withinLimits, server, sender) => {
        await look(server, sender)
        return client?.credentials['sealed'] === credential
      },
    }
    const mount: Mount = (app, oauth) => void app.set('trust proxy', 1).use(oauth.router())
    const { flow } = application(
      {
        clients: [watch],
        ...options,
        plugins: withPlugins(
          [{ name: 'host-methods', clientAuthenticationMethods: [sealed] }],
          options.plugins,
        ),
      },
      { mount },
    )
    return (address: string, fields = form) => {
      const headers: Headers = { 'X-Forwarded-For': address }
      return flow.submit('/token', fields, undefined, headers)
    }
  }

  describe('The fifth argument of verify', () => {
    test('is the sender of the request, by the address that Express reports', async () => {
      const seen: unknown[] = []
      const ask = open(async (_server, sender) => seen.push(sender?.address))
      expect((await ask('192.0.2.1')).status).toBe(200)
      expect((await ask('2001:db8::1')).status).toBe(200)
      expect(seen).toEqual(['192.0.2.1', '2001:db8::1'])
    })

    test('has the refusal of a network that has used up its failures, and none of another', async () => {
      const seen: unknown[] = []
      const ask = open(async (_server, sender) => seen.push(sender?.networkRefusal?.reason), {
        limits: { networks: { clients: { attempts: 2, seconds: 60 } } },
      })
      for (let failure = 0; failure < 2; failure++) await ask('192.0.2.1', { ...form, wax: 'blue' })
      seen.length = 0
      await ask('192.0.2.1')
      await ask('192.0.2.2')
      expect(seen).toEqual(['rate_limited', undefined])
    })

    // Nothing listens at port 1: a fetch that the limits let through ends in another reason.
    const areLimited = async (passOn: boolean) => {
      const limited: boolean[] = []
      const look: Verify = async (server, sender) => {
        const url = `https://localhost:1/${limited.length}`
        const fetched = server.documents.fetch(url, undefined, passOn ? { sender } : {})
        await fetched.catch(({ reason }: { readonly reason: unknown }) => limited.push(reason === 'limited'))
      }
      // Its time stands still: no share grows again.
      const ask = open(look, { clock: new Clock().read })
      for (let fetches = 0; fetches < 31; fetches++) await ask('192.0.2.1')
      await ask('192.0.2.2')
      return limited.slice(-3)
    }

    test('that a method passes on holds one sender to a share of a host, and leaves the others theirs', async () => {
      expect(await areLimited(true)).toEqual([false, true, false])
    })

    test('that a method does not pass on holds no sender to a share', async () => {
      expect(await areLimited(false)).toEqual([false, false, false])
    })
  })
})
