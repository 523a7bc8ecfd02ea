import request from 'supertest'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { backChannelStage, formIn, withReceivers } from '../support/flows/back-channel-stage'
import { Gate } from '../support/flows/gate'
import {
  claimsIn,
  identityKeys,
  relyingParty,
  identityStage,
  withIdentity,
} from '../support/flows/identity-stage'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { authority, httpsOrigin } from '../support/https-origin'
import { waitUntil } from '../support/wait-until'
import { application } from '../support/flows/application'
import { bent } from '../support/flows/clients'
import { formOf } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'

describeOnStores('A logout by the back channel', (stage) => {
  const receiver = withReceivers()
  const open = backChannelStage(stage)

  test('tells a client whose tokens have ended long ago, as long as it may keep the ID token', async () => {
    const news = await receiver()
    const set = open({ news: news.uri })
    await set.logIn('news')
    set.clock.advance(25 * 24 * 3600)
    await set.plugin.announceLogout('alice')
    expect(news.tokens).toHaveLength(1)
  })

  test('tells no client that never asked for openid, one that registered itself included', async () => {
    const [news, notes] = [await receiver(), await receiver()]
    const set = open({ news: news.uri, notes: notes.uri }, {}, { dynamicRegistration: {} })
    await set.logIn('news')
    await set.logIn('notes', 'alice', 'photos:read')
    for (const [receiving, scope] of [
      [news, 'openid'],
      [notes, 'photos:read'],
    ] as const) {
      const metadata = {
        redirect_uris: ['https://own.example/callback'],
        backchannel_logout_uri: receiving.uri,
        scope: 'openid photos:read',
      }
      const { body } = await request(set.app).post('/register').send(metadata)
      const client = {
        registration: { ...relyingParty.registration, ...metadata, client_id: body.client_id },
      }
      await set.flow.tokens({ ...client, secret: body.client_secret }, { scope })
    }
    await set.plugin.announceLogout('alice')
    expect([news.tokens.length, notes.tokens.length, set.failures.length]).toEqual([2, 0, 0])
  })

  test.each<[string, (set: ReturnType<typeof open>, authorizationId: string) => Promise<unknown>]>([
    ['revoke', ({ oauth }) => oauth.authorizations.revoke('alice', 'news')],
    ['revokeAll', ({ oauth }) => oauth.authorizations.revokeAll('alice')],
    ['the revocation of the authorization', ({ oauth }, id) => oauth.revoke(id)],
  ])('tells no client whose access has ended by %s', async (_how, end) => {
    const news = await receiver()
    const set = open({ news: news.uri }, {}, { authorizations: true })
    await set.logIn('news')
    const [listed] = (await set.oauth.authorizations.list('alice')).authorizations
    await end(set, listed?.authorizationId ?? '')
    await set.plugin.announceLogout('alice')
    expect(news.tokens).toEqual([])
  })

  test('reaches a client inside the network by the option insideNetwork, if the operator registered it', async () => {
    const told: string[] = []
    const host = await httpsOrigin(authority.issue(['news.internal']), (posted, response) => {
      told.push(String(posted.url))
      response.end()
    })
    const lookup = async () => [{ address: '127.0.0.1' }]
    const uri = `https://news.internal:${host.port}/logout`
    const secure = { 'X-Forwarded-Proto': 'https' }
    const outcomeWith = async (insideNetwork: boolean, registersItself = false) => {
      const set = open(
        { news: uri },
        { backChannelLogout: { ca: authority.ca, lookup, insideNetwork } },
        { issuer: 'https://as.example', dynamicRegistration: {} },
      )
      set.app.set('trust proxy', 'loopback')
      const metadata = {
        redirect_uris: ['https://own.example/'],
        scope: 'openid',
        backchannel_logout_uri: uri,
      }
      const { body } = await request(set.app).post('/register').set(secure).send(metadata)
      const own = { registration: { ...relyingParty.registration, ...metadata, client_id: body.client_id } }
      const client = registersItself
        ? { ...own, secret: String(body.client_secret) }
        : bent(relyingParty, { client_id: 'news' })
      await set.flow.behind(secure).tokens(client, { scope: 'openid' })
      await set.plugin.announceLogout('alice')
      return [told.splice(0), set.failures.map(({ reason }) => reason)]
    }
    expect(await outcomeWith(false)).toEqual([[], ['logout_not_delivered']])
    expect(await outcomeWith(true, true)).toEqual([[], ['logout_not_delivered']])
    expect(await outcomeWith(true)).toEqual([['/logout'], []])
    await host.close()
  })

  test('signs a token when its turn comes, so that none arrives expired', async () => {
    const gate = new Gate()
    const slow = await receiver(async (nth) => {
      if (nth < 4) await gate.pass()
      return 200
    })
    const clientIds = ['a', 'b', 'c', 'd', 'e']
    const set = open(Object.fromEntries(clientIds.map((id) => [id, slow.uri])))
    for (const clientId of clientIds) await set.logIn(clientId)
    const told = set.plugin.announceLogout('alice')
    await waitUntil('four wait for the host', async () => gate.waiting === 4)
    set.clock.advance(130)
    gate.open()
    await told
    const now = Math.floor(set.clock.read() / 1000)
    expect(claimsIn(slow.tokens[4] ?? '')).toMatchObject({ iat: now, exp: now + 120 })
  })

  test('tells nobody if the owner stays, or if the form comes again after the session has ended', async () => {
    const news = await receiver()
    const set = open({ news: news.uri })
    await set.logIn('news')
    await set.logOut('alice', 'stay')
    const { action, logout_request } = await set.logoutPage()
    await set.flow.submit(action, { logout_request, decision: 'log_out' })
    await set.logOut()
    await news.received(1)
    expect(news.tokens).toHaveLength(1)
  })

  test('does not let the owner wait for a client that never answers', async () => {
    const slow = await receiver(() => undefined)
    const set = open({ slow: slow.uri })
    await set.logIn('slow')
    expect((await set.logOut()).text).toContain('You are signed out')
    await slow.received(1)
  })

  test('reports a client that refuses the token, with its name and the owner, and without the token', async () => {
    const strict = await receiver(() => 400)
    const set = open({ strict: strict.uri })
    await set.logIn('strict')
    await set.plugin.announceLogout('alice')
    expect(strict.tokens).toHaveLength(1)
    expect(set.failures).toEqual([
      expect.objectContaining({
        endpoint: 'back_channel_logout',
        reason: 'logout_not_delivered',
        code: 'temporarily_unavailable',
        clientId: 'strict',
        subject: 'alice',
        cause: expect.objectContaining({ message: 'The client answered the logout token with 400.' }),
      }),
    ])
    expect(JSON.stringify(set.failures)).not.toContain(String(strict.tokens[0]).slice(0, 20))
  })

  // Each of these is refused at once. What may pass by itself is tried again after five seconds.
  test.each([
    ['https', 'client.example', '10.0.0.1'],
    ['https', 'client.example', '169.254.169.254'],
    ['https', 'client.example', 'fd00::1'],
    ['http', 'localhost', '203.0.113.7'],
    ['http', 'localhost', '8.8.8.8'],
  ])('sends nothing over %s to %s if its name has the address %s', async (scheme, name, address) => {
    const backChannelLogout = { lookup: async () => [{ address }] }
    const set = open({ news: `${scheme}://${name}:1/` }, { backChannelLogout })
    await set.logIn('news')
    await set.plugin.announceLogout('alice')
    const cause = expect.objectContaining({ message: 'The document is not available.' })
    expect(set.failures).toEqual([expect.objectContaining({ clientId: 'news', cause })])
  })

  test('follows no redirect', async () => {
    const [elsewhere, moved] = [await receiver(), await receiver(() => 307)]
    moved.responseHeaders = { Location: elsewhere.uri }
    const set = open({ moved: moved.uri })
    await set.logIn('moved')
    await set.plugin.announceLogout('alice')
    expect([moved.tokens.length, elsewhere.tokens.length, set.failures.length]).toEqual([1, 0, 1])
  })

  test('a host that never answers gets four at once, and keeps no other host waiting', async () => {
    const [silent, news] = [await receiver(() => undefined), await receiver()]
    const uris = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`silent-${at}`, silent.uri]))
    const set = open({ ...uris, news: news.uri })
    for (const clientId of [...Object.keys(uris), 'news']) await set.logIn(clientId)
    void set.plugin.announceLogout('alice')
    await Promise.all([news.received(1), silent.received(4)])
    expect(silent.tokens).toHaveLength(4)
  })

  test('an index that fails is reported, and the logout succeeds', async () => {
    const news = await receiver()
    const set = open({ news: news.uri })
    await set.logIn('news')
    set.store.begin('fails', 'owner')
    expect((await set.logOut()).text).toContain('You are signed out')
    await waitUntil('the failure is reported', async () => set.failures.length > 0)
    expect(set.failures).toEqual([expect.objectContaining({ clientId: undefined, subject: 'alice' })])
    expect(news.tokens).toEqual([])
  })
})

