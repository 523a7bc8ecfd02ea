import { codeToken } from '../../docs/examples/code-token'
import { answeredPageOf } from '../support/flows/answered-page'
import { bent, photoBook, type ClientApplication } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { heardOn } from '../support/flows/heard-stage'
import { codeOf, fragmentOf, redirectionOf } from '../support/flows/redirection'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const asked = authorizationRequest(photoBook)

/** A question that alice answers; later, the answer must have arrived at the client. */
async function shown({ flow, clock }: Stage, request: Parameters<Stage['flow']['ask']>[0] = asked) {
  const page = await flow.ask(request, 'alice')
  const decide = (decision: string, owner = 'alice') => flow.decide(page, decision, owner)
  return { page, decide, later: () => clock.advance(2) }
}

describeOnStores('A decision that is sent again', (stage) => {
  test.each(['approve', 'deny'])('gets the same answer: %s', async (decision) => {
    const set = stage()
    const { decide, later } = await shown(set)
    const first = redirectionOf(await decide(decision))
    later()
    expect(redirectionOf(await decide(decision))).toEqual(first)
    expect(redirectionOf(await decide(decision))).toEqual(first)
  })

  test('gets a code that is bound to what the first was bound to, and good once', async () => {
    const set = stage()
    const { decide, later } = await shown(set)
    codeOf(await decide('approve'))
    later()
    const code = codeOf(await decide('approve'))
    const guess = { code_verifier: 'x'.repeat(43) }
    expect(refusalOf(await set.flow.redeem(photoBook, code, guess))).toBe('400 invalid_grant')
    expect(codeOf(await decide('approve'))).toBe(code)
    const { accessToken, refreshToken } = tokensOf(await set.flow.redeem(photoBook, code))
    expect(refusalOf(await set.flow.redeem(photoBook, code))).toBe('400 invalid_grant')
    expect((await set.flow.photos(accessToken)).status).toBe(401)
    expect(refusalOf(await set.flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
    expect(errorPageOf(await decide('approve'))).toBe('400 invalid_request')
  })

  test('counts the failures of the code on, and gets none that is burnt', async () => {
    const set = stage()
    const { decide, later } = await shown(set)
    const code = codeOf(await decide('approve'))
    later()
    for (let guess = 0; guess < 5; guess++) {
      expect(codeOf(await decide('approve'))).toBe(code)
      await set.flow.redeem(photoBook, code, { code_verifier: 'x'.repeat(43) })
    }
    expect(errorPageOf(await decide('approve'))).toBe('400 invalid_request')
  })

  test('gets the code for no longer than it lives', async () => {
    const set = stage()
    const { decide } = await shown(set)
    const code = codeOf(await decide('approve'))
    set.clock.advance(59)
    expect(codeOf(await decide('approve'))).toBe(code)
    set.clock.advance(1)
    expect(errorPageOf(await decide('approve'))).toBe('400 invalid_request')
  })

  test('gets a page once the code is redeemed, also after a refresh, and the tokens live', async () => {
    const set = stage()
    const { decide } = await shown(set)
    const code = codeOf(await decide('approve'))
    const tokens = tokensOf(await set.flow.redeem(photoBook, code))
    expect(answeredPageOf(await decide('approve'))).toBe('https://book.example/')
    const { accessToken } = tokensOf(await set.flow.refresh(photoBook, tokens.refreshToken))
    expect(answeredPageOf(await decide('approve'))).toBe('https://book.example/')
    for (const token of [tokens.accessToken, accessToken])
      expect((await set.flow.photos(token)).status).toBe(200)
  })

  test('waits for a code that is just given, which may be on its way, and gets a page when it is redeemed by then', async () => {
    const set = stage()
    const { decide } = await shown(set)
    const code = codeOf(await decide('approve'))
    const again = decide('approve')
    const { accessToken } = tokensOf(await set.flow.redeem(photoBook, code))
    expect(answeredPageOf(await again)).toBe('https://book.example/')
    expect((await set.flow.photos(accessToken)).status).toBe(200)
  })

  test('gets no access token twice, nor a code that came with one', async () => {
    const terms = { grant_types: ['authorization_code', 'implicit'], response_types: ['code token'] }
    const album = bent(photoBook, terms)
    const set = stage({ clients: [album.registration], responseTypes: [codeToken] })
    const { decide, later } = await shown(set, { ...asked, response_type: 'code token' })
    const { code = '', access_token = '' } = fragmentOf(await decide('approve')).parameters
    later()
    expect(answeredPageOf(await decide('approve'))).toBe('https://book.example/')
    expect((await set.flow.photos(access_token)).status).toBe(200)
    tokensOf(await set.flow.redeem(album, code))
  })

  test.each(['approve', 'deny'])('is nobody’s but the owner’s: %s', async (decision) => {
    const set = stage()
    const { decide, later, page } = await shown(set)
    await decide(decision)
    later()
    expect(errorPageOf(await decide(decision, 'mallory'))).toBe('400 invalid_request')
    const nobody = await set.flow.decide(page, decision)
    expect(errorPageOf(nobody)).toBe('400 invalid_request')
  })

  test('tells that it is one, with the credential of the first', async () => {
    const { flow, heard, clock } = heardOn(stage)
    const page = await flow.ask(asked, 'alice')
    await flow.decide(page, 'approve', 'alice')
    clock.advance(2)
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    await flow.redeem(photoBook, code)
    await flow.decide(page, 'approve', 'alice')
    expect(heard).toMatchObject([
      { event: 'approved', reason: undefined, responseType: 'code' },
      { event: 'approved', reason: 'repeated', responseType: 'code' },
      { event: 'issued', responseType: undefined },
    ])
    expect(heard[0]?.credential).toBe(heard[1]?.credential)
  })

  test('gets nothing of a client that lost what it was answered by', async () => {
    let current: ClientApplication = photoBook
    const set = stage({ clients: { find: async () => current.registration } })
    const { decide, later } = await shown(set)
    const code = codeOf(await decide('approve'))
    later()
    current = bent(photoBook, { redirect_uris: ['https://book.example/new'] })
    expect(errorPageOf(await decide('approve'))).toBe('400 invalid_request')
    current = bent(photoBook, { disabled: true })
    expect(errorPageOf(await decide('approve'))).toBe('400 invalid_request')
    current = photoBook
    expect(codeOf(await decide('approve'))).toBe(code)
    tokensOf(await set.flow.redeem(photoBook, code))
    current = bent(photoBook, { disabled: true })
    expect(errorPageOf(await decide('approve'))).toBe('400 invalid_request')
  })

  test.each<[string, Partial<ClientApplication['registration']>, string | undefined]>([
    [
      'the page of the client',
      { client_uri: 'https://www.book.example/start' },
      'https://www.book.example/start',
    ],
    [
      'the first origin on the web',
      { redirect_uris: ['https://book.example/callback', 'https://b.example/'] },
      'https://book.example/',
    ],
    [
      'no loopback address whose port is not known',
      {
        redirect_uris: ['https://book.example/callback', 'http://127.0.0.1/cb'],
        loopback_redirect_uris: true,
      },
      'https://book.example/',
    ],
  ])('gets a page that links to %s', async (_what, bend, home) => {
    const client = bent(photoBook, bend)
    const set = stage({ clients: [client.registration] })
    const { decide } = await shown(set, authorizationRequest(client))
    await set.flow.redeem(client, codeOf(await decide('approve')))
    expect(answeredPageOf(await decide('approve'))).toBe(home)
  })

  test.each([
    { redirect_uris: ['com.example.book:/callback'] },
    { redirect_uris: ['http://127.0.0.1/callback'], loopback_redirect_uris: true },
  ])('gets a page without a link where the client has no place on the web: %j', async (bend) => {
    const client = bent(photoBook, bend)
    const set = stage({ clients: [client.registration] })
    const { decide } = await shown(set, authorizationRequest(client))
    const location = String((await decide('approve')).get('Location'))
    await set.flow.redeem(client, String(new URL(location).searchParams.get('code')))
    expect(answeredPageOf(await decide('approve'))).toBeUndefined()
  })
})
