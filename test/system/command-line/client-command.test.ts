import { createServer } from 'node:net'
import { once } from 'node:events'
import type { Redis } from 'ioredis'
import { run } from '../../../lib/command-line/run'
import { hashClientSecret, redisStore, type RedisStore } from '../../../lib/index'
import { application } from '../../support/flows/application'
import { outcomeOf } from '../../support/flows/outcome'
import { commandLine, type Finished } from '../../support/command-line'
import type { RedisServer } from '../../support/redis-server'
import { tokensOf } from '../../support/flows/tokens'
import { waitUntil } from '../../support/wait-until'
import { withRedis } from '../../support/with-redis'
import { startRedisProxy } from '../../support/stores/redis-proxy'
import { uniquePrefix } from '../../support/stores/redis-under-test'

const web = [
  '--type',
  'confidential',
  '--scope',
  'photos:read reports:write',
  '--grant-type',
  'client_credentials',
]
const phone = [
  '--type',
  'public',
  '--scope',
  'photos:read',
  '--redirect-uri',
  'https://book.example/callback',
]
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

let redis: Redis
let server: RedisServer
withRedis((started) => {
  redis = started.client
  server = started.server
})

let prefix: string
let store: RedisStore
beforeEach(() => {
  prefix = uniquePrefix()
  store = redisStore({ client: redis, prefix })
})

