import { photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest, type Fields } from '../support/flows/flow'
import { codeVerifier } from '../support/flows/proof-key'
import { codeOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
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

  test('is refused once the host has revoked the authorization of the code', async () => {
    const { flow, oauth } = stage()
    const ids: (string | undefined)[] = []
    oauth.events.on('approved', ({ authorizationId }) => ids.push(authorizationId))
    const code = await flow.approve(photoBook)
    for (const id of ids) await oauth.revoke(id ?? '')
    expect(refusalOf(await flow.redeem(photoBook, code))).toBe('400 invalid_grant')
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

const clients = [photoBook, photoPrint]

describeOnStores('A code that is redeemed a second time', (stage) => {
  test.each(clients)('kills all that came of it, for $registration.client_id [code-2]', async (client) => {
    const { flow, failures } = stage()
    const code = await flow.approve(client)
    const first = tokensOf(await flow.redeem(client, code))
    const second = tokensOf(await flow.refresh(client, first.refreshToken))
    expect((await flow.photos(second.accessToken)).status).toBe(200)

    expect(refusalOf(await flow.redeem(client, code))).toBe('400 invalid_grant')
    expect(failures.at(-1)).toMatchObject({
      reason: 'code_replayed',
      clientId: client.registration.client_id,
    })
    expect((await flow.photos(first.accessToken)).status).toBe(401)
    expect((await flow.photos(second.accessToken)).status).toBe(401)
    expect(refusalOf(await flow.refresh(client, first.refreshToken))).toBe('400 invalid_grant')
    expect(refusalOf(await flow.refresh(client, second.refreshToken))).toBe('400 invalid_grant')
    expect(refusalOf(await flow.redeem(client, code))).toBe('400 invalid_grant')
  })

  test('kills nothing of another approval by the same owner', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoBook)
    const other = await flow.tokens(photoBook)
    await flow.redeem(photoBook, code)
    await flow.redeem(photoBook, code)
    expect((await flow.photos(other.accessToken)).status).toBe(200)
    tokensOf(await flow.refresh(photoBook, other.refreshToken))
  })

  test('kills even without its verifier and redirection URI, which a thief may lack', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoBook)
    const { accessToken } = tokensOf(await flow.redeem(photoBook, code))
    const bare = { code_verifier: undefined, redirect_uri: undefined }
    expect(refusalOf(await flow.redeem(photoBook, code, bare))).toBe('400 invalid_grant')
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('still kills when the code has long expired [code-9]', async () => {
    const { flow, clock } = stage()
    const code = await flow.approve(photoBook)
    const { accessToken } = tokensOf(await flow.redeem(photoBook, code))
    clock.advance(3000)
    expect(refusalOf(await flow.redeem(photoBook, code))).toBe('400 invalid_grant')
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('by many parallel requests has one winner, whose tokens die', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoBook)
    const responses = await Promise.all(Array.from({ length: 10 }, () => flow.redeem(photoBook, code)))
    const winners = responses.filter(({ status }) => status === 200)
    const losers = responses.filter(({ status }) => status !== 200)
    expect(winners).toHaveLength(1)
    expect(new Set(losers.map(refusalOf))).toEqual(new Set(['400 invalid_grant']))
    for (const { accessToken, refreshToken } of winners.map(tokensOf)) {
      expect((await flow.photos(accessToken)).status).toBe(401)
      expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
    }
  })
})

describeOnStores('A stolen code', (stage) => {
  test.each([photoPrint, photoFrame])(
    'is worth nothing to $registration.client_id, however often it tries, and stays good for its own client',
    async (thief) => {
      const { flow } = stage()
      const code = await flow.approve(photoBook)
      const bend = { redirect_uri: photoBook.registration.redirect_uris[0] }
      for (let attempt = 0; attempt < 6; attempt += 1)
        expect(refusalOf(await flow.redeem(thief, code, bend))).toBe('400 invalid_grant')
      tokensOf(await flow.redeem(photoBook, code))
    },
  )

  test('is worth nothing to a public client that only names itself [code-6]', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoPrint)
    expect(refusalOf(await flow.redeem(photoBook, code))).toBe('400 invalid_grant')
    tokensOf(await flow.redeem(photoPrint, code))
  })

  test('kills nothing when another client replays it [code-10]', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoBook)
    const { accessToken, refreshToken } = tokensOf(await flow.redeem(photoBook, code))
    expect(refusalOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
    expect((await flow.photos(accessToken)).status).toBe(200)
    tokensOf(await flow.refresh(photoBook, refreshToken))
  })

  test('with the name of its confidential client, but not the secret, changes nothing [code-5]', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoPrint)
    const { registration } = photoPrint
    for (const thief of [{ registration }, { registration, secret: 'guess' }])
      for (let attempt = 0; attempt < 6; attempt += 1)
        expect(refusalOf(await flow.redeem(thief, code))).toBe('401 invalid_client')
    const { accessToken } = tokensOf(await flow.redeem(photoPrint, code))
    await flow.redeem({ registration }, code)
    expect((await flow.photos(accessToken)).status).toBe(200)
  })
})

