import { bent, photoBook } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { asked, loginOf, loginStage } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'

describe('prompt=login', () => {
  test('sends an owner who is logged in to a new login, and then to the page', async () => {
    const { ask, open, now, clock, flow } = loginStage()
    const { back, prompt: again } = loginOf(await ask(asked, 'alice', now() - 60))
    expect(again).toBe('login')
    clock.advance(590)
    const page = await open(back, 'alice', now())
    expect(page.status).toBe(200)
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect code')
  })

  test('takes one login of an owner who was not logged in', async () => {
    const { ask, open, now } = loginStage()
    const { back, prompt: again } = loginOf(await ask(asked))
    expect(again).toBeNull()
    expect((await open(back, 'alice', now())).status).toBe(200)
  })

  test('ends on a page if the login comes back three times without a new login', async () => {
    const { ask, open, now, failures } = loginStage()
    let response = await ask(asked, 'alice', now() - 1)
    for (let returns = 0; returns < 3; returns++)
      response = await open(loginOf(response).back, 'alice', now() - 1)
    expect(response.status).toBe(400)
    expect(response.text).toContain('without a new login')
    expect(failures).toMatchObject([{ reason: 'login_loop' }])
  })

  test('uses a reference up with the page, and keeps one record for all returns', async () => {
    const { ask, open, now, store } = loginStage()
    const first = loginOf(await ask(asked, 'alice', now() - 1)).back
    const second = loginOf(await open(first, 'alice', now() - 1)).back
    expect(store.calls.save).toBe(1)
    expect((await open(second, 'alice', now())).status).toBe(200)
    loginOf(await open(second, 'alice', now() - 1))
  })
})

describe('prompt=none', () => {
  test.each<[string, string | undefined, boolean, string]>([
    ['no owner is logged in', undefined, true, 'redirect login_required'],
    ['the owner has not approved before', 'alice', false, 'redirect consent_required'],
    ['the owner has approved before', 'alice', true, 'redirect code'],
  ])('shows no page if %s', async (_when, owner, approved, outcome) => {
    const skipConsent = jest.fn(() => approved)
    const { ask } = loginStage({ skipConsent })
    expect(outcomeOf(await ask({ ...asked, prompt: 'none' }, owner))).toBe(outcome)
    expect(skipConsent).toHaveBeenCalledTimes(owner === undefined ? 0 : 1)
  })

  test('is refused for an app that another app could pass for', async () => {
    const app = bent(photoBook, { redirect_uris: ['com.example.book:/callback'] })
    const { ask } = loginStage({ clients: [app.registration], skipConsent: () => true })
    const fields = { ...authorizationRequest(app), prompt: 'none' }
    expect(outcomeOf(await ask(fields, 'alice'))).toBe('redirect interaction_required')
    expect(outcomeOf(await ask({ ...fields, prompt: 'none login' }, 'alice'))).toBe(
      'redirect invalid_request',
    )
  })
})

test('prompt=consent shows the page to an owner who has approved before', async () => {
  const { ask } = loginStage({ skipConsent: () => true })
  expect(outcomeOf(await ask({ ...asked, prompt: 'consent' }, 'alice'))).toBe('question')
  expect(outcomeOf(await ask({ ...asked, prompt: undefined }, 'alice'))).toBe('redirect code')
})
