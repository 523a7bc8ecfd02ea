import { photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { redirectionOf } from '../support/flows/redirection'
import { refusalOf, tokensOf } from '../support/flows/tokens'

/** A server that its host closes and opens. */
function closable(stage: SetStage) {
  const door = { closed: false }
  return { ...stage({ maintenance: async () => door.closed }), door }
}

describeOnStores('During maintenance', (stage) => {
  test('the token endpoint asks to try again, before it looks at the client, and spends nothing', async () => {
    const { flow, door, failures } = closable(stage)
    const code = await flow.approve(photoBook)
    door.closed = true
    const response = await flow.redeem(photoBook, code)
    expect(refusalOf(response)).toBe('400 temporarily_unavailable')
    expect(response.get('Retry-After')).toBe('1')
    expect(failures).toMatchObject([{ reason: 'maintenance', cause: undefined }])
    door.closed = false
    expect(tokensOf(await flow.redeem(photoBook, code)).scope).toBe('photos:read photos:print')
  })

  test('the client is told by redirect, and no request is kept', async () => {
    const { flow, door, store } = closable(stage)
    door.closed = true
    const asked = authorizationRequest(photoPrint)
    const { parameters } = redirectionOf(await flow.ask(asked, 'alice'))
    expect(parameters).toMatchObject({ error: 'temporarily_unavailable', state: asked.state })
    expect(store.calls.save).toBe(0)
  })

  test('a decision is not taken, and can be sent again', async () => {
    const { flow, door } = closable(stage)
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    door.closed = true
    expect(errorPageOf(await flow.decide(page, 'approve', 'alice'))).toBe('503 temporarily_unavailable')
    door.closed = false
    expect((await flow.decide(page, 'approve', 'alice')).status).toBe(303)
  })

  test('guards go on', async () => {
    const { flow, door } = closable(stage)
    const { accessToken } = await flow.tokens(photoBook)
    door.closed = true
    expect((await flow.photos(accessToken)).status).toBe(200)
  })
})