const days = 24 * 3600

describeOnStores('By the clock', (stage) => {
  const asked = authorizationRequest(photoPrint)

  test('a consent page may be looked at for ten minutes', async () => {
    const { flow, clock } = stage()
    const [one, other] = [await flow.ask(asked, 'alice'), await flow.ask(asked, 'alice')]
    clock.advance(599)
    codeOf(await flow.decide(one, 'approve', 'alice'))
    clock.advance(1)
    expect(errorPageOf(await flow.decide(other, 'approve', 'alice'))).toBe('400 invalid_request')
  })

  test('a code lives for one minute from its approval', async () => {
    const { flow, clock } = stage()
    const page = await flow.ask(asked, 'alice')
    clock.advance(300)
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    const late = await flow.approve(photoPrint)
    clock.advance(59)
    tokensOf(await flow.redeem(photoPrint, code))
    clock.advance(1)
    expect(refusalOf(await flow.redeem(photoPrint, late))).toBe('400 invalid_grant')
  })

  test('an access token lives for an hour, which its answer says [token-18]', async () => {
    const { flow, clock } = stage()
    const { accessToken, expiresIn } = await flow.tokens(photoPrint)
    expect(expiresIn).toBe(3600)
    clock.advance(3599)
    expect((await flow.photos(accessToken)).status).toBe(200)
    clock.advance(1)
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('an access token is valid until its own end, also after a refresh', async () => {
    const { flow, clock } = stage()
    const first = await flow.tokens(photoPrint)
    clock.advance(1800)
    const second = tokensOf(await flow.refresh(photoPrint, first.refreshToken))
    clock.advance(1799)
    expect((await flow.photos(first.accessToken)).status).toBe(200)
    clock.advance(1)
    expect((await flow.photos(first.accessToken)).status).toBe(401)
    expect((await flow.photos(second.accessToken)).status).toBe(200)
    clock.advance(1800)
    expect((await flow.photos(second.accessToken)).status).toBe(401)
  })

  test('a refresh token lives for thirty days, counted anew from each refresh [refresh-15]', async () => {
    const { flow, clock } = stage()
    const first = await flow.tokens(photoBook)
    clock.advance(30 * days - 1)
    const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
    clock.advance(30 * days - 1)
    const third = tokensOf(await flow.refresh(photoBook, second.refreshToken))
    clock.advance(30 * days)
    expect(refusalOf(await flow.refresh(photoBook, third.refreshToken))).toBe('400 invalid_grant')
  })

  test('each lifetime is as configured', async () => {
    const { flow, clock } = stage({
      lifetimes: { authorizationRequest: 5, authorizationCode: 10, accessToken: 20, refreshToken: 30 },
    })
    const page = await flow.ask(asked, 'alice')
    clock.advance(5)
    expect(errorPageOf(await flow.decide(page, 'approve', 'alice'))).toBe('400 invalid_request')
    const code = await flow.approve(photoPrint)
    clock.advance(10)
    expect(refusalOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
    const { accessToken, refreshToken, expiresIn } = await flow.tokens(photoPrint)
    expect(expiresIn).toBe(20)
    clock.advance(20)
    expect((await flow.photos(accessToken)).status).toBe(401)
    clock.advance(10)
    expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
  })
})
