/**
 * The modules of the plan "RP-Initiated OP" of the OpenID Foundation's conformance suite
 * (oidcc-rp-initiated-logout-certification-test-plan). After each logout, the person is no longer logged in.
 */
import { generateKeyPair, SignJWT } from 'jose'
import { bent } from '../support/flows/clients'
import { type Fields, formOf } from '../support/flows/flow'
import { claimsIn, identityStage, relyingParty } from '../support/flows/identity-stage'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf } from '../support/flows/redirection'
import { identityOf, loginRequest } from '../support/flows/relying-party'
import { setStage } from '../support/flows/stage'

const after = 'https://print.example/post_logout_redirect'
const leaving = bent(relyingParty, { post_logout_redirect_uris: [after] })

/** A host with one session, and an end session request of a client that the person has logged in with. */
async function open() {
  let owner: string | undefined = 'alice'
  const set = identityStage(setStage)({
    clients: [leaving.registration],
    resourceOwner: () => owner,
    logOut: () => {
      owner = undefined
    },
    skipConsent: () => true,
  })
  const code = codeOf(await set.flow.ask(loginRequest))
  const { idToken } = identityOf(await set.flow.redeem(leaving, code))
  const whole: Fields = { id_token_hint: idToken, post_logout_redirect_uri: after, state: 'xyz' }
  const ask = (fields: Fields) => set.flow.open(`/logout?${formOf(fields)}`)
  const agree = async (fields: Fields) => {
    const page = await ask(fields)
    const [, logout_request] = /name="logout_request" value="([^"]+)"/.exec(page.text) ?? []
    return set.flow.submit('/logout', { logout_request, decision: 'log_out' })
  }
  const silently = async () => outcomeOf(await set.flow.ask({ ...loginRequest, prompt: 'none' }))
  return { ...set, idToken, whole, ask, agree, silently }
}

const loggedIn = 'redirect code'
const loggedOut = 'redirect login_required'

test('[RPL-1] oidcc-rp-initiated-logout-discovery-endpoint-verification', async () => {
  const { flow } = await open()
  const { body } = await flow.open('/.well-known/openid-configuration')
  expect(body.end_session_endpoint).toBe('http://localhost/logout')
})

test('[RPL-7, RPL-8, RPL-9] oidcc-rp-initiated-logout: the person goes to the URI with the state, logged out', async () => {
  const { agree, whole, silently } = await open()
  expect(await silently()).toBe(loggedIn)
  const done = await agree(whole)
  expect([done.status, done.get('Location')]).toEqual([303, `${after}?state=xyz`])
  expect(await silently()).toBe(loggedOut)
})

test('[RPL-8] oidcc-rp-initiated-logout-no-state: the person goes to the URI without a state', async () => {
  const { agree, whole, silently } = await open()
  expect((await agree({ ...whole, state: undefined })).get('Location')).toBe(after)
  expect(await silently()).toBe(loggedOut)
})

test.each<[string, string, (whole: Fields) => Fields | Promise<Fields>]>([
  [
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri',
    'a URI that is not registered',
    (whole) => ({ ...whole, post_logout_redirect_uri: `${after}/bad` }),
  ],
  [
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
    'a query that is not registered',
    (whole) => ({ ...whole, post_logout_redirect_uri: `${after}?foo=bar` }),
  ],
  [
    'oidcc-rp-initiated-logout-modified-id-token-hint',
    'a hint with alg none',
    ({ id_token_hint = '', ...whole }) => ({
      ...whole,
      id_token_hint: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${id_token_hint.split('.')[1]}.`,
    }),
  ],
  [
    'oidcc-rp-initiated-logout-bad-id-token-hint',
    'a hint that another party has signed',
    async ({ id_token_hint = '', ...whole }) => ({
      ...whole,
      id_token_hint: await new SignJWT(claimsIn(id_token_hint))
        .setProtectedHeader({ alg: 'ES256' })
        .sign((await generateKeyPair('ES256')).privateKey),
    }),
  ],
  [
    'oidcc-rp-initiated-logout-no-id-token-hint',
    'a URI, and no client',
    (whole) => ({ ...whole, id_token_hint: undefined }),
  ],
])(
  '[RPL-3, RPL-9, RPL-10, RPL-11] %s: %s is an error page, and nothing happens',
  async (_module, _what, bend) => {
    const { ask, whole, silently } = await open()
    expect(outcomeOf(await ask(await bend(whole)))).toBe('page 400 invalid_request')
    expect(await silently()).toBe(loggedIn)
  },
)

test.each<[string, readonly string[]]>([
  ['oidcc-rp-initiated-logout-no-params', []],
  ['oidcc-rp-initiated-logout-no-post-logout-redirect-uri', ['id_token_hint', 'state']],
  ['oidcc-rp-initiated-logout-only-state', ['state']],
])('[RPL-6, RPL-7] %s: a page says that the person is logged out', async (_module, names) => {
  const { agree, whole, silently } = await open()
  const done = await agree(Object.fromEntries(Object.entries(whole).filter(([name]) => names.includes(name))))
  expect([done.status, done.get('Location')]).toEqual([200, undefined])
  expect(done.text).toContain('You are signed out')
  expect(await silently()).toBe(loggedOut)
})
