import type { GuardedAccess } from '../../lib/index'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

describeOnStores('A refresh', (stage) => {
  test('that is repeated within the grace gets the same pair again', async () => {
    const { flow, clock } = stage()
    const { refreshToken } = await flow.tokens(photoBook)
    const first = tokensOf(await flow.refresh(photoBook, refreshToken))
    clock.advance(29)
    const again = tokensOf(await flow.refresh(photoBook, refreshToken))
    expect(again).toEqual({ ...first, expiresIn: first.expiresIn - 29 })
    tokensOf(await flow.refresh(photoBook, again.refreshToken))
  })

  test('that is repeated within the grace gets no tokens that have expired', async () => {
    const { flow, clock } = stage({ lifetimes: { accessToken: 10 } })
    const { refreshToken } = await flow.tokens(photoBook)
    await flow.refresh(photoBook, refreshToken)
    clock.advance(20)
    const again = tokensOf(await flow.refresh(photoBook, refreshToken))
    expect(again.expiresIn).toBeGreaterThan(0)
    expect((await flow.photos(again.accessToken)).status).toBe(200)
  })

  test.each([5, 100])(
    'that is repeated within the grace is refused once its refresh token has expired (access token of %d s)',
    async (accessToken) => {
      const lifetimes = { accessToken, refreshToken: 10, refreshTokenGrace: 60 }
      const { flow, clock } = stage({ lifetimes })
      const { refreshToken } = await flow.tokens(photoBook)
      await flow.refresh(photoBook, refreshToken)
      clock.advance(20)
      expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
    },
  )

  test('with a token two generations old kills everything, grace or not [refresh-2]', async () => {
    const { flow } = stage()
    const first = await flow.tokens(photoBook)
    const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
    const third = tokensOf(await flow.refresh(photoBook, second.refreshToken))
    expect(refusalOf(await flow.refresh(photoBook, first.refreshToken))).toBe('400 invalid_grant')
    expect((await flow.photos(third.accessToken)).status).toBe(401)
    expect(refusalOf(await flow.refresh(photoBook, third.refreshToken))).toBe('400 invalid_grant')
  })

  test('without a grace kills everything at the first repetition', async () => {
    const { flow } = stage({ lifetimes: { refreshTokenGrace: 0 } })
    const { refreshToken } = await flow.tokens(photoBook)
    const second = tokensOf(await flow.refresh(photoBook, refreshToken))
    expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
    expect((await flow.photos(second.accessToken)).status).toBe(401)
    expect(refusalOf(await flow.refresh(photoBook, second.refreshToken))).toBe('400 invalid_grant')
  })

  test('by another client is refused, and changes nothing, within the grace and after it [refresh-5]', async () => {
    const { flow, clock } = stage()
    const first = await flow.tokens(photoBook)
    expect(refusalOf(await flow.refresh(photoPrint, first.refreshToken))).toBe('400 invalid_grant')
    const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
    for (const seconds of [0, 31]) {
      clock.advance(seconds)
      expect(refusalOf(await flow.refresh(photoPrint, first.refreshToken))).toBe('400 invalid_grant')
      expect(refusalOf(await flow.refresh(photoPrint, second.refreshToken))).toBe('400 invalid_grant')
    }
    expect((await flow.photos(second.accessToken)).status).toBe(200)
    tokensOf(await flow.refresh(photoBook, second.refreshToken))
  })

  test('of a confidential client without its secret is refused, and changes nothing [refresh-6]', async () => {
    const { flow } = stage()
    const { refreshToken } = await flow.tokens(photoPrint)
    const { registration } = photoPrint
    expect(refusalOf(await flow.refresh({ registration }, refreshToken))).toBe('401 invalid_client')
    expect(refusalOf(await flow.refresh({ registration, secret: 'guess' }, refreshToken))).toBe(
      '401 invalid_client',
    )
    tokensOf(await flow.refresh(photoPrint, refreshToken))
  })

  test('is for clients that may use the grant; others get no refresh token to begin with [refresh-14]', async () => {
    const client = bent(photoPrint, { grant_types: ['authorization_code'] })
    const { flow } = stage({ clients: [client.registration, photoBook.registration] })
    expect((await flow.tokens(client)).refreshToken).toBe('')
    const { refreshToken } = await flow.tokens(photoBook)
    expect(refusalOf(await flow.refresh(client, refreshToken))).toBe('400 unauthorized_client')
  })

  test('keeps the 32 newest access tokens of an authorization good until they expire; the 33rd ends the oldest [token-21]', async () => {
    const { flow } = stage()
    const pairs = [await flow.tokens(photoBook)]
    const statuses = async () =>
      Promise.all(pairs.map(async ({ accessToken }) => (await flow.photos(accessToken)).status))
    const refreshed = async () =>
      pairs.push(tokensOf(await flow.refresh(photoBook, String(pairs.at(-1)?.refreshToken))))
    while (pairs.length < 32) await refreshed()
    expect(await statuses()).toEqual(pairs.map(() => 200))
    await refreshed()
    expect(await statuses()).toEqual([401, ...pairs.slice(1).map(() => 200)])
  })
})

