import { photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

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
