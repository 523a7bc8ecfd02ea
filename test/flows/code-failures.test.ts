import { photoBook, photoPrint } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import type { Fields } from '../support/flows/flow'
import { codeVerifier } from '../support/flows/proof-key'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const wrong: readonly [string, Fields][] = [
  ['a wrong verifier', { code_verifier: codeVerifier.toLowerCase() }],
  ['a verifier that is too short', { code_verifier: 'short' }],
  ['no verifier', { code_verifier: undefined }],
  ['an empty verifier', { code_verifier: '' }],
  ['another redirect_uri', { redirect_uri: 'https://evil.example/callback' }],
  ['a redirect_uri with a slash more', { redirect_uri: 'https://book.example/callback/' }],
  ['no redirect_uri, which the authorization request had', { redirect_uri: undefined }],
]

describeOnStores('A redemption', (stage) => {
  test.each(wrong)('with %s is refused, and four of them leave the code good [pkce-2]', async (_, bend) => {
    const { flow } = stage()
    const code = await flow.approve(photoBook)
    for (let attempt = 1; attempt <= 4; attempt += 1)
      expect(refusalOf(await flow.redeem(photoBook, code, bend))).toBe('400 invalid_grant')
    tokensOf(await flow.redeem(photoBook, code))
  })

  test.each(wrong)('with %s burns the code at the fifth time [code-14]', async (_, bend) => {
    const { flow } = stage()
    const code = await flow.approve(photoBook)
    for (let attempt = 1; attempt <= 5; attempt += 1) await flow.redeem(photoBook, code, bend)
    expect(refusalOf(await flow.redeem(photoBook, code))).toBe('400 invalid_grant')
  })

  test('gets no more than five guesses from parallel requests either [code-15]', async () => {
    const { flow, failures } = stage()
    const code = await flow.approve(photoBook)
    const guess = { code_verifier: 'x'.repeat(43) }
    const guesses = await Promise.all(Array.from({ length: 12 }, () => flow.redeem(photoBook, code, guess)))
    expect(new Set(guesses.map(refusalOf))).toEqual(new Set(['400 invalid_grant']))
    expect(failures.filter(({ reason }) => reason === 'pkce_verifier_wrong')).toHaveLength(5)
    expect(refusalOf(await flow.redeem(photoBook, code))).toBe('400 invalid_grant')
  })

  test('with a redirect_uri that the authorization request left out needs the right one [redirect-10]', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoBook, { redirect_uri: undefined })
    const bend = { redirect_uri: 'https://evil.example/callback' }
    expect(refusalOf(await flow.redeem(photoBook, code, bend))).toBe('400 invalid_grant')
    tokensOf(await flow.redeem(photoBook, code))
  })

  test('with a verifier where there was no challenge is refused [pkce-3]', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoPrint, {
      code_challenge: undefined,
      code_challenge_method: undefined,
    })
    expect(refusalOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
    tokensOf(await flow.redeem(photoPrint, code, { code_verifier: undefined }))
  })

  test('of what is no code is refused [code-12]', async () => {
    const { flow } = stage()
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const made = `ac_${'A'.repeat(64)}`
    for (const code of ['garbage', made, accessToken, refreshToken, accessToken.replace('at_', 'ac_')])
      expect(refusalOf(await flow.redeem(photoBook, code))).toBe('400 invalid_grant')
    expect((await flow.photos(accessToken)).status).toBe(200)
  })

  test('of a code with a byte changed is refused, and changes nothing [code-13]', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoBook)
    const forged = code.slice(0, -1) + (code.endsWith('A') ? 'B' : 'A')
    for (let attempt = 1; attempt <= 6; attempt += 1)
      expect(refusalOf(await flow.redeem(photoBook, forged))).toBe('400 invalid_grant')
    const { accessToken } = tokensOf(await flow.redeem(photoBook, code))
    expect(refusalOf(await flow.redeem(photoBook, forged))).toBe('400 invalid_grant')
    expect((await flow.photos(accessToken)).status).toBe(200)
  })

  test.each(['', undefined])('without a code (%p) is invalid_request', async (code) => {
    const { flow } = stage()
    expect(refusalOf(await flow.redeem(photoBook, 'x', { code }))).toBe('400 invalid_request')
  })

  test.each([
    ['no grant_type', undefined, '400 invalid_request'],
    ['an empty grant_type', '', '400 invalid_request'],
    ['an unknown grant_type', 'password', '400 unsupported_grant_type'],
    ['a grant_type in another case', 'Authorization_Code', '400 unsupported_grant_type'],
    ['a grant_type that is a name of JavaScript', '__proto__', '400 unsupported_grant_type'],
    [
      'a grant_type of an extension',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
      '400 unsupported_grant_type',
    ],
    ['a grant_type of other clients', 'client_credentials', '400 unauthorized_client'],
  ])('with %s is refused, and the code stays good', async (_, grant_type, refusal) => {
    const { flow } = stage()
    const code = await flow.approve(photoBook)
    expect(refusalOf(await flow.redeem(photoBook, code, { grant_type }))).toBe(refusal)
    tokensOf(await flow.redeem(photoBook, code))
  })
})