test('announceLogout needs the option, and a server', async () => {
  const keys = identityKeys()
  await expect(openIdConnect({ keys }).announceLogout('alice')).rejects.toThrow(
    /needs the option backChannelLogout/,
  )
  await expect(openIdConnect({ keys, backChannelLogout: true }).announceLogout('alice')).rejects.toThrow(
    /a server/,
  )
})

test.each([1, 'yes', { ca: 1 }, { lookup: {} }, { proxy: 'x' }])(
  'backChannelLogout %j is a mistake',
  (wrong) => {
    const options = { keys: identityKeys(), backChannelLogout: wrong }
    expect(() => Reflect.apply(openIdConnect, undefined, [options])).toThrow(
      /backChannelLogout(\.ca|\.lookup|\.proxy)? (must be|is not known)/,
    )
  },
)

const after = 'https://print.example/bye?from=photos'
const leaving = bent(relyingParty, { post_logout_redirect_uris: [after] })

describeOnStores('The logout endpoint', (stage) => {
  function open() {
    const ended: string[] = []
    const set = identityStage(stage)({
      clients: [leaving.registration],
      logOut: (req) => void ended.push(req.get('X-Owner') ?? ''),
    })
    const ask = (fields: Record<string, string | undefined>, owner?: string) =>
      set.flow.open(`/logout?${formOf(fields)}`, owner)
    const press = async (decision: string, page: { text: string }, owner?: string) => {
      const { action, logout_request } = formIn(page.text)
      return set.flow.submit(action, { logout_request, decision }, owner)
    }
    return { ...set, ended, ask, press }
  }

  async function idTokenOf({ flow }: Pick<Stage, 'flow'>): Promise<string> {
    const code = await flow.approve(leaving, { scope: 'openid' })
    return (await flow.redeem(leaving, code)).body.id_token
  }

  test('speaks the language of ui_locales, after the answer too', async () => {
    const set = open()
    const page = await set.ask({ ui_locales: 'de' }, 'alice')
    expect(page.text).toContain('<h1>Abmelden?</h1>')
    const { action, logout_request } = formIn(page.text)
    const answer = { logout_request, decision: 'log_out', ui_locales: 'de' }
    expect(page.text).toContain('name="ui_locales" value="de"')
    const done = await set.flow.submit(action, answer, 'alice')
    expect(done.text).toContain('Sie sind abgemeldet')
  })

  test('sends a person on at once who is not logged in', async () => {
    const { ask, ended } = open()
    const response = await ask({ client_id: 'relying-party', post_logout_redirect_uri: after })
    expect([response.status, response.get('Location')]).toEqual([303, after])
    expect(ended).toEqual([])
  })

  test('names what is missing where a URI comes without a client', async () => {
    const { ask } = open()
    const { status, text } = await ask({ post_logout_redirect_uri: after, state: 'xyz' }, 'alice')
    expect(status).toBe(400)
    expect(text).toContain('The parameter client_id is missing: post_logout_redirect_uri needs it')
    expect(text).not.toContain('not registered')
  })

  test('no other site can press the button: the form has a text that only the page of this owner has', async () => {
    const set = open()
    const page = await set.ask({}, 'mallory')
    const id_token = await idTokenOf(set)
    expect(outcomeOf(await set.press('log_out', page, 'alice'))).toBe('page 400 invalid_request')
    for (const logout_request of ['x', id_token])
      expect(
        outcomeOf(await set.flow.submit('/logout', { logout_request, decision: 'log_out' }, 'alice')),
      ).toBe('page 400 invalid_request')
    const own = await set.ask({}, 'alice')
    set.clock.advance(600)
    expect(outcomeOf(await set.press('log_out', own, 'alice'))).toBe('page 400 invalid_request')
    expect(set.ended).toEqual([])
  })

  test('leads only by a link to a client that registered itself', async () => {
    const own = 'https://app.example/bye'
    const { flow, app } = application(withIdentity({ dynamicRegistration: {}, logOut: () => {} }))
    const { body } = await request(app)
      .post('/register')
      .send({
        redirect_uris: ['https://app.example/callback'],
        token_endpoint_auth_method: 'none',
        post_logout_redirect_uris: [own, 'http://app.example/bye', 'bye', own],
      })
    expect(body.post_logout_redirect_uris).toEqual([own])
    const fields = { client_id: body.client_id, post_logout_redirect_uri: own }
    const page = await flow.open(`/logout?${formOf(fields)}`)
    expect([page.status, page.get('Location')]).toEqual([200, undefined])
    expect(page.text).toContain(`href="${own}"`)
  })

  test('that cannot end the session of the host is a failure of the host', async () => {
    const { flow } = application(
      withIdentity({
        logOut: () => {
          throw new Error('The session store is away.')
        },
      }),
    )
    const page = await flow.open('/logout', 'alice')
    const { action, logout_request } = formIn(page.text)
    expect((await flow.submit(action, { logout_request, decision: 'log_out' }, 'alice')).status).toBe(500)
  })
})