/** Runs a command in this process. */
async function here(words: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Finished> {
  const { status, output, remarks } = await run(words, environment)
  const [stdout, stderr] = [output, remarks].map((text) => (text === '' ? '' : `${text}\n`))
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' }
}

const client = (...words: readonly string[]): Promise<Finished> =>
  here(['client', ...words, '--prefix', prefix], { REDIS_URL: server.url })

async function answerOf(...words: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const { status, stdout, stderr } = await client(...words, '--json')
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

const tokensFor = async (client_id: string, secret: string): Promise<string> => {
  const { flow } = application({ store, clients: store.clients, storeDeadline: 10 })
  const registration = { client_id, client_type: 'confidential', scope: 'photos:read' } as const
  return outcomeOf(await flow.request({ registration, secret }, grant))
}

const page = (name: string) => `https://book.example/${name}`
const everyField = [
  ['--client-id', 'photo-book', '--name', 'Photo Book', '--description', 'Prints albums'],
  ['--type', 'confidential', '--secret-hash', 'DIGEST', '--scope', 'photos:read', '--may-introspect'],
  ['--redirect-uri', page('one'), `--redirect-uri=${page('two')}`, '--dynamic-redirect-query'],
  ['--post-logout-redirect-uri', page('bye')],
  ['--insecure-redirect-uris', '--grant-type', 'implicit', '--grant-type', 'authorization_code'],
  ['--response-type', 'code', '--response-type', 'token', '--auth-method', 'client_secret_post'],
  ['--access-token-lifetime', '60', '--refresh-token-lifetime=600', '--grant-lifetime', '6000'],
  ['--client-uri', page('u'), '--logo-uri', page('l'), '--policy-uri', page('p'), '--tos-uri', page('t')],
].flat()

describe('client add', () => {
  it('registers a client that gets tokens at once, and shows its secret once', async () => {
    const { status, stdout, stderr } = await client('add', ...web)
    expect(status).toBe(0)
    const lines = /^client_id {6}([\w-]{22})\nclient_secret {2}([\w-]{43})\n$/.exec(stdout)
    const [, id = '', secret = ''] = lines ?? []
    expect(await tokensFor(id, secret)).toBe('tokens')
    expect(stderr).toBe('The secret is shown only now: the store keeps its digest.\n')
    const others = [await client('list'), await client('show', id), await client('list', '--json')]
    for (const other of others) expect(other.stdout + other.stderr).not.toContain(secret)
  })

  it('answers with JSON alone when asked to', async () => {
    const added = await answerOf('add', ...web)
    expect(Object.keys(added)).toEqual(['client_id', 'client_secret'])
    expect(Object.keys(await answerOf('add', ...phone))).toEqual(['client_id'])
  })

  it('takes members of plug-ins, as JSON or as a text, which the server checks', async () => {
    const members = [
      'subject_type=pairwise',
      'default_max_age=600',
      'default_acr_values=["gold"]',
      'note=a=b',
    ]
    const words = [...phone, ...members.flatMap((member) => ['--member', member])]
    const { client_id = '' } = await answerOf('add', ...words)
    const stored = {
      subject_type: 'pairwise',
      default_max_age: 600,
      default_acr_values: ['gold'],
      note: 'a=b',
    }
    expect(await store.clients.find(client_id)).toMatchObject(stored)
    expect(await answerOf('show', client_id)).toMatchObject(stored)
  })

  it.each([
    ['scope=x', 'cannot set scope, which is no member of a plug-in.'],
    ['subject_type', 'must be name=value'],
    ['__proto__=x', 'must be name=value'],
    ['=x', 'must be name=value'],
    ['client_secret=x', 'cannot set client_secret'],
  ])('refuses --member %s, and registers nothing', async (member, message) => {
    const { status, stderr } = await client('add', ...phone, '--member', member)
    expect([status, stderr]).toEqual([1, expect.stringContaining(`--member ${message}`)])
    const twice = await client('add', ...phone, '--member', 'a=1', '--member', 'a=2')
    expect([twice.status, twice.stderr]).toEqual([1, expect.stringContaining('--member sets a twice.')])
    expect(await store.clients.list()).toEqual([])
  })

  it('fills every field', async () => {
    const digest = await hashClientSecret('chosen')
    const words = everyField.map((word) => (word === 'DIGEST' ? digest : word))
    const { client_id } = await answerOf('add', ...words)
    expect(client_id).toBe('photo-book')
    expect(await store.clients.find('photo-book')).toEqual({
      client_id: 'photo-book',
      client_type: 'confidential',
      client_secret_hashes: [digest],
      credentials: {},
      token_endpoint_auth_method: 'client_secret_post',
      redirect_uris: [page('one'), page('two')],
      post_logout_redirect_uris: [page('bye')],
      loopback_redirect_uris: false,
      dynamic_redirect_query: true,
      insecure_redirect_uris: true,
      grant_types: ['implicit', 'authorization_code'],
      response_types: ['code', 'token'],
      scope: 'photos:read',
      access_token_lifetime: 60,
      refresh_token_lifetime: 600,
      grant_lifetime: 6000,
      may_introspect: true,
      disabled: false,
      client_name: 'Photo Book',
      description: 'Prints albums',
      client_uri: page('u'),
      logo_uri: page('l'),
      policy_uri: page('p'),
      tos_uri: page('t'),
    })
  })

  it.each(['soon', '-1', '1.5', '1e3', ''])('refuses %j as a lifetime', async (seconds) => {
    const { status, stderr } = await client('add', ...web, `--access-token-lifetime=${seconds}`)
    expect(status).toBe(2)
    expect(stderr).toMatch(/--access-token-lifetime (must be whole seconds|needs a value)/)
  })

  it('refuses a logo that no page shows', async () => {
    expect(await client('add', ...web, '--logo-uri', 'http://book.example/logo.png')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('  - --logo-uri must be an https URL'),
    })
  })

  it('refuses an identifier that exists', async () => {
    await answerOf('add', ...phone, '--client-id', 'phone')
    expect(await client('add', ...web, '--client-id', 'phone')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'The client cannot be registered:\n  - --client-id is taken: another client has it, and keeps it.\n',
    })
    expect(await store.clients.find('phone')).toMatchObject({ client_type: 'public' })
  })

  it('lists every mistake in a registration under the name of its option', async () => {
    const { status, stdout, stderr } = await client(
      'add',
      '--redirect-uri',
      '/x',
      '--name',
      'a\u001B[31mb',
      '--secret-hash',
      'a secret itself',
    )
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    for (const name of ['type', 'scope', 'redirect-uri', 'name', 'secret-hash'])
      expect(stderr).toContain(`\n  - --${name} `)
    expect(stderr).not.toContain('a secret itself')
    expect(stderr).not.toContain('\u001B')
    expect(await store.clients.list()).toEqual([])
  })
})

