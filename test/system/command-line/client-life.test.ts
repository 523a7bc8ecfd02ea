import request from 'supertest'
import { outcomeOf } from '../../support/flows/outcome'
import { getTokens, ofClient, refresh } from '../../support/flows/registered-client'
import { notesApp } from '../../support/flows/registering'
import { tokensOf } from '../../support/flows/tokens'
import { waitUntil } from '../../support/wait-until'
import { ClientStage, grant, phone, refused, uri } from './client-stage'

const stage = new ClientStage()
const { client, answerOf, added, tokensFor } = stage
const add = (...words: readonly string[]) => answerOf('add', ...phone, '--client-id', 'phone', ...words)
const found = () => stage.clients.find('phone')
const unknown = refused('changed', 'client_id names no client that is registered here.')

describe('client change', () => {
  it('replaces what its options name, and shows the registration without digests', async () => {
    await add('--name', 'Photo Book')
    const redirect_uris = ['https://a.example/', 'https://b.example/']
    const expected = { ...(await found()), redirect_uris }
    const { client_secret_hashes: _none, ...shown } = expected
    const words = redirect_uris.map((each) => `--redirect-uri=${each}`)
    expect(await answerOf('change', 'phone', ...words)).toEqual({ ...shown, client_secrets: 0 })
    expect(await found()).toEqual(expected)
    expect((await client('change', 'phone', '--name=Photo Phone')).stdout).toMatch(
      /^client_name +Photo Phone$/m,
    )
  })

  it('removes what --remove names: an option, a flag, or a member of a plug-in', async () => {
    await add('--logo-uri=https://a.example/l.png', '--member=subject_type=pairwise', '--member=note=x')
    await answerOf('change', 'phone', '--remove=logo-uri', '--remove=subject_type', '--member=more=[1]')
    const changed = await found()
    expect(changed).toMatchObject({ note: 'x', more: [1] })
    for (const name of ['logo_uri', 'subject_type']) expect(changed).not.toHaveProperty(name)
    await answerOf('change', 'phone', '--dynamic-redirect-query')
    expect(await found()).toMatchObject({ dynamic_redirect_query: true })
    await answerOf('change', 'phone', '--remove', 'dynamic-redirect-query')
    expect(await found()).toMatchObject({ dynamic_redirect_query: false })
  })

  it.each([
    ['', 'client change needs an option'],
    [
      '--redirect-uri=/x --logo-uri=http://a.example/l.png --remove=scope',
      '--redirect-uri --logo-uri --scope',
    ],
    ['--remove=client-id', '--remove cannot remove client-id, which never changes.'],
    ['--remove=type', '--remove cannot remove type, which never changes.'],
    ['--remove=nmae', 'nmae is not known here'],
    ['--remove=client_secret_hashes', '--remove must name an option'],
    ['--remove=__proto__', '--remove must name an option'],
    ['--remove=name --name=x', '--remove names name, which another option sets.'],
    ['--member=deleted=true', '--member cannot set deleted'],
    ['--member=scope=x', '--member cannot set scope'],
  ])('refuses %j with every mistake, and changes nothing', async (words, mistakes) => {
    await add()
    const before = await found()
    const { status, stdout, stderr } = await client('change', 'phone', ...words.split(' ').filter(Boolean))
    expect([status, stdout]).toEqual([1, ''])
    for (const mistake of mistakes.split(/ (?=--)/)) expect(stderr).toContain(`\n  - ${mistake}`)
    expect(await found()).toEqual(before)
  })
})

