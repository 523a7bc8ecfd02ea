import { bent, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const registered = 'https://print.example/callback'
const tenants = bent(photoPrint, { redirect_uris: [registered], dynamic_redirect_query: true })
const asked = authorizationRequest(tenants)

describeOnStores('[REG-9] A client that registered all but the query', (stage) => {
  const set = () => stage({ clients: [tenants.registration] })

  test.each([
    ['?tenant=7', '&'],
    ['?a=%7E&a=b+c&d', '&'],
    ['?', ''],
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

  test('[TOK-5] redeems with the query of the request, and with no other [redirect-19]', async () => {
    const { flow } = set()
    const redirect_uri = `${registered}?tenant=7`
    const page = await flow.ask({ ...asked, redirect_uri }, 'alice')
    const location = String((await flow.decide(page, 'approve', 'alice')).get('Location'))
    const code = String(new URL(location).searchParams.get('code'))
    for (const other of [registered, `${registered}?tenant=8`, undefined])
      expect(refusalOf(await flow.redeem(tenants, code, { redirect_uri: other }))).toBe('400 invalid_grant')
    tokensOf(await flow.redeem(tenants, code, { redirect_uri }))
  })

  test.each([undefined, ''])('[RED-2] must name its redirection URI, not %p', async (redirect_uri) => {
    const { flow, store } = set()
    expect(errorPageOf(await flow.ask({ ...asked, redirect_uri }, 'alice'))).toBe('400 invalid_request')
    expect(store.calls.save).toBe(0)
  })

  test.each([
    `${registered}?a=b#`,
    `${registered}?a=b\r\nSet-Cookie: c=d`,
    `${registered}/../evil?a=b`,
    `${registered}?code=ac_of_mallory`,
    `${registered}?%C1%A3ode=ac_of_mallory`,
    `${registered}?a=b&scope=photos:print`,
    `${registered}?a=ü`,
    'https://print.example@evil.example/callback?a=b',
    'HTTPS://print.example/callback?a=b',
  ])('[AUZ-10] is not at %j', async (redirect_uri) => {
    const { flow, store } = set()
    expect(errorPageOf(await flow.ask({ ...asked, redirect_uri }, 'alice'))).toBe('400 invalid_request')
    expect(store.calls.save).toBe(0)
  })
})