const whereItLooked = () =>
  `The command looked in Redis at ${new URL(server.url).host} under the prefix ${prefix}. If the redisStore() of your server has another prefix, name it with --prefix.\n`

describe('client list and show', () => {
  it('show clients as an aligned table, without digests', async () => {
    await answerOf('add', ...web, '--client-id', 'report', '--name', 'Report')
    await answerOf('add', ...phone, '--client-id', 'b')
    expect((await client('list')).stdout).toBe(
      [
        'client_id  client_name  client_type   grant_types         scope                      client_secrets  last_used  disabled',
        'b          -            public        authorization_code  photos:read                0               -          no',
        'report     Report       confidential  client_credentials  photos:read reports:write  1               -          no',
        '',
      ].join('\n'),
    )
    const shown = (await client('show', 'report')).stdout
    expect(shown).toMatch(/^client_type +confidential$/m)
    expect(shown).toMatch(/^client_secrets +1$/m)
    expect(shown).not.toContain('sha256')
    const { client_secret_hashes: _digests, ...rest } = (await store.clients.find('report')) ?? {}
    expect(await answerOf('show', 'report')).toEqual({ ...rest, client_secrets: 1 })
    expect(await answerOf('list')).toMatchObject([{ client_id: 'b' }, { client_id: 'report' }])
  })

  it('say so when there is none, and where they looked', async () => {
    expect(await client('list')).toEqual({
      status: 0,
      stdout: 'No client is registered here.\n',
      stderr: whereItLooked(),
    })
    expect(await answerOf('list')).toEqual([])
  })

  it('print no stored control characters', async () => {
    const evil = 'a\u001B]0;x\u0007\n\u009B31m\u202Eb\u2028\u{E0041}'
    await store.clients.add({ client_id: evil, client_type: 'public', client_name: evil, scope: evil })
    for (const words of [['list'], ['list', '--json'], ['show', evil], ['show', evil, '--json']]) {
      const { status, stdout } = await client(...words)
      expect(status).toBe(0)
      expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
    }
    expect(await answerOf('show', evil)).toMatchObject({ client_id: evil, client_name: evil })
    const { stderr } = await client('show', `${evil}?`, 'x\u001B[31m')
    expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })

  it('find an issued identifier that begins like an option', async () => {
    const id = `--${'aB3_-'.repeat(4)}`
    await store.clients.add({ client_id: id, client_type: 'public', scope: 'a' })
    expect(await answerOf('show', id)).toMatchObject({ client_id: id })
    const words = ['client', 'show', '--json', '--prefix', prefix, '--redis', server.url, '--', id]
    expect(JSON.parse((await here(words)).stdout)).toMatchObject({ client_id: id })
  })
})

