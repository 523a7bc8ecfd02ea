import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, type RepeatedFields } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'

// RFC 7636, appendix B.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

test.each<[string, RepeatedFields, string]>([
  ['a letter less [pkce-8]', { code_challenge: challenge.slice(1) }, 'pkce_challenge_malformed'],
  ['padding [pkce-8]', { code_challenge: `${challenge}=` }, 'pkce_challenge_malformed'],
  ['plain base64 [pkce-8]', { code_challenge: challenge.replace('-', '+') }, 'pkce_challenge_malformed'],
  [
    'a letter beyond ASCII [pkce-8]',
    { code_challenge: `É${challenge.slice(1)}` },
    'pkce_challenge_malformed',
  ],
  ['a line break at its end [pkce-8]', { code_challenge: `${challenge}\n` }, 'pkce_challenge_malformed'],
  ['a twin [pkce-9]', { code_challenge: [challenge, challenge] }, 'parameter_malformed'],
  ['a method twice [pkce-9]', { code_challenge_method: ['S256', 'S256'] }, 'parameter_malformed'],
  ['a method and a space', { code_challenge_method: 'S256 ' }, 'pkce_method_unsupported'],
])('A challenge with %s is refused of every client', async (_what, bend, reason) => {
  for (const [pkce, client] of [
    ['public', photoBook],
    ['none', photoPrint],
  ] as const) {
    const { flow, failures } = setStage({ pkce })
    const asked = { ...authorizationRequest(client), code_challenge: challenge, ...bend }
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect invalid_request')
    expect(failures).toMatchObject([{ reason }])
  }
})

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
