import { createHash } from 'node:crypto'
import helmet from 'helmet'
import type { Response } from 'supertest'
import { implicit } from '../../lib/index'
import { formPost } from '../../lib/paths/pushed-requests'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { errorPageOf } from '../support/flows/error-page'
import { mountAll } from '../support/flows/application'
import { outcomeOf } from '../support/flows/outcome'
import { postedFormOf } from '../support/flows/posted-form'
import { fragmentOf, redirectionOf } from '../support/flows/redirection'
import { inMemory, notesApp, registeringOn } from '../support/flows/registering'
import { setStage } from '../support/flows/stage'
import { withPlugins } from '../support/with-plug-ins'

const issuer = 'http://localhost'
const asked = { ...authorizationRequest(photoPrint), response_mode: 'form_post' }

const formPostStage = (
  options: Parameters<typeof setStage>[0] = {},
  hosting?: Parameters<typeof setStage>[1],
) => setStage({ ...options, plugins: withPlugins([formPost()], options.plugins) }, hosting)

type Stage = ReturnType<typeof formPostStage>

/** The page that follows when Alice presses the button. */
async function decided({ flow }: Stage, bend: object = {}, decision = 'approve'): Promise<Response> {
  return flow.decide(await flow.ask({ ...asked, ...bend }, 'alice'), decision, 'alice')
}

const policyOf = (page: Response): ReadonlyMap<string, string> =>
  new Map(
    String(page.get('Content-Security-Policy'))
      .split('; ')
      .map((directive) => [directive.split(' ')[0] ?? '', directive.slice(directive.indexOf(' ') + 1)]),
  )

