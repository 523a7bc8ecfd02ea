import { Redis } from 'ioredis'
import request from 'supertest'
import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { redisStore } from '../../lib/paths/redis'
import { eventNames, type RecordedEvent, recordEvents } from '../support/events'
import { application, type Hosting, mountAll } from '../support/flows/application'
import { bent, everyClient, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, basic } from '../support/flows/flow'
import {
  credentialFingerprint,
  secretsIn,
  type EndpointRun,
  useEveryEndpoint,
} from '../support/flows/every-endpoint'
import { type RedisServer, startRedis } from '../support/redis-server'
import { waitUntil } from '../support/wait-until'

describe('events secrets', () => {
  let run: EndpointRun
  beforeAll(async () => {
    run = await useEveryEndpoint()
  })

  test('a run through every endpoint emits every event, without a secret in any [input-14]', () => {
    expect(new Set(run.recorded.map(({ event }) => event))).toEqual(new Set(eventNames))
    expect(run.secrets.size).toBeGreaterThan(25)
    const everything =
      JSON.stringify(run.recorded) +
      inspect(run.recorded, { depth: Infinity, showHidden: true, maxArrayLength: null })
    expect(secretsIn(everything, run.secrets)).toEqual([])
  })

  test('what an event shows of a credential is 8 digits of its digest, and of nothing else', () => {
    const marks = new Set(
      [...run.secrets].filter((secret) => /^(?:at|rt|ac|ar)_/.test(secret)).map(credentialFingerprint),
    )
    const shown = run.recorded.flatMap(({ credential }) => (credential === undefined ? [] : [credential]))
    expect(shown.length).toBeGreaterThan(15)
    for (const mark of shown) expect(marks).toContain(mark)
  })

  test('one event has the outcome of one request; a revocation that it caused follows', () => {
    const outcomes = new Map<unknown, readonly string[]>()
    for (const { event, requestId } of run.recorded)
      if (event !== 'oldSecretUsed' && requestId !== undefined)
        outcomes.set(requestId, [...(outcomes.get(requestId) ?? []), event])
    expect(outcomes.size).toBeGreaterThan(25)
    expect([...outcomes.values()].filter(({ length }) => length > 1)).toEqual([
      ['reused', 'revoked'],
      ['replayed', 'revoked'],
      ['refused', 'revoked'],
      ['refused', 'revoked'],
    ])
  })
})

describe('names in events', () => {
  const fingerprintOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)
  const { secret } = photoPrint
  const refreshToken = `rt_${'A'.repeat(82)}`
  const shut = bent(photoBook, { client_id: 'shut-book', disabled: true })
  const clients = [...everyClient, shut].map(({ registration }) => registration)

  const open = (options = {}) => {
    const set = application({ clients, ...options })
    return { ...set, recorded: recordEvents(set.oauth.events) }
  }

  describe('An unknown client_id', () => {
    test('appears as 8 digits of its digest at every endpoint, and on no page: it may be a secret in the wrong place [input-22]', async () => {
      const { flow, recorded } = open({ limits: { networks: { clients: { attempts: 2, seconds: 60 } } } })
      await flow.submit('/revoke', {}, undefined, { Authorization: basic(secret, 'photo-print') })
      await flow.submit('/token', { client_id: refreshToken })
      // Over the limit, too.
      await flow.submit('/introspect', { client_id: secret, client_secret: 'photo-print' })
      const page = await flow.ask({ ...authorizationRequest(photoBook), client_id: secret }, 'alice')
      expect([page.status, page.text.includes(secret)]).toEqual([400, false])
      expect(recorded.map(({ event, clientId }) => [event, clientId])).toEqual([
        ['refused', fingerprintOf(secret)],
        ['refused', fingerprintOf(refreshToken)],
        ['throttled', fingerprintOf(secret)],
        ['refused', fingerprintOf(secret)],
      ])
    })
  })

  describe('A registered client_id', () => {
    test('appears in clear, whatever the refusal', async () => {
      const { flow, recorded } = open()
      const asked = authorizationRequest(photoBook)
      await flow.submit('/token', {}, undefined, { Authorization: basic('photo-print', 'guess') })
      await flow.request(shut, {})
      await flow.request(nightlyReport, { grant_type: 'refresh_token', refresh_token: 'none' })
      await flow.ask({ ...asked, redirect_uri: 'https://evil.example/' }, 'alice')
      await flow.ask({ ...asked, client_id: 'shut-book' }, 'alice')
      await flow.ask({ ...asked, scope: 'none' }, 'alice')
      expect(recorded.map(({ clientId }) => clientId)).toEqual([
        'photo-print',
        'shut-book',
        'nightly-report',
        'photo-book',
        'shut-book',
        'photo-book',
      ])
    })
  })
})

