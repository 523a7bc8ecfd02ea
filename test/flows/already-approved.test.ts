import { implicit, OAuthError, type PriorConsentQuestion } from '../../lib/index'
import { options as codeTokenOptions } from '../../docs/examples/code-token'
import { bent, photoBook, photoPrint, type ClientApplication } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { recordingStage } from '../support/flows/recording-stage'
import { codeOf, fragmentOf, redirectionOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'
import { credentialFingerprint } from '../support/flows/every-endpoint'

const asked = authorizationRequest(photoPrint)
const always = () => true
const mustNotBeAsked = () => {
  throw new Error('asked')
}
const onLoopback = bent(photoBook, {
  redirect_uris: ['http://127.0.0.1/callback'],
  loopback_redirect_uris: true,
})
const ofAnApp = bent(photoBook, { redirect_uris: ['com.example.book:/callback'] })

describeOnStores('What is approved already', (stage) => {
  const open = (...clients: readonly ClientApplication[]) =>
    stage({ clients: clients.map(({ registration }) => registration), skipConsent: always }).flow

  test('is answered at once, without a page, by a code that is redeemed once', async () => {
    const { flow, recorded } = recordingStage(stage, { skipConsent: always })
    const answer = await flow.ask(asked, 'alice')
    expect(answer.status).toBe(303)
    expect(redirectionOf(answer).parameters['state']).toBe(asked.state)
    expect(redirectionOf(answer).parameters['iss']).toBeDefined()
    const code = codeOf(answer)
    const { accessToken } = tokensOf(await flow.redeem(photoPrint, code))
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect((await flow.redeem(photoPrint, code)).body.error).toBe('invalid_grant')
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect(recorded[0]).toMatchObject({
      event: 'approved',
      endpoint: 'authorization',
      clientId: 'photo-print',
      subject: 'alice',
      responseType: 'code',
      scope: ['photos:read', 'photos:print'],
      credential: credentialFingerprint(code),
    })
    expect(recorded.map(({ event }) => event)).toEqual([
      'approved',
      'issued',
      'replayed',
      'revoked',
      'refused',
    ])
  })

  test('is known by owner, client, scope and redirection URI, and nothing else', async () => {
    const questions: PriorConsentQuestion[] = []
    const { flow } = stage({
      skipConsent: async (_request, question) => {
        questions.push(question)
        return question.scope.length === 1
      },
    })
    expect((await flow.ask({ ...asked, scope: 'photos:read' }, 'bob')).status).toBe(303)
    expect((await flow.ask(asked, 'bob')).text).toContain('wants to access your account')
    expect(questions).toEqual(
      [['photos:read'], ['photos:read', 'photos:print']].map((scope) => ({
        clientId: 'photo-print',
        subject: 'bob',
        scope,
        facts: [],
        redirectUri: 'https://print.example/callback',
      })),
    )
  })

  test.each([
    ['on loopback', onLoopback],
    ['by a scheme of its own', ofAnApp],
  ])(
    'is not believed of a public client %s, which another app could pass for [consent-32]',
    async (_where, client) => {
      const page = await open(client).ask(authorizationRequest(client), 'alice')
      expect(page.text).toContain('wants to access your account')
    },
  )

  test('is believed of a confidential client wherever it is', async () => {
    const client = bent(photoPrint, { redirect_uris: ['http://localhost/callback'] })
    expect((await open(client).ask(authorizationRequest(client), 'alice')).status).toBe(303)
  })

  test('is not believed where a token would be in the answer', async () => {
    const browserApp = bent(photoBook, {
      grant_types: ['authorization_code', 'implicit'],
      response_types: ['code', 'token', 'code token'],
    })
    const { flow } = stage({
      ...codeTokenOptions,
      clients: [browserApp.registration],
      responseTypes: [implicit(), ...(codeTokenOptions.responseTypes ?? [])],
      skipConsent: always,
    })
    for (const response_type of ['token', 'code token']) {
      const page = await flow.ask({ ...authorizationRequest(browserApp), response_type }, 'alice')
      expect(page.text).toContain('wants to access your account')
      expect(fragmentOf(await flow.decide(page, 'approve', 'alice')).parameters['access_token']).toBeDefined()
    }
  })
})

describeOnStores('Whether something is approved already', (stage) => {
  test('is not asked without a logged-in owner, nor about a bad request or a disabled client', async () => {
    const shutOut = bent(photoPrint, { disabled: true })
    const { flow } = stage({ skipConsent: mustNotBeAsked, pkce: 'all' })
    expect((await flow.ask(asked)).headers['location']).toMatch(/^\/login\?/)
    const answer = await flow.ask({ ...asked, code_challenge: undefined }, 'alice')
    expect(redirectionOf(answer).parameters['error']).toBe('invalid_request')
    const closed = stage({ skipConsent: mustNotBeAsked, clients: [shutOut.registration] }).flow
    expect((await closed.ask(asked, 'alice')).status).toBe(400)
  })

  test.each([
    ['something truthy', () => JSON.parse('"yes"')],
    ['a record', async () => ({ approved: true })],
  ])('must return true or false: %s approves nothing and fails the request', async (_what, skipping) => {
    const { flow, recorded } = recordingStage(stage, {
      skipConsent: (...given) => Reflect.apply(skipping, undefined, given),
    })
    const answer = await flow.ask(asked, 'alice')
    expect(redirectionOf(answer).parameters['error']).toBe('server_error')
    expect(recorded).toMatchObject([{ event: 'failure', cause: expect.any(TypeError) }])
  })

  test('may throw a fault or a refusal, and the client gets the error', async () => {
    const broken = stage({ skipConsent: mustNotBeAsked }).flow
    const failed = await broken.ask(asked, 'alice')
    expect(redirectionOf(failed).parameters['error']).toBe('server_error')
    const refusing = stage({
      skipConsent: () => {
        throw new OAuthError('access_denied', 'not_in_this_team', 'The owner may not use this app.')
      },
    }).flow
    const refused = await refusing.ask(asked, 'alice')
    expect(redirectionOf(refused).parameters['error']).toBe('access_denied')
  })
})
