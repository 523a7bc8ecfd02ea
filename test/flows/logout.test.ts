import request from 'supertest'
import { application } from '../support/flows/application'
import { bent } from '../support/flows/clients'
import { formOf } from '../support/flows/flow'
import { identityStage, relyingParty, withIdentity } from '../support/flows/identity-stage'
import { outcomeOf } from '../support/flows/outcome'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'

const after = 'https://print.example/bye?from=photos'
const leaving = bent(relyingParty, { post_logout_redirect_uris: [after] })

const formIn = (text: string) => ({
  action: /<form[^>]* action="([^"]+)"/.exec(text)?.[1] ?? '',
  logout_request: /name="logout_request" value="([^"]+)"/.exec(text)?.[1] ?? '',
})

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

  test('changes nothing for a person who stays', async () => {
    const set = open()
    const page = await set.ask({ client_id: 'relying-party', post_logout_redirect_uri: after }, 'alice')
    const stayed = await set.press('stay', page, 'alice')
    expect(stayed.text).toContain('You are still signed in')
    expect(stayed.text).toContain(`href="${after}"`)
    expect(set.ended).toEqual([])
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