const everything = (value: unknown) =>
  inspect(value, { depth: Infinity, showHidden: true, maxStringLength: Infinity, maxArrayLength: Infinity })

describe('When Redis refuses a write', () => {
  let server: RedisServer
  let client: Redis
  beforeAll(async () => {
    server = await startRedis({ own: true })
    client = new Redis(server.url)
    // Full from the first byte: each write is refused, and ioredis hangs the whole command on the error.
    await client.config('SET', 'maxmemory', '1')
  })
  afterAll(async () => {
    client.disconnect()
    await server.stop()
  })

  const owner = 'alice-whom-no-log-should-name'
  const kept = [owner, photoPrint.registration.redirect_uris[0], 'oauth:authorization:']

  test('neither the warning nor the event of it holds anything of the record [input-23]', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const silent = application({ store: redisStore({ client }) })
    silent.oauth.events.removeAllListeners('failure')
    const recorded = application({ store: redisStore({ client }) })
    for (const { flow } of [silent, recorded]) {
      const answer = await flow.ask(authorizationRequest(photoPrint), owner)
      expect(answer.get('Location')).toMatch(/[?&]error=temporarily_unavailable(?:&|$)/)
    }
    const warnings = warn.mock.calls.map((call) => everything(call))
    warn.mockRestore()
    expect(warnings.join('\n')).toMatch(/^[^]*store_unavailable: .*OOM command not allowed/)
    expect(recorded.failures).toMatchObject([{ reason: 'store_unavailable', cause: { name: 'ReplyError' } }])
    const run = [...warnings, ...recorded.failures.map(({ cause }) => everything(cause))].join('\n')
    for (const text of kept) expect(run).not.toContain(text)
  })
})

