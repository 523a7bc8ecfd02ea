import { options } from '../../docs/examples/code-token'
import { photoPrint } from '../support/flows/clients'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { fragmentOf } from '../support/flows/redirection'
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
  test.each(['code token', 'token code'])('[AUZ-5] answers %s', async (response_type) => {
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

  test('takes the order of the values in a registration, too', async () => {
    const turned = { ...registration, response_types: ['token code'] }
    const parameters = await answered(stage({ ...options, clients: [turned] }), 'code token')
    expect(parameters).toHaveProperty('code')
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

  test('[REV-2] has a token that its client can revoke while the code waits, and the code goes with it', async () => {
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

  test('has a token that outlives a code that nobody redeems', async () => {
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

  test.each(['code', 'token', 'code code token'])('does not let its client use %p', async (response_type) => {
    const { flow } = stage(options)
    const response = await flow.ask({ ...authorizationRequest(album), response_type }, 'alice')
    expect(response.get('Location')).toMatch(/error=(?:unauthorized_client|unsupported_response_type)&/)
  })
})
