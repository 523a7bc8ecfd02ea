import { generateKeyPair, SignJWT } from 'jose'
import { bent } from '../support/flows/clients'
import { type Fields, formOf } from '../support/flows/flow'
import { claimsIn, identityStage, relyingParty, withIdentity } from '../support/flows/identity-stage'
import { application } from '../support/flows/application'
import { outcomeOf } from '../support/flows/outcome'
import { identityOf } from '../support/flows/relying-party'
import { setStage } from '../support/flows/stage'

const after = 'https://print.example/bye?from=photos'
const leaving = bent(relyingParty, { post_logout_redirect_uris: [after, 'https://print.example/other'] })
const another = bent(relyingParty, { client_id: 'other', post_logout_redirect_uris: [after] })

/** A host that ends its session, and a person who is asked. */
function open() {
  const ended: string[] = []
  const set = identityStage(setStage)({
    clients: [leaving.registration, another.registration],
    logOut: (req) => void ended.push(req.get('X-Owner') ?? ''),
  })
  const { flow } = set
  const ask = (fields: Fields, owner?: string) => flow.open(`/logout?${formOf(fields)}`, owner)
  const press = (decision: string, page: { readonly text: string }, owner?: string) => {
    const [, logout_request] = /name="logout_request" value="([^"]+)"/.exec(page.text) ?? []
    return flow.submit('/logout', { logout_request, decision }, owner)
  }
  const idToken = async (owner = 'alice') =>
    identityOf(await flow.redeem(leaving, await flow.approve(leaving, { scope: 'openid' }, owner))).idToken
  return { ...set, ended, ask, press, idToken }
}

const refused = 'page 400 invalid_request'
const uri = { post_logout_redirect_uri: after }

test('[RPL-1] the metadata names the endpoint if the host can end a session, and only then', async () => {
  const documentOf = async (bend = {}) =>
    (await application(withIdentity(bend)).flow.open('/.well-known/openid-configuration')).body
  expect(await documentOf({ logOut: () => {} })).toMatchObject({
    end_session_endpoint: 'http://localhost/logout',
  })
  expect(await documentOf()).not.toHaveProperty('end_session_endpoint')
})

