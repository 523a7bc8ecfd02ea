import { Redis } from 'ioredis'
import request from 'supertest'
import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { redisStore } from '../../lib/index'
import { describeOwnRedis } from '../support/describe-own-redis'
import { eventNames, type Heard, heardFrom } from '../support/events'
import { application, type Hosting, mountAll } from '../support/flows/application'
import { bent, everyClient, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, basic } from '../support/flows/flow'
import { credentialFingerprint, type Told, wholeStory } from '../support/flows/whole-story'
import { type RedisServer, startRedis } from '../support/redis-server'

describe('events secrets', () => {
  let told: Told
  beforeAll(async () => {
    told = await wholeStory()
  })

  /** The part of a text that must not be read: of a credential what follows its kind and the id, which is no secret. */
  const secretPartOf = (secret: string) => (/^(?:at|rt|ac|ar)_/.test(secret) ? secret.slice(3 + 24) : secret)

  test('a whole story has every event, and holds no secret in any', () => {
    expect(new Set(told.heard.map(({ event }) => event))).toEqual(new Set(eventNames))
    expect(told.secrets.size).toBeGreaterThan(25)
    const everything =
      JSON.stringify(told.heard) +
      inspect(told.heard, { depth: Infinity, showHidden: true, maxArrayLength: null })
    for (const secret of told.secrets) {
      const part = secretPartOf(secret)
      expect(part.length).toBeGreaterThan(10)
      for (const start of [0, Math.floor(part.length / 2)])
        expect(everything).not.toContain(part.slice(start, start + 12))
      expect(everything).not.toContain(Buffer.from(secret).toString('base64'))
    }
  })

  test('what an event shows of a credential is 8 digits of its digest, and of nothing else', () => {
    const marks = new Set(
      [...told.secrets].filter((secret) => /^(?:at|rt|ac|ar)_/.test(secret)).map(credentialFingerprint),
    )
    const shown = told.heard.flatMap(({ credential }) => (credential === undefined ? [] : [credential]))
    expect(shown.length).toBeGreaterThan(15)
    for (const mark of shown) expect(marks).toContain(mark)
  })

  test('one event tells the outcome of one request; a revocation that it brought follows', () => {
    const outcomes = new Map<unknown, readonly string[]>()
    for (const { event, requestId } of told.heard)
      if (event !== 'oldSecretUsed' && requestId !== undefined)
        outcomes.set(requestId, [...(outcomes.get(requestId) ?? []), event])
    expect(outcomes.size).toBeGreaterThan(25)
    expect([...outcomes.values()].filter(({ length }) => length > 1)).toEqual([
      ['reused', 'revoked'],
      ['replayed', 'revoked'],
    ])
  })
})

describe('names in events', () => {
  const fingerprintOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)
  const { secret } = photoPrint
  const refreshToken = `rt_${'A'.repeat(80)}`
  const shut = bent(photoBook, { client_id: 'shut-book', disabled: true })
  const clients = [...everyClient, shut].map(({ registration }) => registration)

  const open = (options = {}) => {
    const set = application({ clients, ...options })
    return { ...set, heard: heardFrom(set.oauth.events) }
  }

  describe('A client id that nobody has', () => {
    test.each(['/token', '/revoke', '/introspect'])(
      'is told as 8 digits of its digest at %s: it may be a secret in the wrong place [input-22]',
      async (path) => {
        const { flow, heard } = open({ rateLimit: { clients: { attempts: 3, seconds: 60 } } })
        await flow.submit(path, {}, undefined, { Authorization: basic(secret, 'photo-print') })
        await flow.submit(path, { client_id: secret, client_secret: 'photo-print' })
        await flow.submit(path, { client_id: refreshToken })
        // Over the limit, too.
        await flow.submit(path, {}, undefined, { Authorization: basic(secret, 'photo-print') })
        expect(heard.map(({ event, clientId }) => [event, clientId])).toEqual([
          ['refused', fingerprintOf(secret)],
          ['refused', fingerprintOf(secret)],
          ['refused', fingerprintOf(refreshToken)],
          ['throttled', fingerprintOf(secret)],
        ])
      },
    )

    test('is told as 8 digits of its digest at the authorization endpoint, and no page shows it', async () => {
      const { flow, heard } = open()
      for (const client_id of [secret, refreshToken]) {
        const page = await flow.ask({ ...authorizationRequest(photoBook), client_id }, 'alice')
        expect(page.status).toBe(400)
        expect(page.text).not.toContain(client_id)
      }
      expect(heard.map(({ clientId }) => clientId)).toEqual([
        fingerprintOf(secret),
        fingerprintOf(refreshToken),
      ])
    })
  })

  describe('A client id that somebody has', () => {
    test('is told as it is, whatever the request is refused for', async () => {
      const { flow, heard } = open()
      const asked = authorizationRequest(photoBook)
      await flow.submit('/token', {}, undefined, { Authorization: basic('photo-print', 'guess') })
      await flow.request(shut, {})
      await flow.request(nightlyReport, { grant_type: 'refresh_token', refresh_token: 'none' })
      await flow.ask({ ...asked, redirect_uri: 'https://evil.example/' }, 'alice')
      await flow.ask({ ...asked, client_id: 'shut-book' }, 'alice')
      await flow.ask({ ...asked, scope: 'none' }, 'alice')
      expect(heard.map(({ clientId }) => clientId)).toEqual([
        'photo-print',
        'shut-book',
        'nightly-report',
        'photo-book',
        'shut-book',
        'photo-book',
      ])
    })

    test('is that of the client which asked, not of the one whose code it showed', async () => {
      const { flow, heard } = open()
      const code = await flow.approve(photoPrint)
      await flow.redeem(photoBook, code)
      expect(heard.at(-1)).toMatchObject({ event: 'refused', clientId: 'photo-book' })
    })
  })
})

