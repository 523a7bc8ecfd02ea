import { bent, photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { insecureLinkOf } from '../support/flows/insecure-redirect'
import { redirectionOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'

const callback = 'http://old.example/callback?app=1'
const old = bent(photoBook, {
  redirect_uris: [callback, 'https://book.example/callback', 'http://127.0.0.1:7000/callback'],
  insecure_redirect_uris: true,
})
const asked = authorizationRequest(old)

describeOnStores('[AUZ-14] Before a redirect over plain HTTP the owner is warned', (stage) => {
  const set = () => stage({ clients: [old.registration] })

  test('after an approval, and the link brings the code', async () => {
    const { flow } = set()
    const response = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
    const link = insecureLinkOf(response)
    expect(link.href.startsWith(`${callback}&code=ac_`)).toBe(true)
    expect(link.searchParams.get('state')).toBe(asked.state)
    expect(response.text).toContain('the app then gets no access')
    tokensOf(await flow.redeem(old, String(link.searchParams.get('code'))))
  })

  test('after a denial', async () => {
    const { flow, failures } = set()
    const response = await flow.decide(await flow.ask(asked, 'alice'), 'deny', 'alice')
    expect(insecureLinkOf(response).searchParams.get('error')).toBe('access_denied')
    expect(response.text).toContain('No access was given.')
    expect(failures).toMatchObject([{ code: 'access_denied', requestId: response.get('X-Request-Id') }])
  })

  test.each(['GET', 'POST'])('of the error of a request by %s', async (method) => {
    const { flow } = set()
    const request = { ...asked, scope: 'unheard-of', state: `"><script>alert(1)</script>&#39;` }
    const response =
      method === 'GET' ? await flow.ask(request, 'alice') : await flow.submit('/authorize', request, 'alice')
    const { searchParams } = insecureLinkOf(response)
    expect(searchParams.get('error')).toBe('invalid_scope')
    expect(searchParams.get('state')).toBe(request.state)
  })

  test('of trouble in the store', async () => {
    const { flow, store } = stage({ clients: [old.registration], storeDeadline: 0.1 })
    store.begin('fails', 'save')
    const link = insecureLinkOf(await flow.ask(asked, 'alice'))
    expect(link.searchParams.get('error')).toBe('temporarily_unavailable')
  })

  test('though the host asks on a page of its own', async () => {
    const { flow } = stage({
      clients: [old.registration],
      consentPage: (_request, response, { action, fields }) => {
        const hidden = Object.entries(fields).map(
          ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
        )
        response.send(`<form method="post" action="${action}">${hidden.join('')}</form>`)
      },
    })
    const response = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
    expect(insecureLinkOf(response).host).toBe('old.example')
  })

  test.each(['https://book.example/callback', 'http://127.0.0.1:7000/callback'])(
    'and not of %s, a protected one of the same client',
    async (redirect_uri) => {
      const { flow } = set()
      const page = await flow.ask({ ...asked, redirect_uri }, 'alice')
      expect(redirectionOf(await flow.decide(page, 'approve', 'alice')).uri).toBe(redirect_uri)
    },
  )
})
