import type { Redis } from 'ioredis'
import request from 'supertest'
import { run } from '../../../lib/command-line/run'
import { redisStore, type RedisStore } from '../../../lib/index'
import { application } from '../../support/flows/application'
import { outcomeOf } from '../../support/flows/outcome'
import { commandLine, type Finished } from '../../support/command-line'
import type { RedisServer } from '../../support/redis-server'
import { withRedis } from '../../support/with-redis'
import { uniquePrefix } from '../../support/stores/redis-under-test'

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

/** Runs a command on clients in this process. */
async function client(...words: readonly string[]): Promise<Finished> {
  const environment = { REDIS_URL: server.url }
  const { status, output, remarks } = await run(['client', ...words, '--prefix', prefix], environment)
  return { status, stdout: output, stderr: remarks }
}

async function answerOf(...words: readonly string[]): Promise<unknown> {
  const { status, stdout, stderr } = await client(...words, '--json')
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

const phone = ['--client-id', 'phone', '--type', 'public', '--scope', 'photos:read']
const uri = 'https://book.example/callback'
const add = (...words: readonly string[]) => answerOf('add', ...phone, '--redirect-uri', uri, ...words)
const refused = (lines: string) => ({
  status: 1,
  stdout: '',
  stderr: expect.stringContaining(`The client cannot be changed:\n  - ${lines}`),
})

describe('client change', () => {
  it('replaces what its options name, and shows the registration without digests', async () => {
    await add('--name', 'Photo Book')
    const before = await store.clients.find('phone')
    const words = ['--redirect-uri', 'https://a.example/', '--redirect-uri', 'https://b.example/']
    const expected = { ...before, redirect_uris: ['https://a.example/', 'https://b.example/'] }
    const { client_secret_hashes: _none, ...shown } = expected
    expect(await answerOf('change', 'phone', ...words)).toEqual({ ...shown, client_secrets: 0 })
    expect(await store.clients.find('phone')).toEqual(expected)
  })

  it('removes what --remove names: an option, a flag, or a member of a plug-in', async () => {
    await add(
      '--logo-uri',
      'https://a.example/l.png',
      '--member',
      'subject_type=pairwise',
      '--member',
      'note=x',
    )
    await answerOf(
      'change',
      'phone',
      '--remove',
      'logo-uri',
      '--remove',
      'subject_type',
      '--member',
      'more=[1]',
    )
    const found = await store.clients.find('phone')
    expect(found).toMatchObject({ note: 'x', more: [1] })
    for (const name of ['logo_uri', 'subject_type']) expect(found).not.toHaveProperty(name)
    await answerOf('change', 'phone', '--dynamic-redirect-query')
    expect(await store.clients.find('phone')).toMatchObject({ dynamic_redirect_query: true })
    await answerOf('change', 'phone', '--remove', 'dynamic-redirect-query')
    expect(await store.clients.find('phone')).toMatchObject({ dynamic_redirect_query: false })
  })

  it('lists every mistake under the name of its option, and changes nothing', async () => {
    await add()
    const before = await store.clients.find('phone')
    const { status, stdout, stderr } = await client(
      'change',
      'phone',
      '--redirect-uri=/x',
      '--logo-uri=http://a.example/l.png',
      '--remove=scope',
    )
    expect([status, stdout]).toEqual([1, ''])
    for (const name of ['redirect-uri', 'logo-uri', 'scope']) expect(stderr).toContain(`\n  - --${name} `)
    expect(await store.clients.find('phone')).toEqual(before)
  })

  it.each([
    [[], 'client change needs an option'],
    [['--remove', 'client-id'], '--remove cannot remove client-id, which never changes.'],
    [['--remove', 'type'], '--remove cannot remove type, which never changes.'],
    [['--remove', 'nmae'], 'nmae is not known here'],
    [['--remove', 'client_secret_hashes'], '--remove must name an option'],
    [['--remove', '__proto__'], '--remove must name an option'],
    [['--remove', 'name', '--name', 'x'], '--remove names client_name, which another option sets.'],
    [['--member', 'deleted=true'], '--member cannot set deleted'],
    [['--member', 'scope=x'], '--member cannot set scope'],
  ])('refuses %j', async (words, lines) => {
    await add()
    expect(await client('change', 'phone', ...words)).toEqual(refused(lines))
  })

  it.each(['--type=confidential', '--client-id=x', '--secret-hash=x'])('has no option %s', async (word) => {
    expect(await client('change', 'phone', word)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('is not known here'),
    })
  })
})

