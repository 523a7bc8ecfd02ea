import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { heardOn } from '../support/flows/heard-stage'
import { codeOf } from '../support/flows/redirection'
import { credentialFingerprint } from '../support/flows/whole-story'

const photos = ['photos:read', 'photos:print']

describeOnStores('Events of what is refused', (stage) => {
  test('tell of a replayed code whose it was, and of the revocation that follows', async () => {
    const { flow, heard } = heardOn(stage)
    const code = await flow.approve(photoBook)
    await flow.redeem(photoPrint, code)
    await flow.redeem(photoBook, code)
    const response = await flow.redeem(photoBook, code)
    await flow.redeem(photoBook, code)
    expect(heard.slice(1)).toMatchObject([
      // Another client's try names the client that tried, and whose authorization it tried.
      { event: 'refused', reason: 'code_of_another_client', clientId: 'photo-print', subject: 'alice' },
      { event: 'issued' },
      { event: 'replayed', reason: 'code_replayed', clientId: 'photo-book', subject: 'alice' },
      { event: 'revoked', reason: 'code_replayed', grantType: 'authorization_code', scope: photos },
      { event: 'refused', reason: 'code_unknown', subject: undefined, authorizationId: undefined },
    ])
    expect(heard.slice(3, 5).map(({ requestId }) => requestId)).toEqual(
      Array.from({ length: 2 }, () => response.get('X-Request-Id')),
    )
    for (const { event, credential } of heard)
      expect(event === 'issued' || credential === credentialFingerprint(code)).toBe(true)
  })

  test('tell of a decision: denied, sent twice, or by somebody else', async () => {
    const { flow, heard } = heardOn(stage)
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    expect(heard).toEqual([])
    await flow.decide(page, 'approve', 'mallory')
    await flow.decide(page, 'deny', 'alice')
    await flow.decide(page, 'approve', 'alice')
    const alice = { event: 'refused', endpoint: 'authorization', clientId: 'photo-book', subject: 'alice' }
    expect(heard).toMatchObject([
      { ...alice, code: 'invalid_request', reason: 'authorization_request_of_another_owner' },
      { ...alice, code: 'access_denied', reason: 'owner_denied' },
      { ...alice, code: 'invalid_request', reason: 'authorization_request_not_open' },
    ])
    expect(new Set(heard.map(({ credential }) => credential)).size).toBe(1)
    expect(new Set(heard.map(({ authorizationId }) => authorizationId)).size).toBe(1)
  })

  test('tell at a guard whose token has too little scope, and nothing of what it lets in or asks', async () => {
    const { flow, heard } = heardOn(stage)
    const good = await flow.tokens(photoBook)
    await flow.photos(good.accessToken)
    await flow.open('/photos')
    expect(heard.map(({ event }) => event)).toEqual(['approved', 'issued'])
    const { accessToken } = await flow.tokens(photoBook, { scope: 'photos:print' })
    const answer = await flow.photos(accessToken)
    expect(heard[4]).toMatchObject({
      event: 'refused',
      endpoint: 'protected resource',
      code: 'insufficient_scope',
      reason: 'token_scope_insufficient',
      clientId: 'photo-book',
      subject: 'alice',
      authorizationId: heard[3]?.authorizationId,
      credential: heard[3]?.credential,
      requestId: answer.get('X-Request-Id'),
    })
  })

  test('tell of a store in trouble as a failure with its cause, and never as done', async () => {
    const { flow, store, heard } = heardOn(stage)
    const code = await flow.approve(photoBook)
    store.begin('fails', 'save')
    const answer = await flow.redeem(photoBook, code)
    expect(heard.slice(1)).toMatchObject([
      {
        event: 'failure',
        endpoint: 'token',
        code: 'temporarily_unavailable',
        reason: 'store_unavailable',
        clientId: 'photo-book',
        credential: credentialFingerprint(code),
        requestId: answer.get('X-Request-Id'),
        cause: expect.any(Error),
      },
    ])
  })

  test('tell of a use of an old secret beside the outcome, under one id', async () => {
    const hashes = [...(photoPrint.registration.client_secret_hashes ?? [])]
    const [newest = ''] = nightlyReport.registration.client_secret_hashes ?? []
    const { registration } = bent(photoPrint, { client_secret_hashes: [...hashes, newest] })
    const { flow, heard } = heardOn(stage, { clients: [registration] })
    const code = codeOf(
      await flow.decide(await flow.ask(authorizationRequest(photoPrint), 'alice'), 'approve', 'alice'),
    )
    const answer = await flow.redeem(photoPrint, code)
    expect(heard.slice(1)).toMatchObject([
      { event: 'oldSecretUsed', endpoint: 'token', clientId: 'photo-print', reason: undefined },
      { event: 'issued', clientId: 'photo-print' },
    ])
    for (const { requestId } of heard.slice(1)) expect(requestId).toBe(answer.get('X-Request-Id'))
  })
})