const both = 'photos:read photos:print'

describeOnStores('The scope of a refresh', (stage) => {
  test.each([undefined, '', both])('is all that was granted when it asks for %p', async (scope) => {
    const { flow } = stage()
    const { refreshToken } = await flow.tokens(photoBook)
    expect(tokensOf(await flow.refresh(photoBook, refreshToken, { scope })).scope).toBe(both)
  })

  test('that asks for less when it is repeated gets an access token of its own with less, the same each time', async () => {
    const { flow } = stage()
    const { refreshToken } = await flow.tokens(photoBook)
    const repeat = async (scope?: string) =>
      tokensOf(await flow.refresh(photoBook, refreshToken, scope === undefined ? {} : { scope }))
    const first = await repeat()
    const narrow = await repeat('photos:print')
    expect(narrow).toMatchObject({ scope: 'photos:print', refreshToken: first.refreshToken })
    expect((await flow.photos(narrow.accessToken)).status).toBe(403)
    expect(await repeat('photos:print')).toEqual(narrow)
    expect(await repeat('photos:print photos:read')).toEqual(first)
    expect((await flow.photos(first.accessToken)).body).toMatchObject({
      scope: ['photos:read', 'photos:print'],
    })
  })

  test('that was narrower at first is all that was granted when the repetition names none', async () => {
    const { flow } = stage()
    const { refreshToken } = await flow.tokens(photoBook)
    const narrow = tokensOf(await flow.refresh(photoBook, refreshToken, { scope: 'photos:print' }))
    const wide = tokensOf(await flow.refresh(photoBook, refreshToken))
    expect(wide).toMatchObject({ scope: both, refreshToken: narrow.refreshToken })
    expect(wide.accessToken).not.toBe(narrow.accessToken)
  })
})

const grant_type = 'client_credentials'

describeOnStores('A client for itself', (stage) => {
  test('has no subject at a guarded route [token-20]', async () => {
    const seen: (GuardedAccess | undefined)[] = []
    const { flow } = stage(
      {},
      {
        mount: (app, oauth) => {
          app.use(oauth.router())
          app.get('/photos', oauth.bearerGuard('photos:read'), (request, response) => {
            seen.push(request.oauth)
            response.end()
          })
        },
      },
    )
    const { accessToken } = tokensOf(await flow.request(nightlyReport, { grant_type, scope: 'photos:read' }))
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect(seen).toMatchObject([{ clientId: 'nightly-report', scope: ['photos:read'] }])
    expect(seen[0]?.subject).toBeUndefined()
  })

  test('without a scope gets the default one, as far as it may have it', async () => {
    const { flow } = stage({ defaultScope: 'photos:read photos:print' })
    expect(tokensOf(await flow.request(nightlyReport, { grant_type })).scope).toBe('photos:read')
  })

  test.each([undefined, '', 'photos:print', 'photos:read  reports:write', 'unheard-of'])(
    'with the scope %p gets invalid_scope [token-10]',
    async (scope) => {
      const { flow, store } = stage()
      expect(refusalOf(await flow.request(nightlyReport, { grant_type, scope }))).toBe('400 invalid_scope')
      expect(store.calls.save).toBe(0)
    },
  )
})
