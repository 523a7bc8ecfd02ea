import { once } from 'node:events'
import { createServer } from 'node:net'
import { version } from '../../../package.json'
import { hashClientSecret } from '../../../lib/index'
import { commandLine } from '../../support/command-line'
import { startRedisProxy } from '../../support/stores/redis-proxy'
import { ClientStage, here, phone, refused, web } from './client-stage'

const stage = new ClientStage()
const { client, answerOf, added, tokensFor } = stage

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
    expect([status, stderr]).toEqual([0, 'The secret is shown only now: the store keeps its digest.\n'])
    const [, id = '', secret = ''] =
      /^client_id {6}([\w-]{22})\nclient_secret {2}([\w-]{43})\n$/.exec(stdout) ?? []
    expect(await tokensFor(id, secret)).toBe('tokens')
    for (const words of [['list'], ['show', id], ['list', '--json']])
      expect(JSON.stringify(await client(...words))).not.toContain(secret)
  })

  it('answers with JSON alone when asked to', async () => {
    expect(Object.keys(await answerOf('add', ...web))).toEqual(['client_id', 'client_secret'])
    expect(Object.keys(await answerOf('add', ...phone))).toEqual(['client_id'])
  })

  it('takes members of plug-ins, as JSON or as a text, which the server checks', async () => {
    const members = [
      'subject_type=pairwise',
      'default_max_age=600',
      'default_acr_values=["gold"]',
      'note=a=b',
    ]
    const words = members.map((member) => `--member=${member}`)
    const { client_id = '' } = await answerOf('add', ...phone, ...words)
    const stored = {
      subject_type: 'pairwise',
      default_max_age: 600,
      default_acr_values: ['gold'],
      note: 'a=b',
    }
    expect(await stage.clients.find(client_id)).toMatchObject(stored)
    expect(await answerOf('show', client_id)).toMatchObject(stored)
  })

  it('fills every field', async () => {
    const digest = await hashClientSecret('chosen')
    await answerOf('add', ...everyField.map((word) => (word === 'DIGEST' ? digest : word)))
    expect(await stage.clients.find('photo-book')).toEqual({
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

  it.each([
    ['--member=scope=x', 1, '--member cannot set scope, which is no member of a plug-in.'],
    ['--member=subject_type', 1, '--member must be name=value'],
    ['--member=__proto__=x', 1, '--member must be name=value'],
    ['--member==x', 1, '--member must be name=value'],
    ['--member=client_secret=x', 1, '--member cannot set client_secret'],
    ['--member=a=1 --member=a=2', 1, '--member sets a twice.'],
    ...['soon', '-1', '1.5', '1e3'].map(
      (value) =>
        [`--access-token-lifetime=${value}`, 2, '--access-token-lifetime must be whole seconds'] as const,
    ),
    ['--access-token-lifetime=', 2, '--access-token-lifetime needs a value'],
    ['--logo-uri=http://book.example/logo.png', 1, '--logo-uri must be an https URL'],
  ] as const)('refuses %s, and registers nothing', async (words, status, mistake) => {
    expect(await client('add', ...web, ...words.split(' '))).toEqual({
      status,
      stdout: '',
      stderr: expect.stringContaining(`  - ${mistake}`),
    })
    expect(await stage.clients.list()).toEqual([])
  })

  it('names the flags also where the sentence of a mistake names other members', async () => {
    const words = ['--grant-type=client_credentials', '--response-type=token', '--dynamic-redirect-query']
    const { stderr } = await client('add', ...web, ...words, `--redirect-uri=${page('one')}?a`)
    expect(stderr.split('\n').slice(1, 3)).toEqual([
      '  - --grant-type must hold implicit, because --response-type holds token.',
      '  - --redirect-uri must not have a query, because --dynamic-redirect-query leaves it to the request; remove the ? and what follows it.',
    ])
  })

  it('refuses an identifier that exists', async () => {
    await answerOf('add', ...phone, '--client-id', 'phone')
    expect(await client('add', ...web, '--client-id', 'phone')).toEqual(
      refused('registered', '--client-id is taken: another client has it, and keeps it.\n'),
    )
    expect(await stage.clients.find('phone')).toMatchObject({ client_type: 'public' })
  })

  it('lists every mistake in a registration under the name of its option', async () => {
    const words = ['--redirect-uri=/x', '--name=a\u001B[31mb', '--secret-hash=a secret itself']
    const { status, stdout, stderr } = await client('add', ...words)
    expect([status, stdout]).toEqual([1, ''])
    for (const name of ['type', 'scope', 'redirect-uri', 'name', 'secret-hash'])
      expect(stderr).toContain(`\n  - --${name} `)
    expect(stderr).toContain('needs a server with the option verifyDigest.')
    for (const hidden of ['a secret itself', '\u001B']) expect(stderr).not.toContain(hidden)
    expect(await stage.clients.list()).toEqual([])
  })
})

const whereItLooked = () =>
  `The command looked in Redis at ${new URL(stage.url).host}. If the store of your server has a prefix, a schema or a table, name it in the URL, as in ?prefix=shop:.\n`

describe('client list and show', () => {
  it('show clients as an aligned table, without digests, with the day of the last use', async () => {
    await answerOf('add', ...web, '--client-id', 'report', '--name', 'Report')
    await answerOf('add', ...phone, '--client-id', 'b')
    const { clients } = stage
    await clients.find('b')
    await clients.noteUse('b', Date.UTC(2026, 1, 3) / 1000)
    expect((await client('list')).stdout).toBe(
      [
        'client_id  client_name  client_type   grant_types         scope                      client_secrets  last_used   disabled',
        'b          -            public        authorization_code  photos:read                0               2026-02-03  no',
        'report     Report       confidential  client_credentials  photos:read reports:write  1               -           no',
        '',
      ].join('\n'),
    )
    const shown = (await client('show', 'report')).stdout
    expect(shown).toMatch(/^client_type +confidential$[^]*^client_secrets +1$/m)
    expect(shown).not.toContain('sha256')
    const { client_secret_hashes: _digests, ...rest } = (await stage.clients.find('report')) ?? {}
    expect(await answerOf('show', 'report')).toEqual({ ...rest, client_secrets: 1 })
    expect(await answerOf('show', 'b')).toMatchObject({ last_used: '2026-02-03' })
    expect(await answerOf('list')).toMatchObject([{ client_id: 'b' }, { client_id: 'report' }])
  })

  it('say so when there is none, and where they looked', async () => {
    const stdout = 'No client is registered here.\n'
    expect(await client('list')).toEqual({ status: 0, stdout, stderr: whereItLooked() })
    expect(await answerOf('list')).toEqual([])
  })

  it('print no stored control characters', async () => {
    const evil = 'a\u001B]0;x\u0007\n\u009B31m\u202Eb\u2028\u{E0041}'
    await stage.clients.add({ client_id: evil, client_type: 'public', client_name: evil, scope: evil })
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
    await stage.clients.add({ client_id: id, client_type: 'public', scope: 'a' })
    expect(await answerOf('show', id)).toMatchObject({ client_id: id })
    const words = ['client', 'show', '--json', '--store', stage.urlOf(), '--', id]
    expect(JSON.parse((await here(words)).stdout)).toMatchObject({ client_id: id })
  })
})

describe('client rotate-secret', () => {
  const outcomes = async (id: string, secrets: readonly string[]) =>
    Promise.all(secrets.map((secret) => tokensFor(id, secret)))

  it('the new secret works beside the old one, until the rotation is finished', async () => {
    const { client_id, client_secret } = await added()
    const { stdout, stderr } = await client('rotate-secret', client_id)
    const [secret = ''] = /(?<=^client_secret {2})[\w-]{43}$/m.exec(stdout) ?? []
    expect(stderr).not.toContain(secret)
    expect(await outcomes(client_id, [client_secret, secret])).toEqual(['tokens', 'tokens'])
    expect(await answerOf('rotate-secret', client_id, '--finish')).toEqual({ client_id, client_secrets: 1 })
    expect(await outcomes(client_id, [client_secret, secret])).toEqual(['401 invalid_client', 'tokens'])
  })

  it('prints the secret although Redis did not confirm it, and can be repeated with it', async () => {
    // Redis knows the script from now on, so that the next rotation is one command.
    await answerOf('rotate-secret', (await added()).client_id)
    const { client_id, client_secret } = await added()
    let isSilent = false
    const proxy = await startRedisProxy(stage.port, () => ({
      sent: (words) => (isSilent ||= /EVALSHA/i.test(words.toString())),
      replied: (pass, connection) => (isSilent ? void connection.destroy() : pass()),
    }))
    const rotate = (environment: NodeJS.ProcessEnv, ...options: readonly string[]) =>
      here(['client', 'rotate-secret', client_id, '--json', ...options], environment)
    try {
      const { status, stdout, stderr } = await rotate({ STORE_URL: stage.urlOf(proxy.url) })
      const secret = String(JSON.parse(stdout).client_secret)
      expect(status).toBe(1)
      expect(stderr).toContain('The command does not know whether the client has this secret now.')
      expect(stderr).not.toContain(secret)
      const again = { STORE_URL: stage.urlOf(), CLIENT_SECRET: secret }
      for (let round = 0; round < 2; round++)
        expect(JSON.parse((await rotate(again, '--repeat')).stdout)).toEqual({
          client_id,
          client_secret: secret,
        })
      expect(await outcomes(client_id, [client_secret, secret])).toEqual(['tokens', 'tokens'])
      expect(await rotate({ STORE_URL: stage.urlOf() }, '--repeat')).toEqual(
        refused('changed', 'CLIENT_SECRET must be a client_secret of generateClientSecret()'),
      )
    } finally {
      await proxy.stop()
    }
  })
})

test.each([
  ['show', 'shown'],
  ...['rotate-secret', 'disable', 'enable', 'delete', 'change --name=x'].map(
    (name) => [name, 'changed'] as const,
  ),
] as const)(
  'client %s refuses a client that does not exist, and says where it looked',
  async (name, done) => {
    expect(await client(...name.split(' '), 'nobody')).toEqual(
      refused(done, `client_id names no client that is registered here.\n${whereItLooked()}`),
    )
  },
)

describe('the command line', () => {
  it('is a program: answers on stdout, remarks on stderr, the outcome as its status', async () => {
    const environment = { STORE_URL: stage.urlOf() }
    expect(await commandLine(['client', 'add', ...web], environment)).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^client_id {6}[\w-]{22}\nclient_secret {2}[\w-]{43}\n$/),
      stderr: 'The secret is shown only now: the store keeps its digest.\n',
    })
    expect(await commandLine(['client', 'lsit'])).toMatchObject({ status: 2, stdout: '' })
    const stdout = `${version}\n`
    expect(await commandLine(['--version'])).toEqual({ status: 0, stdout, stderr: '' })
  })

  it('lists each flag once, under the commands that take it', async () => {
    const { stdout } = await here(['--help'])
    expect(stdout).toMatch(/^Options of client add, client change:\n {2}--scope <value> /m)
    expect(stdout).toMatch(/^Options of every command:\n {2}--json .*\n {2}--help .*\n {2}--version /m)
    for (const flag of ['--scope', '--store', '--remove', '--allow', '--secret-hash'])
      expect(stdout.match(new RegExp(`^ {2}${flag} `, 'gm'))).toHaveLength(1)
  })

  it.each([[[]], [['--help']], [['client', '--help']], [['client', 'add', '--help', '--nonsense']]])(
    'explains itself: %j',
    async (words) => {
      const { status, stdout, stderr } = await here(words)
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      for (const name of ['add', 'list', 'show', 'change', 'rotate-secret', 'disable', 'enable', 'delete'])
        expect(stdout).toContain(`  client ${name} `)
      for (const name of ['keys retire', '--store', '--finish']) expect(stdout).toContain(`  ${name} `)
    },
  )

  it.each(
    [
      ['clients list', ['clients is not a command']],
      ['client remove x', ['client remove is not a command; the commands are client add']],
      ['client', ['client is not a command']],
      ['client show', ['client_id is missing']],
      ['client show ', ['client_id is missing']],
      ['client show a b', ['b is one word too many']],
      [
        'client add --nmae x --json=yes --type --scope --name a --name b -j',
        [
          '--nmae is not known here; the known options are --store,',
          '--json takes no value',
          '--type needs a value',
          '--name is given twice',
          '-j is not known here',
          'x is one word too many',
        ],
      ],
      ['client list --finish', ['--finish is not known here']],
      ['client list --__proto__ --constructor', ['--__proto__', '--constructor']],
      ...['type=confidential', 'client-id=x', 'secret-hash=x'].map(
        (word) => [`client change phone --${word}`, ['is not known here']] as const,
      ),
    ].map(([words, expected]) => [String(words), [expected].flat()] as const),
  )('answers wrong usage with every mistake and status 2: %j', async (words, expected) => {
    const { status, stdout, stderr } = await here(words.split(' '), { STORE_URL: stage.url })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    for (const text of expected) expect(stderr).toContain(text.startsWith('is ') ? text : `  - ${text}`)
  })

  it.each([
    ['none', [], {}],
    ['no URL', ['--store', 'localhost:geheim'], {}],
    ['another protocol', [], { STORE_URL: 'http://localhost:geheim@x' }],
  ])('asks for the URL of the store and never quotes it: %s', async (_what, words, environment) => {
    const { status, stderr } = await here(['client', 'list', ...words], environment)
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^ {2}- --store (?:must be|is no|begins with http)/m),
    ])
    expect(stderr).not.toContain('geheim')
  })

  it('says in one line that Redis does not answer, without the password in its URL, and does not wait for ever', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = Object(silent.address())
    try {
      for (const host of ['127.0.0.1:1', `127.0.0.1:${port}`])
        expect(await here(['client', 'list', '--store', `redis://u:geheim@${host}`])).toEqual({
          status: 1,
          stdout: '',
          stderr: `Redis at ${host} does not answer. Is it running, and is the URL right?\n`,
        })
    } finally {
      silent.close()
    }
  })

  it('prints only the code of a Redis error, which quotes no digest', async () => {
    await stage.redis?.set(`${stage.prefix}listed:client`, 'text')
    expect(await client('add', ...web)).toMatchObject({
      status: 1,
      stderr: `Redis at ${new URL(stage.url).host} refused: WRONGTYPE.\n`,
    })
  })
})