describe('events hostile', () => {
  const unprintable = /[\p{C}\p{Zl}\p{Zp}]/u

  const hostile = [
    ['a second line', 'x\r\n{"event":"issued"}'],
    ['an escape sequence of one C1 character', '\u009B31mx'],
    ['a line separator of Unicode', 'x\u2028y\u2029z'],
    ['a turn of the reading order', 'x\u202Eyalp'],
    ['half a character', `${'x'.repeat(254)}😀`],
    ['great length', 'x'.repeat(5000)],
  ] as const

  const open = (mount: NonNullable<Hosting['mount']> = mountAll) => {
    const { app, oauth, flow } = application({}, { mount })
    return { app, flow, recorded: recordEvents(oauth.events) }
  }

  /** The texts of events that no log should get. */
  const harmfulIn = (recorded: readonly RecordedEvent[]) =>
    recorded
      .flatMap((event) => Object.values(event))
      .filter((value) => typeof value === 'string' && (value.length > 256 || unprintable.test(value)))

  const trusting: Hosting['mount'] = (app, oauth) => {
    app.set('trust proxy', true)
    mountAll(app, oauth)
  }

  test.each(hostile)(
    'A client that names itself by %s, in a form, a query or Basic, leaves events harmless [store-24]',
    async (_what, text) => {
      const { flow, recorded } = open()
      await flow.submit('/token', { client_id: text, client_secret: 'x', grant_type: text })
      await flow.ask({ ...authorizationRequest(photoBook), client_id: text }, 'alice')
      await flow.submit('/token', { grant_type: 'client_credentials' }, undefined, {
        Authorization: basic(text, 'x'),
      })
      expect(recorded).toHaveLength(3)
      expect(harmfulIn(recorded)).toEqual([])
      // One that is too long is refused before it names anybody.
      expect(recorded[0]?.clientId?.length).toBe(text.length > 256 ? undefined : 8)
    },
  )

  test('an address that a client made up leaves events harmless', async () => {
    const { flow, recorded } = open(trusting)
    for (const address of ['x'.repeat(5000), 'x\u009B31m'])
      await flow.submit('/token', { client_id: 'x', client_secret: 'y' }, undefined, {
        'X-Forwarded-For': address,
      })
    expect([recorded.length, harmfulIn(recorded)]).toEqual([2, []])
    for (const { address } of recorded) expect(address).toMatch(/^x/)
  })

  test('an id that the host echoes from the request is not taken when a terminal would obey it', async () => {
    const { app, recorded } = open((host, oauth) => {
      host.use((req, response, next) =>
        next(void response.setHeader('X-Request-Id', req.get('X-Request-Id') ?? '')),
      )
      mountAll(host, oauth)
    })
    const sent = (id: string) => request(app).get('/authorize').set('X-Request-Id', id)
    const { headers } = await sent('x\u009B31m')
    expect(recorded).toHaveLength(1)
    expect(harmfulIn(recorded)).toEqual([])
    expect(headers['x-request-id']).toBe(recorded[0]?.requestId)
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{16}$/)
    expect((await sent('from the host')).headers['x-request-id']).toBe('from the host')
  })

  test('a subject of the host leaves events harmless, and is approved as usual', async () => {
    const subject = 'alice\nroot\u001B[0m'
    const { oauth, flow } = application({ resourceOwner: () => ({ subject }) })
    const recorded = recordEvents(oauth.events)
    await flow.approve(photoPrint)
    expect(recorded).toHaveLength(1)
    expect(harmfulIn(recorded)).toEqual([])
    expect(recorded[0]?.subject).toBe('alice\u{FFFD}root\u{FFFD}[0m')
  })
})

describe('warnings secrets', () => {
  const usual = process.env['NODE_ENV']
  /** Everything that reached standard error or a listener of warnings. */
  const written: unknown[] = []
  const note = (...given: readonly unknown[]) => void written.push(...given)
  const texts = () => written.map((text) => String(text))
  const explains = (reason: string) => texts().some((text) => text.includes(`, ${reason}.`))

  let run: EndpointRun
  beforeAll(async () => {
    process.env['NODE_ENV'] = 'development'
    jest.spyOn(process, 'emitWarning').mockImplementation(note)
    jest.spyOn(console, 'error').mockImplementation(note)
    jest.spyOn(console, 'warn').mockImplementation(note)
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      note(text)
      return true
    })
    run = await useEveryEndpoint(({ events }) => {
      events.removeAllListeners('failure')
      events.on('issued', () => {
        throw new Error('the audit log is full')
      })
    })
    await waitUntil('token_invalid is explained after a look', async () => explains('token_invalid'))
  })
  afterAll(() => {
    process.env['NODE_ENV'] = usual
    jest.restoreAllMocks()
  })

  test('a whole story explains each refusal in it but the decision of the owner', () => {
    const refusals = new Set(['refused', 'replayed', 'reused', 'throttled'])
    const reasons = run.recorded.flatMap(({ event, reason }) =>
      refusals.has(event) && reason !== 'owner_denied' ? [String(reason)] : [],
    )
    expect(new Set(reasons).size).toBeGreaterThan(20)
    expect(reasons.filter((reason) => !explains(reason))).toEqual([])
  })

  test('it gives the warnings of a failure and of a broken listener, too', () => {
    const allTexts = texts().join()
    expect(allTexts).toContain("Listen for 'failure' at oauth.events, or at events of the guard")
    expect(allTexts).toContain("A listener of the event 'issued' failed")
  })

  test('and no warning contains a credential, a secret, a verifier or a state', () => {
    expect(run.secrets.size).toBeGreaterThan(25)
    const allTexts = [
      ...texts(),
      inspect(written, { depth: Infinity, showHidden: true, maxStringLength: null }),
    ]
    expect(secretsIn(allTexts.join('\n'), run.secrets)).toEqual([])
  })
})
