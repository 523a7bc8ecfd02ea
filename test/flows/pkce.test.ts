import { photoBook, photoPrint } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { codeVerifier } from '../support/flows/proof-key'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { refusalOf } from '../support/flows/tokens'

const withoutChallenge = { code_challenge: undefined, code_challenge_method: undefined }
const withoutVerifier = { code_verifier: undefined }

describeOnStores('PKCE', (stage) => {
  test.each([
    { pkce: 'public', client: photoPrint },
    { pkce: 'none', client: photoPrint },
    { pkce: 'none', client: photoBook },
  ] as const)(
    'that is required of $pkce clients may be left out by $client.registration.client_id',
    async (row) => {
      const { flow } = stage({ pkce: row.pkce })
      const code = await flow.approve(row.client, withoutChallenge)
      expect((await flow.redeem(row.client, code, withoutVerifier)).status).toBe(200)
    },
  )

  test.each([
    { pkce: 'public', client: photoBook },
    { pkce: 'all', client: photoBook },
    { pkce: 'all', client: photoPrint },
  ] as const)(
    'that is required of $pkce clients binds $client.registration.client_id [pkce-1]',
    async (row) => {
      const { flow } = stage({ pkce: row.pkce })
      const request = { ...authorizationRequest(row.client), ...withoutChallenge }
      expect(redirectionOf(await flow.ask(request, 'alice')).parameters).toMatchObject({
        error: 'invalid_request',
      })
    },
  )

  test('is checked for whoever uses it, required or not [pkce-10]', async () => {
    const { flow } = stage({ pkce: 'none' })
    const code = await flow.approve(photoPrint)
    expect(refusalOf(await flow.redeem(photoPrint, code, withoutVerifier))).toBe('400 invalid_grant')
    expect(refusalOf(await flow.redeem(photoPrint, code, { code_verifier: 'x'.repeat(43) }))).toBe(
      '400 invalid_grant',
    )
    expect((await flow.redeem(photoPrint, code)).status).toBe(200)
  })

  test('binds each code to its own challenge: the code of another request is no use [code-11]', async () => {
    const { flow } = stage()
    const code_challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    const page = await flow.ask(
      { ...authorizationRequest(photoBook), code_challenge: 'A'.repeat(43) },
      'alice',
    )
    const injected = codeOf(await flow.decide(page, 'approve', 'alice'))
    const own = await flow.approve(photoBook, { code_challenge })
    expect(refusalOf(await flow.redeem(photoBook, injected))).toBe('400 invalid_grant')
    expect((await flow.redeem(photoBook, own, { code_verifier: codeVerifier })).status).toBe(200)
  })
})
