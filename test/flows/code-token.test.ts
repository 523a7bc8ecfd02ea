import { options } from '../../docs/examples/code-token'
import { implicit } from '../../lib/index'
import { answeredPageOf } from '../support/flows/answered-page'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { fragmentOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const [registration] = options.clients
if (registration === undefined) throw new Error('The example registers no client.')
const album = { registration }

async function answered({ flow }: Stage, response_type: string): Promise<Readonly<Record<string, string>>> {
  const page = await flow.ask({ ...authorizationRequest(album), response_type }, 'alice')
  const { uri, parameters } = fragmentOf(await flow.decide(page, 'approve', 'alice'))
  expect(uri).toBe('https://album.example/callback')
  return parameters
}

describeOnStores('The response type of docs/examples/code-token.ts', (stage) => {
  test.each(['code token', 'token code'])('answers %s', async (response_type) => {
    const set = stage(options)
    const { code = '', ...others } = await answered(set, response_type)
    expect(code).toMatch(/^ac_/)
    expect(others).toEqual({
      access_token: expect.stringMatching(/^at_[A-Za-z0-9_-]{64}$/),
      token_type: 'bearer',
      expires_in: '3600',
      scope: 'photos:read',
      state: 'af0ifjsldkj',
      iss: 'http://localhost',
    })
  })

  test('gives a code and a token that are good beside each other', async () => {
    const set = stage(options)
    const { code = '', access_token = '' } = await answered(set, 'code token')
    expect((await set.flow.photos(access_token)).body).toMatchObject({ subject: 'alice', clientId: 'album' })
    const { accessToken, refreshToken } = tokensOf(await set.flow.redeem(album, code))
    for (const token of [access_token, accessToken]) expect((await set.flow.photos(token)).status).toBe(200)
    tokensOf(await set.flow.refresh(album, refreshToken))
    expect((await set.flow.photos(access_token)).status).toBe(200)
  })

  test('has a code that is good once: its replay kills the token of the fragment as well [code-21]', async () => {
    const set = stage(options)
    const { code = '', access_token = '' } = await answered(set, 'token code')
    const { accessToken } = tokensOf(await set.flow.redeem(album, code))
    expect(refusalOf(await set.flow.redeem(album, code))).toBe('400 invalid_grant')
    for (const token of [access_token, accessToken]) expect((await set.flow.photos(token)).status).toBe(401)
  })

  test('has a token that its client can revoke while the code waits, and the code goes with it', async () => {
    const set = stage({ ...options, clients: [registration, photoPrint.registration] })
    const { code = '', access_token = '' } = await answered(set, 'code token')
    for (const [client, token] of [
      [photoPrint, access_token],
      [album, code],
    ] as const) {
      expect((await set.flow.revoke(client, token)).status).toBe(200)
      expect((await set.flow.photos(access_token)).status).toBe(200)
    }
    expect((await set.flow.revoke(album, access_token)).status).toBe(200)
    expect((await set.flow.photos(access_token)).status).toBe(401)
    expect(refusalOf(await set.flow.redeem(album, code))).toBe('400 invalid_grant')
  })

  test('has a token that outlives an unredeemed code', async () => {
    const set = stage(options)
    const { code = '', access_token = '' } = await answered(set, 'code token')
    set.clock.advance(61)
    expect(refusalOf(await set.flow.redeem(album, code))).toBe('400 invalid_grant')
    expect((await set.flow.photos(access_token)).status).toBe(200)
    set.clock.advance(3600)
    expect((await set.flow.photos(access_token)).status).toBe(401)
  })

  test('needs PKCE of a public client, because it gives a code', async () => {
    const { flow } = stage(options)
    const request = { ...authorizationRequest(album), response_type: 'code token', code_challenge: undefined }
    expect(fragmentOf(await flow.ask(request, 'alice')).parameters).toMatchObject({
      error: 'invalid_request',
    })
  })
})

const terms = { grant_types: ['implicit'], response_types: ['token'] }
const slideshow = bent(photoBook, terms)
const on = { clients: [slideshow.registration], responseTypes: [implicit()] }
const asked = {
  ...authorizationRequest(slideshow),
  response_type: 'token',
  code_challenge: undefined,
  code_challenge_method: undefined,
}

describeOnStores('The implicit grant', (stage) => {
  test('answers with an access token in the fragment that the guard takes, and no refresh token, at a registered redirection URI only [implicit-3, redirect-7]', async () => {
    const both = { grant_types: ['authorization_code', 'implicit', 'refresh_token'] }
    const client = bent(photoBook, { ...both, response_types: ['code', 'token'] })
    const { flow } = stage({ ...on, clients: [client.registration] })
    const response = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
    const { uri, parameters } = fragmentOf(response)
    expect(uri).toBe('https://book.example/callback')
    expect(parameters).toEqual({
      access_token: expect.stringMatching(/^at_[A-Za-z0-9_-]{64}$/),
      token_type: 'bearer',
      expires_in: '3600',
      scope: 'photos:read photos:print',
      state: asked.state,
      iss: 'http://localhost',
    })
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    expect((await flow.photos(parameters['access_token'] ?? '')).body).toMatchObject({ subject: 'alice' })
    const evil = await flow.ask({ ...asked, redirect_uri: 'https://evil.example/callback' }, 'alice')
    expect([evil.status, evil.get('Location')]).toEqual([400, undefined])
  })

  test('sends the failure of the store in the fragment', async () => {
    const { flow, store } = stage(on)
    const page = await flow.ask(asked, 'alice')
    store.begin('fails', 'save')
    const { parameters } = fragmentOf(await flow.decide(page, 'approve', 'alice'))
    expect(parameters).toMatchObject({ error: 'temporarily_unavailable', state: asked.state })
    expect(parameters).not.toHaveProperty('access_token')
  })

  test('gives one token for one decision, however often it comes [implicit-4]', async () => {
    const { flow } = stage(on)
    const page = await flow.ask(asked, 'alice')
    const approve = () => flow.decide(page, 'approve', 'alice')
    const responses = await Promise.all([approve(), approve(), approve()])
    const won = responses.filter(({ status }) => status === 303)
    expect(won.map((response) => 'access_token' in fragmentOf(response).parameters)).toEqual([true])
    for (const response of responses.filter(({ status }) => status !== 303))
      expect(answeredPageOf(response)).toBe('https://book.example/')
  })

  test('gives a token that expires, and that a revocation kills [implicit-6]', async () => {
    const { flow, clock, oauth } = stage(on)
    const token = async () => {
      const { parameters } = fragmentOf(await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice'))
      return parameters['access_token'] ?? ''
    }
    const [lasting, revoked] = [await token(), await token()]
    await oauth.revoke((await flow.photos(revoked)).body.authorizationId)
    const status = async (accessToken: string) => (await flow.photos(accessToken)).status
    expect([await status(lasting), await status(revoked)]).toEqual([200, 401])
    clock.advance(3600)
    expect(await status(lasting)).toBe(401)
  })

  test('is off: a server without it does not know it, and a client without it may not use it [implicit-1]', async () => {
    const without = redirectionOf(await stage().flow.ask(asked, 'alice'))
    expect(without.parameters).toMatchObject({ error: 'unsupported_response_type' })
    const { flow } = stage({ ...on, clients: [photoBook.registration] })
    expect(fragmentOf(await flow.ask(asked, 'alice')).parameters).toMatchObject({
      error: 'unauthorized_client',
      state: asked.state,
    })
  })
})