test.each([{}, { 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://print.example' }])(
  '[RPL-2] the endpoint takes the same request by GET and by POST, sent with %j',
  async (headers) => {
    const set = open()
    const fields = { id_token_hint: await set.idToken(), ...uri, state: 'xyz' }
    const sent = await set.flow.submit('/logout', fields, 'alice', headers)
    const posted = sent.status === 303 ? await set.flow.open(String(sent.get('Location')), 'alice') : sent
    for (const page of [posted, await set.ask(fields, 'alice')]) {
      expect(page.text).toContain('Sign out?')
      expect((await set.press('log_out', page, 'alice')).get('Location')).toBe(`${after}&state=xyz`)
    }
  },
)

test('[RPL-3] an id_token_hint counts if this server has issued it, and refuses the request if not', async () => {
  const set = open()
  const good = await set.idToken()
  const { privateKey } = await generateKeyPair('ES256')
  const sign = (typ: string) =>
    new SignJWT(claimsIn(good)).setProtectedHeader({ alg: 'ES256', typ }).sign(privateKey)
  const [, claims = '', signature = ''] = good.split('.')
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  for (const id_token_hint of [
    await sign('JWT'),
    `${none}.${claims}.`,
    `${none}.${claims}.${signature}`,
    'x',
  ])
    for (const owner of ['alice', undefined])
      expect(outcomeOf(await set.ask({ id_token_hint, ...uri }, owner))).toBe(refused)
  expect((await set.ask({ id_token_hint: good, ...uri }, 'alice')).status).toBe(200)
  expect(set.ended).toEqual([])
})

test('[RPL-4] an id_token_hint that has expired counts', async () => {
  const set = open()
  const id_token_hint = await set.idToken()
  set.clock.advance(29 * 24 * 3600)
  const page = await set.ask({ id_token_hint, ...uri }, 'alice')
  expect((await set.press('log_out', page, 'alice')).get('Location')).toBe(after)
})

test('[RPL-5] a client_id beside the hint must be that of the hint', async () => {
  const set = open()
  const id_token_hint = await set.idToken()
  const { client_id } = leaving.registration
  expect((await set.ask({ id_token_hint, client_id, ...uri }, 'alice')).status).toBe(200)
  for (const fields of [uri, {}])
    expect(outcomeOf(await set.ask({ id_token_hint, client_id: 'other', ...fields }, 'alice'))).toBe(refused)
})

test.each([
  ['a hint of the person', 'alice'],
  ['a hint of another person', 'bob'],
  ['no hint', undefined],
])('[RPL-6] the endpoint asks before it ends the session, with %s', async (_what, hinted) => {
  const set = open()
  const hint =
    hinted === undefined ? { client_id: 'relying-party' } : { id_token_hint: await set.idToken(hinted) }
  const page = await set.ask({ ...hint, ...uri }, 'alice')
  expect([page.status, page.get('Location')]).toEqual([200, undefined])
  expect(page.text).toContain('<bdi>alice</bdi>')
  expect(set.ended).toEqual([])
  expect((await set.press('stay', page, 'alice')).text).toContain('still signed in')
  expect(set.ended).toEqual([])
})

test('[RPL-7] the session of a person who says yes ends', async () => {
  const set = open()
  await set.press('log_out', await set.ask({ id_token_hint: await set.idToken() }, 'alice'), 'alice')
  expect(set.ended).toEqual(['alice'])
})

test.each(['xyz', 'a b+c&d="<\u00fc>'])('[RPL-8] the state comes back as it is: %s', async (state) => {
  const set = open()
  const page = await set.ask({ client_id: 'relying-party', ...uri, state }, 'alice')
  const location = new URL(String((await set.press('log_out', page, 'alice')).get('Location')))
  expect([...location.searchParams]).toEqual([
    ['from', 'photos'],
    ['state', state],
  ])
})

test('[RPL-8] a request without a state gets none', async () => {
  const set = open()
  const page = await set.ask({ client_id: 'relying-party', ...uri }, 'alice')
  expect((await set.press('log_out', page, 'alice')).get('Location')).toBe(after)
})

test.each([
  `${after}&foo=bar`,
  `${after}#a`,
  'https://print.example/bye',
  'https://PRINT.example/bye?from=photos',
  'https://print.example/callback',
  'https://evil.example/',
  'javascript:alert(1)',
])('[RPL-9] no person goes to %s, which is not registered exactly', async (post_logout_redirect_uri) => {
  const set = open()
  const hint = { id_token_hint: await set.idToken() }
  for (const named of [hint, { client_id: 'relying-party' }])
    for (const owner of ['alice', undefined])
      expect(outcomeOf(await set.ask({ ...named, post_logout_redirect_uri }, owner))).toBe(refused)
})

test('[RPL-10] without a hint, client_id must name the client of the URI', async () => {
  const set = open()
  for (const owner of ['alice', undefined]) {
    expect(outcomeOf(await set.ask(uri, owner))).toBe(refused)
    expect(outcomeOf(await set.ask({ ...uri, client_id: 'unheard-of' }, owner))).toBe(refused)
  }
  const page = await set.ask({ ...uri, client_id: 'relying-party' }, 'alice')
  expect((await set.press('log_out', page, 'alice')).get('Location')).toBe(after)
})

test('[RPL-11] a request that fails ends no session, and its page has no button', async () => {
  const set = open()
  const page = await set.ask({ id_token_hint: 'x', ...uri }, 'alice')
  expect(outcomeOf(page)).toBe(refused)
  expect(page.text).not.toContain('logout_request')
  const ofBob = await set.ask({}, 'bob')
  expect(outcomeOf(await set.press('log_out', ofBob, 'alice'))).toBe(refused)
  expect(set.ended).toEqual([])
})

test.each(['https://print.example/bye', 'http://127.0.0.1:9/bye', 'http://localhost/bye'])(
  '[RPL-12] a client may register %s as a place after the logout',
  (post) => {
    const client = bent(relyingParty, { post_logout_redirect_uris: [post] })
    expect(() => application(withIdentity({ clients: [client.registration] }))).not.toThrow()
  },
)

test.each(['http://print.example/bye', 'https://print.example/#bye', '/bye', 'javascript:alert(1)'])(
  '[RPL-12] no client registers %s as a place after the logout',
  (post) => {
    const client = bent(relyingParty, { post_logout_redirect_uris: [post] })
    expect(() => application(withIdentity({ clients: [client.registration] }))).toThrow(
      /post_logout_redirect_uris\[0\]/,
    )
  },
)

test.each([{ logout_hint: 'alice@example.com' }, { ui_locales: 'fr en' }, { extra: 'foobar' }])(
  '[RPL-13] %j causes no error',
  async (bend) => {
    const set = open()
    const page = await set.ask({ client_id: 'relying-party', ...uri, ...bend }, 'alice')
    expect((await set.press('log_out', page, 'alice')).get('Location')).toBe(after)
  },
)