describe('client disable and enable', () => {
  it('shut the client out at once, and let it in', async () => {
    const { client_id, client_secret } = await added()
    expect(await answerOf('disable', client_id)).toEqual({ client_id, disabled: true })
    expect(await tokensFor(client_id, client_secret)).toBe('401 invalid_client')
    expect((await client('list')).stdout).toMatch(/ yes\n$/)
    expect(await answerOf('enable', client_id)).toEqual({ client_id, disabled: false })
    expect(await tokensFor(client_id, client_secret)).toBe('tokens')
  })

  it.each(['disable', 'delete'])(
    '%s with --issuer ends what the client has, for servers with the option authorizations',
    async (verb) => {
      const { client_id, client_secret: secret } = await added()
      const { flow, oauth } = stage.serving({ authorizations: true })
      await waitUntil('the server has started', () => oauth.ready())
      const registration = { client_id, client_type: 'confidential', scope: 'photos:read' } as const
      const { accessToken } = tokensOf(await flow.request({ registration, secret }, grant))
      const status = async () => (await flow.photos(accessToken)).status
      expect(await status()).toBe(200)
      const ended = await client(verb, client_id, '--issuer', 'http://localhost')
      expect([ended.status, ended.stderr]).toEqual([
        0,
        expect.stringContaining('guards on the store within a second'),
      ])
      await waitUntil('the guard refuses', async () => (await status()) === 401, 5)
      await client('enable', client_id)
      expect(await status()).toBe(401)
    },
  )

  it('say that access tokens live on without --issuer, or if no server has the issuer', async () => {
    const { client_id } = await added()
    expect((await client('disable', client_id)).stderr).toContain('work until they expire')
    const wrong = await client('disable', client_id, '--issuer', 'http://localhost/')
    expect(wrong).toMatchObject({ status: 1, stdout: expect.stringContaining(client_id) })
    expect(wrong.stderr).toContain('--issuer names http://localhost/. No server of this name')
    expect((await answerOf('show', client_id))['disabled']).toBe(true)
  })
})

describe('client delete', () => {
  it('shuts the client out at once, and keeps its identifier', async () => {
    const { client_id, client_secret } = await added()
    expect(await client('delete', client_id)).toEqual({
      status: 0,
      stdout: `client_id  ${client_id}\ndeleted    yes\n`,
      stderr: expect.stringMatching(/^Existing access tokens of the client work until they expire/),
    })
    expect(await answerOf('delete', client_id)).toEqual({ client_id, deleted: true })
    expect(await tokensFor(client_id, client_secret)).toBe('401 invalid_client')
    expect(await client('add', ...phone, `--client-id=${client_id}`)).toEqual(
      refused('registered', '--client-id is taken'),
    )
  })

  it('hides the client from list and show, and list --deleted shows it', async () => {
    expect((await client('list', '--deleted')).stdout).toBe('No client was deleted here.\n')
    await add()
    await answerOf('delete', 'phone')
    expect(await answerOf('list')).toEqual([])
    expect(await answerOf('list', '--deleted')).toMatchObject([{ client_id: 'phone', disabled: true }])
    expect(await client('show', 'phone')).toMatchObject({ status: 1, stdout: '' })
    for (const act of ['enable', 'disable', 'rotate-secret', 'change --name=x'])
      expect(await client(...act.split(' '), 'phone')).toEqual(unknown)
  })
})

describe('clients that registered themselves', () => {
  const register = async () => {
    const metadata = { client_name: 'Notes', redirect_uris: [uri], scope: 'photos:read' }
    const { app, flow } = stage.serving({ clients: [], dynamicRegistration: {} })
    const { body } = await request(app)
      .post('/register')
      .send({ ...metadata, token_endpoint_auth_method: 'none' })
    const asked = { response_type: 'code', client_id: body.client_id, redirect_uri: uri }
    return { id: String(body.client_id), ask: async () => outcomeOf(await flow.ask(asked, 'alice')) }
  }

  it('are shown, disabled and enabled by the same commands, and cannot be changed', async () => {
    const { id, ask } = await register()
    expect(await answerOf('show', id)).toMatchObject({ client_id: id, client_name: 'Notes', disabled: false })
    expect(await answerOf('disable', id)).toEqual({ client_id: id, disabled: true })
    expect(await ask()).toBe('page 400 invalid_request')
    expect(await answerOf('show', id)).toMatchObject({ disabled: true })
    await answerOf('enable', id)
    expect(await ask()).not.toContain('page')
    expect(await client('change', id, '--name=x')).toEqual(unknown)
  })

  it('are deleted, and register again without what they had, also where no issuer is named', async () => {
    const metadata = { ...notesApp, client_name: 'Notes' }
    const { app, flow } = stage.serving({ clients: [], dynamicRegistration: {} })
    const enter = () => request(app).post('/register').send(metadata)
    const notes = await enter()
    const id: string = notes.body.client_id
    const { refresh_token } = (await getTokens({ app, flow }, notes)).body
    await answerOf('delete', id)
    expect((await flow.ask(ofClient(notes), 'alice')).status).toBe(400)
    expect(await client('delete', id)).toEqual(unknown)
    expect((await enter()).body.client_id).toBe(id)
    expect(outcomeOf(await refresh({ app, flow }, notes, refresh_token))).toBe('400 invalid_grant')
  })
})