describe('client rotate-secret, disable and enable', () => {
  it('rotate: the new secret works beside the old one, until the rotation is finished', async () => {
    const { client_id = '', client_secret = '' } = await answerOf('add', ...web)
    const rotated = await client('rotate-secret', client_id)
    const [secret = ''] = /(?<=^client_secret {2})[\w-]{43}$/m.exec(rotated.stdout) ?? []
    expect(rotated.stderr).not.toContain(secret)
    expect([await tokensFor(client_id, client_secret), await tokensFor(client_id, secret)]).toEqual([
      'tokens',
      'tokens',
    ])
    expect(await answerOf('rotate-secret', client_id, '--finish')).toEqual({ client_id, client_secrets: 1 })
    expect([await tokensFor(client_id, client_secret), await tokensFor(client_id, secret)]).toEqual([
      '401 invalid_client',
      'tokens',
    ])
  })

  it('rotate: prints the secret although Redis did not confirm it, and can be repeated with it', async () => {
    const other = await answerOf('add', ...web)
    const { client_id = '', client_secret = '' } = await answerOf('add', ...web)
    // Redis knows the script from now on, so that the next rotation is one command.
    await answerOf('rotate-secret', other['client_id'] ?? '')
    let isSilent = false
    const proxy = await startRedisProxy(server.port, () => ({
      sent: (words) => (isSilent ||= /EVALSHA/i.test(words.toString())),
      replied: (pass, connection) => (isSilent ? void connection.destroy() : pass()),
    }))
    const rotate = (environment: NodeJS.ProcessEnv, ...options: readonly string[]) =>
      here(['client', 'rotate-secret', client_id, '--prefix', prefix, '--json', ...options], environment)
    try {
      const { status, stdout, stderr } = await rotate({ REDIS_URL: proxy.url })
      const secret = String(JSON.parse(stdout).client_secret)
      expect(status).toBe(1)
      expect(stderr).toContain('The command does not know whether the client has this secret now.')
      expect(stderr).not.toContain(secret)
      const again = { REDIS_URL: server.url, CLIENT_SECRET: secret }
      for (let round = 0; round < 2; round++)
        expect(JSON.parse((await rotate(again, '--repeat')).stdout)).toEqual({
          client_id,
          client_secret: secret,
        })
      expect([await tokensFor(client_id, client_secret), await tokensFor(client_id, secret)]).toEqual([
        'tokens',
        'tokens',
      ])
      expect(await rotate({ REDIS_URL: server.url }, '--repeat')).toMatchObject({ status: 1, stdout: '' })
    } finally {
      await proxy.stop()
    }
  })

  it('disable and enable at once', async () => {
    const { client_id = '', client_secret = '' } = await answerOf('add', ...web)
    expect(await answerOf('disable', client_id)).toEqual({ client_id, disabled: true })
    expect(await tokensFor(client_id, client_secret)).toBe('401 invalid_client')
    expect((await client('list')).stdout).toMatch(/ yes\n$/)
    expect(await answerOf('enable', client_id)).toEqual({ client_id, disabled: false })
    expect(await tokensFor(client_id, client_secret)).toBe('tokens')
  })

  it.each(['disable', 'delete'])(
    '%s with --issuer ends what the client has, for servers with the option authorizations',
    async (verb) => {
      const { client_id = '', client_secret = '' } = await answerOf('add', ...web)
      const { flow, oauth } = application({
        store,
        clients: store.clients,
        storeDeadline: 10,
        authorizations: true,
      })
      await waitUntil('the server has started', () => oauth.ready())
      const registration = { client_id, client_type: 'confidential', scope: 'photos:read' } as const
      const own = { registration, secret: client_secret }
      const { accessToken } = tokensOf(await flow.request(own, grant))
      expect((await flow.photos(accessToken)).status).toBe(200)
      const issuers = ['--issuer', 'http://localhost']
      const { status, stderr } = await client(verb, client_id, ...issuers)
      expect([status, stderr]).toEqual([0, expect.stringContaining('guards on the store within a second')])
      await waitUntil('the guard refuses', async () => (await flow.photos(accessToken)).status === 401, 5)
      await client('enable', client_id)
      expect((await flow.photos(accessToken)).status).toBe(401)
    },
  )

  it('disable says that access tokens live on without --issuer, or if no server has the issuer', async () => {
    const { client_id = '' } = await answerOf('add', ...web)
    expect((await client('disable', client_id)).stderr).toContain('work until they expire')
    const wrong = await client('disable', client_id, '--issuer', 'http://localhost/')
    expect(wrong).toMatchObject({ status: 1, stdout: expect.stringContaining(client_id) })
    expect(wrong.stderr).toContain('--issuer names http://localhost/. No server of this name')
    expect((await answerOf('show', client_id))['disabled']).toBe(true)
  })

  it.each([
    ['show', 'shown'],
    ['rotate-secret', 'changed'],
    ['disable', 'changed'],
    ['enable', 'changed'],
    ['delete', 'changed'],
  ])('%s refuses a client that does not exist, and says where it looked', async (name, done) => {
    expect(await client(name, 'nobody')).toEqual({
      status: 1,
      stdout: '',
      stderr: `The client cannot be ${done}:\n  - client_id names no client that is registered here.\n${whereItLooked()}`,
    })
  })
})