describe('The response mode form_post', () => {
  test('[FPM-1] posts the code to the redirection URI in a form, with state unchanged and iss', async () => {
    const stage = formPostStage()
    const page = await decided(stage)
    expect([page.status, page.type, page.charset]).toEqual([200, 'text/html', 'utf-8'])
    const { action, fields } = postedFormOf(page)
    expect(action).toBe('https://print.example/callback')
    expect(fields).toEqual({ code: expect.any(String), state: asked.state, iss: issuer })
    expect(page.get('Location')).toBeUndefined()
    const redeemed = await stage.flow.redeem(photoPrint, String(fields['code']))
    expect(outcomeOf(redeemed)).toBe('tokens')
  })

  test('[FPM-1] answers the request of the example, whose state arrives as it was sent', async () => {
    const client = bent(photoPrint, {
      client_id: 'some_client',
      redirect_uris: ['https://client.example.org/callback'],
      scope: 'openid',
    })
    const stage = formPostStage({
      clients: [client.registration],
      scopes: { openid: 'Know who you are', 'photos:read': 'See your photos' },
      pkce: 'none',
    })
    // OAuth 2.0 Form Post Response Mode, the example of the appendix, with a response type that this server has.
    const page = await stage.flow.ask(
      'response_type=code&response_mode=form_post&client_id=some_client&scope=openid' +
        '&redirect_uri=https%3A%2F%2Fclient.example.org%2Fcallback' +
        '&state=DcP7csa3hMlvybERqcieLHrRzKBra&nonce=2T1AgaeRTGTMAJyeDMN9IJbgiUG',
      'alice',
    )
    const answer = await stage.flow.decide(page, 'approve', 'alice')
    const { action, fields } = postedFormOf(answer)
    expect(action).toBe('https://client.example.org/callback')
    expect(fields['state']).toBe('DcP7csa3hMlvybERqcieLHrRzKBra')
  })

  test.each(['"><script>alert(1)</script>', "a'b&amp;c", 'a\u200Bb\u202Ec', 'a\r\nb', '&#34;&quot;'])(
    '[FPM-1] keeps the state %j as it is, and runs nothing of it',
    async (state) => {
      const page = await decided(formPostStage(), { state })
      expect(postedFormOf(page).fields['state']).toBe(state)
      expect(page.text.match(/<script/g)).toHaveLength(1)
    },
  )

  test('[FPM-1] keeps the query of a redirection URI', async () => {
    const uri = 'https://print.example/callback?a=1&b=%26'
    const client = bent(photoPrint, { redirect_uris: [uri] })
    const page = await decided(formPostStage({ clients: [client.registration] }), { redirect_uri: uri })
    expect(postedFormOf(page).action).toBe(uri)
  })

  test('[FPM-1] carries the access token of the implicit grant, and no fragment', async () => {
    const client = bent(photoBook, { grant_types: ['implicit'], response_types: ['token'] })
    const stage = formPostStage({ clients: [client.registration], plugins: [implicit()] })
    const page = await decided(stage, {
      ...authorizationRequest(client),
      response_type: 'token',
      code_challenge: undefined,
      code_challenge_method: undefined,
    })
    const { action, fields } = postedFormOf(page)
    expect(action).toBe('https://book.example/callback')
    expect(fields).toMatchObject({
      access_token: expect.any(String),
      token_type: 'bearer',
      state: asked.state,
    })
  })

  test('[FPM-2] no cache keeps the page, and the client sees no Referer', async () => {
    const { headers, text } = await decided(formPostStage())
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
    })
    expect(text).toContain('<meta name="referrer" content="same-origin" />')
  })

  test('[FPM-3] a denial, and an error of the request, arrive in a form, too', async () => {
    const stage = formPostStage()
    const denied = postedFormOf(await decided(stage, {}, 'deny'))
    expect(denied).toMatchObject({ action: 'https://print.example/callback', submitsItself: true })
    expect(denied.fields).toMatchObject({ error: 'access_denied', state: asked.state, iss: issuer })
    for (const [bend, error] of [
      [{ scope: 'reports:write' }, 'invalid_scope'],
      [{ response_type: 'id_token' }, 'unsupported_response_type'],
      [{ response_type: undefined }, 'invalid_request'],
      [{ prompt: 'none' }, 'login_required'],
    ] as const) {
      const { fields } = postedFormOf(await stage.flow.ask({ ...asked, ...bend }))
      expect(fields).toMatchObject({ error, state: asked.state, iss: issuer })
    }
  })

  test('[FPM-3] an error without a redirection URI stays on a page of this server', async () => {
    const page = await formPostStage().flow.ask({ ...asked, redirect_uri: 'https://evil.example/' }, 'alice')
    expect(errorPageOf(page)).toBe('400 invalid_request')
  })

  test('[FPM-4] a mode that the server does not have is refused in the mode of the response type', async () => {
    const { flow } = formPostStage()
    for (const response_mode of ['form_post.jwt', 'FORM_POST', 'query.jwt', '__proto__']) {
      const { parameters } = redirectionOf(await flow.ask({ ...asked, response_mode }, 'alice'))
      expect(parameters).toMatchObject({ error: 'invalid_request', state: asked.state, iss: issuer })
    }
    const twice = await flow.ask({ ...asked, response_mode: ['form_post', 'form_post'] }, 'alice')
    expect(redirectionOf(twice).parameters['error']).toBe('invalid_request')
  })

  test('[FPM-4] query and fragment stay the modes of their response types', async () => {
    const client = bent(photoBook, {
      grant_types: ['authorization_code', 'implicit'],
      response_types: ['code', 'token'],
    })
    const stage = formPostStage({ clients: [client.registration], plugins: [implicit()] })
    const byQuery = await decided(stage, { ...authorizationRequest(client), response_mode: 'query' })
    expect(redirectionOf(byQuery).parameters['code']).toBeDefined()
    const implicitly = { ...authorizationRequest(client), response_type: 'token', response_mode: 'fragment' }
    expect(fragmentOf(await decided(stage, implicitly)).parameters['access_token']).toBeDefined()
  })

  test('[FPM-4] an app with a scheme of its own gets the response by its URI, because browsers post nothing there', async () => {
    const client = bent(photoBook, { redirect_uris: ['com.example.book:/callback'] })
    const { flow } = formPostStage({ clients: [client.registration] })
    const answer = await flow.ask({ ...authorizationRequest(client), response_mode: 'form_post' }, 'alice')
    expect(redirectionOf(answer)).toMatchObject({
      uri: 'com.example.book:/callback',
      parameters: { error: 'invalid_request' },
    })
  })

  test.each([
    ['of the suite', undefined],
    [
      'of the suite, behind helmet',
      { mount: ((app, oauth) => mountAll(app.use(helmet()), oauth)) satisfies typeof mountAll },
    ],
  ])(
    '[FPM-5] the policy of the page %s allows one script, by its hash, and its form',
    async (_which, hosting) => {
      const page = await decided(formPostStage({}, hosting))
      expect(postedFormOf(page).submitsItself).toBe(true)
      const policy = policyOf(page)
      const scripts = [...page.text.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script = '']) => script)
      const hashes = scripts.map(
        (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
      )
      expect(policy.get('script-src')).toBe(hashes.join(' '))
      expect(hashes).toHaveLength(1)
      expect(policy.get('default-src')).toBe("'none'")
      expect(policy.get('form-action')).toBe("'self' https:")
      expect(policy.get('frame-ancestors')).toBe("'none'")
      expect(page.text).not.toMatch(/ on\w+=/)
    },
  )

  test('[FPM-5] the form of the consent page stays on this server', async () => {
    const { flow } = formPostStage()
    const [posted, usual] = [
      await flow.ask(asked, 'alice'),
      await flow.ask({ ...asked, response_mode: undefined }, 'alice'),
    ]
    expect([posted, usual].map((page) => policyOf(page).get('form-action'))).toEqual([
      "'self'",
      "'self' https:",
    ])
  })

  test('[FPM-5] no other page may run a script', async () => {
    const stage = formPostStage()
    for (const page of [
      await stage.flow.ask(asked, 'alice'),
      await stage.flow.ask({ client_id: 'x' }, 'alice'),
    ])
      expect([
        page.get('Content-Security-Policy')?.includes('script-src'),
        page.text.includes('<script'),
      ]).toEqual([false, false])
  })

  test('[FPM-6] an error goes to an unregistered client only by a press of the button', async () => {
    const { register, flow } = registeringOn(inMemory)({}, { plugins: [formPost()] })
    const { body } = await register(notesApp)
    const client = bent(photoBook, { client_id: body.client_id, redirect_uris: body.redirect_uris })
    const wrong = { ...authorizationRequest(client), response_mode: 'form_post', max_age: 'x' }
    const refused = await flow.ask(wrong, 'alice')
    const form = postedFormOf(refused)
    expect(form).toMatchObject({ action: body.redirect_uris[0], submitsItself: false })
    expect(policyOf(refused).has('script-src')).toBe(false)
    expect(form.fields['error']).toBe('invalid_request')
  })

  test('[FPM-6] a redirection URI without encryption gets the response only by a press of the button', async () => {
    const uri = 'http://print.example/callback'
    const client = bent(photoPrint, { redirect_uris: [uri], insecure_redirect_uris: true })
    const page = await decided(formPostStage({ clients: [client.registration] }), { redirect_uri: uri })
    expect(postedFormOf(page)).toMatchObject({
      action: uri,
      submitsItself: false,
      fields: { code: expect.any(String) },
    })
    expect(policyOf(page).get('form-action')).toBe("'self' https: http:")
    expect(policyOf(page).has('script-src')).toBe(false)
  })

  test('[FPM-3] an owner who has approved before sees no question, and the code arrives in a form', async () => {
    const { flow } = formPostStage({ skipConsent: () => true })
    expect(postedFormOf(await flow.ask(asked, 'alice')).fields['code']).toBeDefined()
  })

  test('[FPM-1] a decision that arrives again gets the same form while the code is good', async () => {
    const { flow } = formPostStage()
    const page = await flow.ask(asked, 'alice')
    const first = postedFormOf(await flow.decide(page, 'approve', 'alice'))
    expect(postedFormOf(await flow.decide(page, 'approve', 'alice'))).toEqual(first)
    expect(outcomeOf(await flow.redeem(photoPrint, String(first.fields['code'])))).toBe('tokens')
    const late = await flow.decide(page, 'approve', 'alice')
    expect([late.status, late.text.includes('<form')]).toEqual([200, false])
  })

  test('[FPM-1] a script of the host gets where to post, and the fields, in place of redirect_to', async () => {
    const { flow } = formPostStage()
    const json = { Accept: 'application/json' }
    const page = await flow.ask(asked, 'alice')
    const { status, body } = await flow.decide(page, 'approve', 'alice', json)
    expect([status, body]).toEqual([
      200,
      {
        post_to: 'https://print.example/callback',
        fields: { code: expect.any(String), state: asked.state, iss: issuer },
      },
    ])
  })

  test('[FPM-7] the metadata lists the mode with the plug-in alone, and each listed mode carries a response', async () => {
    const modes = async ({ flow }: Pick<Stage, 'flow'>): Promise<unknown> =>
      (await flow.open('/.well-known/oauth-authorization-server')).body.response_modes_supported
    expect(await modes(setStage())).toEqual(['query', 'fragment'])
    expect(await modes(formPostStage())).toEqual(['query', 'fragment', 'form_post'])
    const stage = formPostStage()
    expect(redirectionOf(await decided(stage, { response_mode: 'query' })).parameters['code']).toBeDefined()
    expect(postedFormOf(await decided(stage)).fields['code']).toBeDefined()
    const without = await setStage().flow.ask(asked, 'alice')
    expect(redirectionOf(without).parameters['error']).toBe('invalid_request')
  })
})