const everything = (value: unknown) =>
  inspect(value, { depth: Infinity, showHidden: true, maxStringLength: Infinity, maxArrayLength: Infinity })

describeOwnRedis('When Redis refuses a write', () => {
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
    const heard = application({ store: redisStore({ client }) })
    for (const { flow } of [silent, heard]) {
      const answer = await flow.ask(authorizationRequest(photoPrint), owner)
      expect(answer.get('Location')).toMatch(/[?&]error=temporarily_unavailable(?:&|$)/)
    }
    const warnings = warn.mock.calls.map((call) => everything(call))
    warn.mockRestore()
    expect(warnings.join('\n')).toMatch(/^[^]*store_unavailable: .*OOM command not allowed/)
    expect(heard.failures).toMatchObject([{ reason: 'store_unavailable', cause: { name: 'ReplyError' } }])
    const told = [...warnings, ...heard.failures.map(({ cause }) => everything(cause))].join('\n')
    for (const text of kept) expect(told).not.toContain(text)
  })
})

describe('events hostile', () => {
  const unprintable = /[\p{C}\p{Zl}\p{Zp}]/u

  const hostile = [
    ['a second line', 'x\r\n{"event":"issued"}'],
    ['a lone line feed', 'x\nissued'],
    ['an escape sequence', '\u001B[2J\u001B[31mx'],
    ['an escape sequence of one C1 character', '\u009B31mx'],
    ['a zero byte', 'x\u0000y'],
    ['a line separator of Unicode', 'x\u2028y\u2029z'],
    ['a turn of the reading order', 'x\u202Eyalp'],
    ['half a character', `${'x'.repeat(254)}😀`],
    ['great length', 'x'.repeat(5000)],
  ] as const

  const open = (mount: NonNullable<Hosting['mount']> = mountAll) => {
    const { app, oauth, flow } = application({}, { mount })
    return { app, flow, heard: heardFrom(oauth.events) }
  }

  /** The texts of events that no log should get. */
  const harmfulIn = (heard: readonly Heard[]) =>
    heard
      .flatMap((event) => Object.values(event))
      .filter((value) => typeof value === 'string' && (value.length > 256 || unprintable.test(value)))

  const trusting: Hosting['mount'] = (app, oauth) => {
    app.set('trust proxy', true)
    mountAll(app, oauth)
  }

  describe.each(hostile)('A client that names itself by %s', (_what, text) => {
    test('in a form is told of harmlessly [store-24]', async () => {
      const { flow, heard } = open()
      await flow.submit('/token', { client_id: text, client_secret: 'x', grant_type: text })
      expect(heard).toHaveLength(1)
      expect(harmfulIn(heard)).toEqual([])
      // One that is too long is refused before it names anybody.
      expect(heard[0]?.clientId?.length).toBe(text.length > 256 ? undefined : 8)
    })

    test('in a query is told of harmlessly', async () => {
      const { flow, heard } = open()
      await flow.ask({ ...authorizationRequest(photoBook), client_id: text }, 'alice')
      expect(heard).toHaveLength(1)
      expect(harmfulIn(heard)).toEqual([])
    })

    test('in Basic is told of harmlessly', async () => {
      const { flow, heard } = open()
      await flow.submit('/token', { grant_type: 'client_credentials' }, undefined, {
        Authorization: basic(text, 'x'),
      })
      expect(heard).toHaveLength(1)
      expect(harmfulIn(heard)).toEqual([])
    })
  })

  test.each([
    ['of great length', 'x'.repeat(5000)],
    ['of a C1 control character', 'x\u009B31m'],
  ])('an address that a client made up, %s, is told of harmlessly', async (_what, address) => {
    const { flow, heard } = open(trusting)
    await flow.submit('/token', { client_id: 'x', client_secret: 'y' }, undefined, {
      'X-Forwarded-For': address,
    })
    expect(heard).toHaveLength(1)
    expect(harmfulIn(heard)).toEqual([])
    expect(heard[0]?.address).toMatch(/^x/)
  })

  test('an id that the host echoes from the request is not taken when a terminal would obey it', async () => {
    const { app, heard } = open((host, oauth) => {
      host.use((req, response, next) =>
        next(void response.setHeader('X-Request-Id', req.get('X-Request-Id') ?? '')),
      )
      mountAll(host, oauth)
    })
    const sent = (id: string) => request(app).get('/authorize').set('X-Request-Id', id)
    const { headers } = await sent('x\u009B31m')
    expect(heard).toHaveLength(1)
    expect(harmfulIn(heard)).toEqual([])
    expect(headers['x-request-id']).toBe(heard[0]?.requestId)
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{16}$/)
    expect((await sent('from the host')).headers['x-request-id']).toBe('from the host')
  })

  test('a subject of the host is told of harmlessly, and its approval as ever', async () => {
    const subject = 'alice\nroot\u001B[0m'
    const { oauth, flow } = application({ resourceOwner: () => ({ subject }) })
    const heard = heardFrom(oauth.events)
    await flow.approve(photoPrint)
    expect(heard).toHaveLength(1)
    expect(harmfulIn(heard)).toEqual([])
    expect(heard[0]?.subject).toBe('alice\u{FFFD}root\u{FFFD}[0m')
  })
})