describe('the command line', () => {
  it('is a program: answers on stdout, remarks on stderr, the outcome as its status', async () => {
    const environment = { REDIS_URL: server.url }
    const added = await commandLine(['client', 'add', ...web, '--prefix', prefix], environment)
    expect({ ...added, stdout: '' }).toEqual({
      status: 0,
      stdout: '',
      stderr: 'The secret is shown only now: the store keeps its digest.\n',
    })
    expect(added.stdout).toMatch(/^client_id {6}[\w-]{22}\nclient_secret {2}[\w-]{43}\n$/)
    const again = await commandLine(['client', 'show', 'nobody', '--prefix', prefix], environment)
    expect(again).toMatchObject({ status: 1, stdout: '' })
    expect(await commandLine(['client', 'lsit'])).toMatchObject({ status: 2, stdout: '' })
    const unreachable = await commandLine(['client', 'list', '--redis', 'redis://u:geheim@127.0.0.1:1'])
    expect(unreachable).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Redis at 127.0.0.1:1 does not answer. Is it running, and is the URL right?\n',
    })
  })

  it.each([[[]], [['--help']], [['client', '--help']], [['client', 'add', '--help', '--nonsense']]])(
    'explains itself: %j',
    async (words) => {
      const { status, stdout, stderr } = await here(words)
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      for (const name of ['add', 'list', 'show', 'change', 'rotate-secret', 'disable', 'enable', 'delete'])
        expect(stdout).toContain(`  client ${name} `)
      for (const name of ['keys retire', '--redis', '--finish']) expect(stdout).toContain(`  ${name} `)
    },
  )

  it.each([
    ['no such subject', ['clients', 'list'], ['clients is not a command']],
    [
      'no such command',
      ['client', 'remove', 'x'],
      ['client remove is not a command; the commands are client add'],
    ],
    ['no command', ['client'], ['client is not a command']],
    ['no client', ['client', 'show'], ['client_id is missing']],
    ['an empty client', ['client', 'show', ''], ['client_id is missing']],
    ['two clients', ['client', 'show', 'a', 'b'], ['b is one word too many']],
    [
      'several at once',
      ['client', 'add', '--nmae', 'x', '--json=yes', '--type', '--scope', '--name', 'a', '--name', 'b', '-j'],
      [
        '--nmae is not known here; the known options are --redis,',
        '--json takes no value',
        '--type needs a value',
        '--name is given twice',
        '-j is not known here',
        'x is one word too many',
      ],
    ],
    ['an option of another command', ['client', 'list', '--finish'], ['--finish is not known here']],
    [
      'an option named like a prototype',
      ['client', 'list', '--__proto__', '--constructor'],
      ['--__proto__', '--constructor'],
    ],
  ])('answers wrong usage with every mistake and status 2: %s', async (_what, words, expected) => {
    const { status, stdout, stderr } = await here(words, { REDIS_URL: server.url })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    for (const text of expected) expect(stderr).toContain(`  - ${text}`)
  })

  it.each([
    ['none', [], {}],
    ['no URL', ['--redis', 'localhost:geheim'], {}],
    ['another protocol', [], { REDIS_URL: 'http://localhost:geheim@x' }],
  ])('asks for the URL of Redis and never quotes it: %s', async (_what, words, environment) => {
    const { status, stderr } = await here(['client', 'list', ...words], environment)
    expect(status).toBe(2)
    expect(stderr).toContain('REDIS_URL')
    expect(stderr).not.toContain('geheim')
  })

  it('says in one line that Redis does not answer, without the password in its URL', async () => {
    const { status, stdout, stderr } = await here([
      'client',
      'list',
      '--redis',
      'redis://u:geheim@127.0.0.1:1',
    ])
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Redis at 127.0.0.1:1 does not answer. Is it running, and is the URL right?\n',
    })
  })

  it('does not wait for ever for a server that says nothing', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = silent.address()
    const port = typeof address === 'object' ? address?.port : undefined
    try {
      const { status, stderr } = await here(['client', 'list', '--redis', `redis://127.0.0.1:${port}`])
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: `Redis at 127.0.0.1:${port} does not answer. Is it running, and is the URL right?\n`,
      })
    } finally {
      silent.close()
    }
  })

  it('prints only the code of a Redis error, which quotes no digest', async () => {
    await redis.set(`${prefix}clients`, 'text')
    const { status, stderr } = await client('add', ...web)
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `Redis at ${new URL(server.url).host} refused: WRONGTYPE.\n`,
    })
    await redis.del(`${prefix}clients`)
  })
})
