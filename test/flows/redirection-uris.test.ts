import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const desktop = bent(photoBook, {
  redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]:7000/callback', 'https://book.example/callback'],
  loopback_redirect_uris: true,
})

describeOnStores('A desktop app on a port of the loopback interface', (stage) => {
  const set = () => stage({ clients: [desktop.registration] })

  test.each(['http://127.0.0.1:51004/callback', 'http://[::1]:51004/callback', 'http://127.0.0.1/callback'])(
    'gets its tokens by %s',
    async (redirect_uri) => {
      const { flow } = set()
      const page = await flow.ask({ ...authorizationRequest(desktop), redirect_uri }, 'alice')
      const approval = await flow.decide(page, 'approve', 'alice')
      expect(redirectionOf(approval).uri).toBe(redirect_uri)
      tokensOf(await flow.redeem(desktop, codeOf(approval), { redirect_uri }))
    },
  )

  test('redeems with the port of the request, and with no other [redirect-16]', async () => {
    const { flow } = set()
    const redirect_uri = 'http://127.0.0.1:51004/callback'
    const code = await flow.approve(desktop, { redirect_uri })
    for (const other of ['http://127.0.0.1:51005/callback', 'http://127.0.0.1/callback', undefined])
      expect(refusalOf(await flow.redeem(desktop, code, { redirect_uri: other }))).toBe('400 invalid_grant')
    tokensOf(await flow.redeem(desktop, code, { redirect_uri }))
  })

  test.each([
    'http://127.0.0.1:80@evil.example/callback',
    'http://127.0.0.1:51004\\@evil.example/callback',
    'http://127.0.0.1:0/callback',
    'http://127.0.0.1:51004/callback/../evil',
    'http://localhost:51004/callback',
    'https://book.example:51004/callback',
  ])('is not at %s [redirect-14]', async (redirect_uri) => {
    const { flow } = set()
    const request = { ...authorizationRequest(desktop), redirect_uri }
    expect(errorPageOf(await flow.ask(request, 'alice'))).toBe('400 invalid_request')
  })

  test('needs the opt-in for it [redirect-15]', async () => {
    const strict = bent(desktop, { loopback_redirect_uris: false })
    const { flow } = stage({ clients: [strict.registration] })
    const request = { ...authorizationRequest(strict), redirect_uri: 'http://127.0.0.1:51004/callback' }
    expect(errorPageOf(await flow.ask(request, 'alice'))).toBe('400 invalid_request')
  })
})

const registered = 'https://print.example/callback'
const tenants = bent(photoPrint, { redirect_uris: [registered], dynamic_redirect_query: true })
const asked = authorizationRequest(tenants)

describeOnStores('A client that registered all but the query', (stage) => {
  const set = () => stage({ clients: [tenants.registration] })

  test.each([
    ['?tenant=7', '&'],
    ['?a=%7E&a=b+c&d', '&'],
    ['', '?'],
  ])('returns with the query %p kept byte for byte', async (query, separator) => {
    const { flow } = set()
    const redirect_uri = registered + query
    const page = await flow.ask({ ...asked, redirect_uri }, 'alice')
    const location = String((await flow.decide(page, 'approve', 'alice')).get('Location'))
    expect(location.startsWith(`${redirect_uri}${separator}code=ac_`)).toBe(true)
    const code = String(new URL(location).searchParams.get('code'))
    tokensOf(await flow.redeem(tenants, code, { redirect_uri }))
  })

  test('redeems with the query of the request, and with no other [redirect-19]', async () => {
    const { flow } = set()
    const redirect_uri = `${registered}?tenant=7`
    const page = await flow.ask({ ...asked, redirect_uri }, 'alice')
    const location = String((await flow.decide(page, 'approve', 'alice')).get('Location'))
    const code = String(new URL(location).searchParams.get('code'))
    for (const other of [registered, `${registered}?tenant=8`, undefined])
      expect(refusalOf(await flow.redeem(tenants, code, { redirect_uri: other }))).toBe('400 invalid_grant')
    tokensOf(await flow.redeem(tenants, code, { redirect_uri }))
  })

  test.each([
    `${registered}?a=b#`,
    `${registered}?a=b\r\nSet-Cookie: c=d`,
    `${registered}?code=ac_of_mallory`,
    `${registered}?%C1%A3ode=ac_of_mallory`,
    `${registered}?a=b&scope=photos:print`,
    'https://print.example@evil.example/callback?a=b',
  ])('is not at %j', async (redirect_uri) => {
    const { flow } = set()
    expect(errorPageOf(await flow.ask({ ...asked, redirect_uri }, 'alice'))).toBe('400 invalid_request')
  })
})
