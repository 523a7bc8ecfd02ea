import { bent, type ClientApplication, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, type Fields, type RepeatedFields } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { codeVerifier } from '../support/flows/proof-key'
import { setStage } from '../support/flows/stage'

const without = { code_challenge: undefined, code_challenge_method: undefined }
const refused = 'redirect invalid_request'
const challengeOf = (code_challenge: string) => ({ code_challenge })
const methodOf = (code_challenge_method?: string) => ({ code_challenge_method })

test.each<
  [
    title: string,
    bend: RepeatedFields,
    outcome: string,
    client?: ClientApplication,
    pkce?: 'public' | 'all' | 'none',
  ]
>([
  ['[PKCE-1] a public client sends a challenge', {}, 'question'],
  ['[PKCE-1, OIC-55] a public client without a challenge is refused [pkce-1]', without, refused],
  ['[PKCE-1] an empty challenge is none [pkce-4]', { ...without, code_challenge: '' }, refused],
  ['[PKCE-1] a confidential client may leave it out', without, 'question', photoPrint],
  ['[PKCE-1, MCP-1] unless the server demands it of all', without, refused, photoPrint, 'all'],
  ['[PKCE-1] a server may demand it of nobody', without, 'question', photoBook, 'none'],
  ['[PKCE-2] the method plain is refused [pkce-6]', methodOf('plain'), refused],
  ['[PKCE-2] so is no method, which means plain', methodOf(), refused],
  ['[PKCE-2] and S256 in another letter case', methodOf('s256'), refused],
  ['[PKCE-2] and a method that nobody knows', methodOf('S512'), refused, photoPrint, 'none'],
  ['[PKCE-2] a method without a challenge lost something [pkce-5]', challengeOf(''), refused, photoPrint],
  ['[PKCE-3] a challenge of 42 characters', challengeOf('A'.repeat(42)), refused],
  ['[PKCE-3] a challenge of 44 characters', challengeOf('A'.repeat(44)), refused],
  ['[PKCE-3] a challenge in plain base64 [pkce-8]', challengeOf('+'.padEnd(43, 'A')), refused],
  ['[PKCE-3] a challenge and a line break [pkce-8]', challengeOf(`${'A'.repeat(43)}\n`), refused],
  ['[PKCE-3] two challenges [pkce-9]', { code_challenge: ['A'.repeat(43), 'A'.repeat(43)] }, refused],
  ['[PKCE-3] a challenge with another character', challengeOf(`${'A'.repeat(42)}~`), refused],
])('%s', async (_title, bend, outcome, client = photoBook, pkce = 'public') => {
  const { flow } = setStage({ pkce })
  expect(outcomeOf(await flow.ask({ ...authorizationRequest(client), ...bend }, 'alice'))).toBe(outcome)
})

// RFC 7636, appendix B: the verifier of the stories.
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const proven = (code_verifier: string | undefined) => ({ code_verifier })
const asked = { code_challenge: challenge }
const invalid = '400 invalid_grant'

test.each<[title: string, asked: Fields, bend: Fields, outcome: string, client?: ClientApplication]>([
  ['[PKCE-4] the example of the RFC is good', asked, proven(codeVerifier), 'tokens'],
  ['[PKCE-4, OIC-55] a wrong verifier', asked, proven(codeVerifier.toLowerCase()), invalid],
  ['[PKCE-4] the challenge itself', asked, proven(challenge), invalid],
  ['[PKCE-4] no verifier [pkce-10]', asked, proven(undefined), invalid],
  ['[PKCE-4, MCP-1] no verifier of a confidential client', asked, proven(undefined), invalid, photoPrint],
  ['[PKCE-4] the verifier of another request [code-11]', challengeOf('A'.repeat(43)), {}, invalid],
  ['[PKCE-5] a verifier of 42 characters', asked, proven('x'.repeat(42)), invalid],
  ['[PKCE-5] a verifier of 129 characters', asked, proven('x'.repeat(129)), invalid],
  ['[PKCE-5] a verifier with another character', asked, proven(`${codeVerifier}+`), invalid],
  ['[PKCE-6] a verifier where there was no challenge [pkce-3]', without, {}, invalid, photoPrint],
  ['[PKCE-6] neither of both', without, proven(undefined), 'tokens', photoPrint],
])('%s', async (_title, request, bend, outcome, client = photoBook) => {
  const { flow } = setStage()
  const code = await flow.approve(client, request)
  expect(outcomeOf(await flow.redeem(client, code, bend))).toBe(outcome)
})

test('[PKCE-7] the metadata lists S256 alone', async () => {
  const { body } = await setStage().flow.open('/.well-known/oauth-authorization-server')
  expect(body.code_challenge_methods_supported).toEqual(['S256'])
})

test('[PKCE-8] the challenge stays with its code: neither is good with the other of another request', async () => {
  const twice = bent(photoBook, { redirect_uris: ['https://book.example/callback'] })
  const { flow } = setStage({ clients: [twice.registration] })
  const injected = await flow.approve(twice, challengeOf('B'.repeat(43)))
  const own = await flow.approve(twice)
  expect(outcomeOf(await flow.redeem(twice, injected))).toBe(invalid)
  expect(outcomeOf(await flow.redeem(twice, own))).toBe('tokens')
})
