import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { photoBook, photoFrame, photoPrint, bent } from '../support/flows/clients'
import { authorizationRequest, type Fields } from '../support/flows/flow'
import { codeVerifier } from '../support/flows/proof-key'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { options } from '../../docs/examples/code-token'
import { implicit } from '../../lib/index'
import { answeredPageOf } from '../support/flows/answered-page'
import { fragmentOf, redirectionOf } from '../support/flows/redirection'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'
import { altered } from '../support/altered'

describe('Codes', () => {
  describeOnStores('A redemption', (stage) => {
    test('that is wrong is refused: four of any kind leave the code good, and the fifth burns it [pkce-2, code-14]', async () => {
      const wrong: readonly Fields[] = [
        { code_verifier: codeVerifier.toLowerCase() },
        { code_verifier: undefined },
        { redirect_uri: 'https://evil.example/callback' },
        { redirect_uri: undefined },
        { code_verifier: 'short' },
      ]
      const { flow } = stage()
      const [good, burnt] = [await flow.approve(photoBook), await flow.approve(photoBook)]
      for (const bend of wrong.slice(1))
        expect(refusalOf(await flow.redeem(photoBook, good, bend))).toBe('400 invalid_grant')
      tokensOf(await flow.redeem(photoBook, good))
      for (const bend of wrong) await flow.redeem(photoBook, burnt, bend)
      expect(refusalOf(await flow.redeem(photoBook, burnt))).toBe('400 invalid_grant')
    })

    test('is refused once the host has revoked the authorization of the code', async () => {
      const { flow, oauth } = stage()
      const ids: (string | undefined)[] = []
      oauth.events.on('approved', ({ authorizationId }) => ids.push(authorizationId))
      const code = await flow.approve(photoBook)
      for (const id of ids) await oauth.revoke(id ?? '')
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

    test('of what is no code, or of one with a byte changed, is refused and changes nothing [code-12, code-13]', async () => {
      const { flow } = stage()
      const tokens = await flow.tokens(photoBook)
      const code = await flow.approve(photoBook)
      const forged = altered(code)
      for (const text of ['garbage', tokens.accessToken, tokens.refreshToken, ...Array(6).fill(forged)])
        expect(refusalOf(await flow.redeem(photoBook, text))).toBe('400 invalid_grant')
      const { accessToken } = tokensOf(await flow.redeem(photoBook, code))
      expect(refusalOf(await flow.redeem(photoBook, forged))).toBe('400 invalid_grant')
      for (const token of [tokens.accessToken, accessToken])
        expect((await flow.photos(token)).status).toBe(200)
    })
  })

  describeOnStores('A code that is redeemed a second time', (stage) => {
    test('still kills when the code has long expired, without its verifier, which a thief may lack, and nothing of another approval [code-9]', async () => {
      const { flow, clock } = stage()
      const code = await flow.approve(photoBook)
      const { accessToken } = tokensOf(await flow.redeem(photoBook, code))
      clock.advance(3000)
      const other = await flow.tokens(photoBook)
      const bare = { code_verifier: undefined, redirect_uri: undefined }
      expect(refusalOf(await flow.redeem(photoBook, code, bare))).toBe('400 invalid_grant')
      expect((await flow.photos(accessToken)).status).toBe(401)
      expect((await flow.photos(other.accessToken)).status).toBe(200)
    })
  })

  describeOnStores('A stolen code', (stage) => {
    test('is worth nothing to another client, however often it tries, and a replay by it kills nothing [code-6, code-10]', async () => {
      const { flow } = stage()
      const code = await flow.approve(photoPrint)
      for (let attempt = 0; attempt < 6; attempt += 1)
        expect(refusalOf(await flow.redeem(photoBook, code))).toBe('400 invalid_grant')
      const { accessToken } = tokensOf(await flow.redeem(photoPrint, code))
      for (const thief of [photoBook, photoFrame])
        expect(refusalOf(await flow.redeem(thief, code))).toBe('400 invalid_grant')
      expect((await flow.photos(accessToken)).status).toBe(200)
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

  const [registration] = options.clients
  if (registration === undefined) throw new Error('The example registers no client.')
  const album = { registration }

  async function answered({ flow }: Stage, response_type: string): Promise<Readonly<Record<string, string>>> {
    const page = await flow.ask({ ...authorizationRequest(album), response_type }, 'alice')
    const { uri, parameters } = fragmentOf(await flow.decide(page, 'approve', 'alice'))
    expect(uri).toBe('https://album.example/callback')
    return parameters
  }

  describeOnStores('The response type of docs/examples/code-token.ts', (stage) => {
    test('gives a code and a token that are good beside each other', async () => {
      const set = stage(options)
      const { code = '', access_token = '' } = await answered(set, 'code token')
      expect((await set.flow.photos(access_token)).body).toMatchObject({
        subject: 'alice',
        clientId: 'album',
      })
      const { accessToken, refreshToken } = tokensOf(await set.flow.redeem(album, code))
      for (const token of [access_token, accessToken]) expect((await set.flow.photos(token)).status).toBe(200)
      tokensOf(await set.flow.refresh(album, refreshToken))
      expect((await set.flow.photos(access_token)).status).toBe(200)
    })

    test('has a code that is good once: its replay kills the token of the fragment as well [code-21]', async () => {
      const set = stage(options)
      const { code = '', access_token = '' } = await answered(set, 'token code')
      const { accessToken } = tokensOf(await set.flow.redeem(album, code))
      expect(refusalOf(await set.flow.redeem(album, code))).toBe('400 invalid_grant')
      for (const token of [access_token, accessToken]) expect((await set.flow.photos(token)).status).toBe(401)
    })

    test('has a token that its client can revoke while the code waits, and the code goes with it', async () => {
      const set = stage({ ...options, clients: [registration, photoPrint.registration] })
      const { code = '', access_token = '' } = await answered(set, 'code token')
      for (const [client, token] of [
        [photoPrint, access_token],
        [album, code],
      ] as const) {
        expect((await set.flow.revoke(client, token)).status).toBe(200)
        expect((await set.flow.photos(access_token)).status).toBe(200)
      }
      expect((await set.flow.revoke(album, access_token)).status).toBe(200)
      expect((await set.flow.photos(access_token)).status).toBe(401)
      expect(refusalOf(await set.flow.redeem(album, code))).toBe('400 invalid_grant')
    })

    test('has a token that outlives an unredeemed code', async () => {
      const set = stage(options)
      const { code = '', access_token = '' } = await answered(set, 'code token')
      set.clock.advance(61)
      expect(refusalOf(await set.flow.redeem(album, code))).toBe('400 invalid_grant')
      expect((await set.flow.photos(access_token)).status).toBe(200)
      set.clock.advance(3600)
      expect((await set.flow.photos(access_token)).status).toBe(401)
    })
  })

  const terms = { grant_types: ['implicit'], response_types: ['token'] }
  const slideshow = bent(photoBook, terms)
  const on = { clients: [slideshow.registration], plugins: [implicit()] }
  const asked = {
    ...authorizationRequest(slideshow),
    response_type: 'token',
    code_challenge: undefined,
    code_challenge_method: undefined,
  }

  describeOnStores('The implicit grant', (stage) => {
    test('sends the failure of the store in the fragment', async () => {
      const { flow, store } = stage(on)
      const page = await flow.ask(asked, 'alice')
      store.begin('fails', 'write')
      const { parameters } = fragmentOf(await flow.decide(page, 'approve', 'alice'))
      expect(parameters).toMatchObject({ error: 'temporarily_unavailable', state: asked.state })
      expect(parameters).not.toHaveProperty('access_token')
    })

    test('gives one token for one decision, however often it comes [implicit-4]', async () => {
      const { flow } = stage(on)
      const page = await flow.ask(asked, 'alice')
      const approve = () => flow.decide(page, 'approve', 'alice')
      const responses = await Promise.all([approve(), approve(), approve()])
      const won = responses.filter(({ status }) => status === 303)
      expect(won.map((response) => 'access_token' in fragmentOf(response).parameters)).toEqual([true])
      for (const response of responses.filter(({ status }) => status !== 303))
        expect(answeredPageOf(response)).toBe('https://book.example/')
    })

    test('gives a token that expires, and that a revocation kills [implicit-6]', async () => {
      const { flow, clock, oauth } = stage(on)
      const token = async () => {
        const { parameters } = fragmentOf(
          await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice'),
        )
        return parameters['access_token'] ?? ''
      }
      const [lasting, revoked] = [await token(), await token()]
      await oauth.revoke((await flow.photos(revoked)).body.authorizationId)
      const status = async (accessToken: string) => (await flow.photos(accessToken)).status
      expect([await status(lasting), await status(revoked)]).toEqual([200, 401])
      clock.advance(3600)
      expect(await status(lasting)).toBe(401)
    })

    test('is off: a server without it does not know it, and a client without it may not use it [implicit-1]', async () => {
      const without = redirectionOf(await stage().flow.ask(asked, 'alice'))
      expect(without.parameters).toMatchObject({ error: 'unsupported_response_type' })
      const { flow } = stage({ ...on, clients: [photoBook.registration] })
      expect(fragmentOf(await flow.ask(asked, 'alice')).parameters).toMatchObject({
        error: 'unauthorized_client',
        state: asked.state,
      })
    })
  })
})

// RFC 7636, appendix B.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

test.each([
  ['is missing', undefined, 'pkce_verifier_missing'],
  ['is empty', '', 'pkce_verifier_missing'],
  ['has 42 letters', 'a'.repeat(42), 'pkce_verifier_malformed'],
  ['has 129 letters', 'a'.repeat(129), 'pkce_verifier_malformed'],
  ['ends in a line break', `${verifier}\n`, 'pkce_verifier_malformed'],
  ['is another one of 128 letters', 'a'.repeat(128), 'pkce_verifier_wrong'],
])(
  'A verifier that %s gets the same words as any wrong one [pkce-7, pkce-11]',
  async (_what, sent, reason) => {
    const { flow, failures } = setStage()
    const code = await flow.approve(photoBook, { code_challenge: challenge })
    const { status, body } = await flow.redeem(photoBook, code, { code_verifier: sent })
    expect([status, failures.at(-1)?.reason]).toEqual([400, reason])
    expect(body).toEqual({
      error: 'invalid_grant',
      error_description: 'The code_verifier does not prove the code_challenge.',
    })
  },
)

test('Any verifier answers its own challenge, and no other', async () => {
  const { flow } = setStage()
  const one = fc.stringMatching(/^[A-Za-z0-9\-._~]{43,128}$/)
  for (const [own, other] of fc.sample(fc.tuple(one, one), { seed: 1, numRuns: 5 })) {
    const code_challenge = createHash('sha256').update(own).digest('base64url')
    const code = await flow.approve(photoBook, { code_challenge })
    expect(outcomeOf(await flow.redeem(photoBook, code, { code_verifier: other }))).toBe('400 invalid_grant')
    expect(outcomeOf(await flow.redeem(photoBook, code, { code_verifier: own }))).toBe('tokens')
  }
})
