import { photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const both = 'photos:read photos:print'

describeOnStores('The scope of a refresh', (stage) => {
  test.each([undefined, '', both])('is all that was granted when it asks for %p', async (scope) => {
    const { flow } = stage()
    const { refreshToken } = await flow.tokens(photoBook)
    expect(tokensOf(await flow.refresh(photoBook, refreshToken, { scope })).scope).toBe(both)
  })

  test('can be narrower, for that access token alone: the next refresh may have it all again', async () => {
    const { flow } = stage()
    const first = await flow.tokens(photoBook)
    const narrow = tokensOf(await flow.refresh(photoBook, first.refreshToken, { scope: 'photos:print' }))
    expect(narrow.scope).toBe('photos:print')
    expect((await flow.photos(narrow.accessToken)).status).toBe(403)
    expect((await flow.photos(first.accessToken)).status).toBe(200)
    const wide = tokensOf(await flow.refresh(photoBook, narrow.refreshToken))
    expect(wide.scope).toBe(both)
    expect((await flow.photos(wide.accessToken)).body).toMatchObject({
      scope: ['photos:read', 'photos:print'],
    })
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

  test.each([
    ['the client may have but the owner did not grant', 'photos:print'],
    ['the server has but not the client', 'photos:read reports:write'],
    ['nobody knows', 'unheard-of'],
    ['is malformed', 'photos:read  photos:read'],
    ['is in another case', 'PHOTOS:READ'],
  ])('that %s is invalid_scope, and the token stays good', async (_, scope) => {
    const { flow } = stage()
    const { refreshToken } = await flow.tokens(photoBook, { scope: 'photos:read' })
    expect(refusalOf(await flow.refresh(photoBook, refreshToken, { scope }))).toBe('400 invalid_scope')
    expect(tokensOf(await flow.refresh(photoBook, refreshToken)).scope).toBe('photos:read')
  })

  test('that is repeated is invalid_request, and the token stays good', async () => {
    const { flow } = stage()
    const { refreshToken } = await flow.tokens(photoBook)
    const body = `grant_type=refresh_token&client_id=photo-book&refresh_token=${refreshToken}&scope=photos:read&scope=photos:print`
    expect(refusalOf(await flow.submit('/token', body))).toBe('400 invalid_request')
    tokensOf(await flow.refresh(photoBook, refreshToken))
  })
})