describe('client delete', () => {
  it('shuts the client out at once, and keeps its identifier', async () => {
    const { client_id, client_secret: secret = '' }: Record<string, string> = Object(
      await answerOf('add', '--type=confidential', '--scope=photos:read', '--grant-type=client_credentials'),
    )
    if (client_id === undefined) throw new Error('There is no client.')
    const { flow } = application({ store, clients: store.clients, storeDeadline: 10 })
    const service = {
      registration: { client_id, client_type: 'confidential', scope: 'photos:read' },
      secret,
    } as const
    const token = async () =>
      outcomeOf(await flow.request(service, { grant_type: 'client_credentials', scope: 'photos:read' }))
    expect(await token()).toBe('tokens')
    expect(await answerOf('delete', client_id)).toEqual({ client_id, deleted: true })
    expect(await answerOf('delete', client_id)).toEqual({ client_id, deleted: true })
    expect(await token()).toBe('401 invalid_client')
    const again = ['add', `--client-id=${client_id}`, ...phone.slice(2), '--redirect-uri', uri]
    expect(await client(...again)).toMatchObject({ status: 1, stderr: expect.stringContaining('is taken') })
  })

  it('hides the client from list and show, and list --deleted shows it', async () => {
    await add()
    await answerOf('delete', 'phone')
    expect(await answerOf('list')).toEqual([])
    expect(await answerOf('list', '--deleted')).toMatchObject([{ client_id: 'phone', disabled: true }])
    expect(await client('show', 'phone')).toMatchObject({ status: 1, stdout: '' })
    for (const act of ['enable', 'disable', 'rotate-secret'])
      expect(await client(act, 'phone')).toEqual(
        refused('client_id names no client that is registered here.'),
      )
    expect(await client('change', 'phone', '--name=x')).toEqual(refused('client_id names no client'))
  })

  it('says that none was deleted', async () => {
    expect(await client('list', '--deleted')).toMatchObject({
      status: 0,
      stdout: 'No client was deleted here.',
    })
  })
})

describe('clients that registered themselves', () => {
  const metadata = {
    client_name: 'Notes',
    redirect_uris: [uri],
    token_endpoint_auth_method: 'none',
    scope: 'photos:read',
  }
  const register = async () => {
    const staged = application({ store, clients: [], dynamicRegistration: {}, storeDeadline: 10 })
    const { body } = await request(staged.app).post('/register').send(metadata)
    const ask = async () =>
      outcomeOf(
        await staged.flow.ask(
          { response_type: 'code', client_id: body.client_id, redirect_uri: uri },
          'alice',
        ),
      )
    return { ...staged, id: String(body.client_id), ask }
  }

  it('are shown, disabled and enabled by the same commands', async () => {
    const { id, ask } = await register()
    expect(await answerOf('show', id)).toMatchObject({ client_id: id, client_name: 'Notes', disabled: false })
    expect(await answerOf('disable', id)).toEqual({ client_id: id, disabled: true })
    expect(await ask()).toBe('page 400 invalid_request')
    expect(await answerOf('show', id)).toMatchObject({ disabled: true })
    await answerOf('enable', id)
    expect(await ask()).not.toContain('page')
  })

  it('are deleted, and register again under another identifier', async () => {
    const { id, ask } = await register()
    await answerOf('delete', id)
    expect(await ask()).toBe('page 400 invalid_request')
    expect(await client('delete', id)).toEqual(refused('client_id names no client that is registered here.'))
    expect((await register()).id).not.toBe(id)
  })

  it('cannot be changed', async () => {
    const { id } = await register()
    expect(await client('change', id, '--name=x')).toEqual(refused('client_id names no client'))
  })
})

describe('the program', () => {
  it('changes, deletes and lists with the day of the last use', async () => {
    const words = (...given: readonly string[]) => ['client', ...given, '--prefix', prefix]
    const environment = { REDIS_URL: server.url }
    await add()
    await store.clients.noteUse?.('phone', Date.UTC(2026, 1, 3) / 1000)
    expect(await answerOf('show', 'phone')).toMatchObject({ last_used: '2026-02-03' })
    const changed = await commandLine(words('change', 'phone', '--name', 'Photo Phone'), environment)
    expect(changed).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^client_name +Photo Phone$/m),
      stderr: '',
    })
    const listed = await commandLine(words('list'), environment)
    expect(listed.stdout).toMatch(/ 0 +2026-02-03 +no\n$/)
    expect(await commandLine(words('delete', 'phone'), environment)).toEqual({
      status: 0,
      stdout: 'client_id  phone\ndeleted    yes\n',
      stderr: expect.stringMatching(/^Existing access tokens of the client work until they expire/),
    })
  })
})
