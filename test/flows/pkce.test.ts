import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import type { AuthorizationServerOptions } from '../../lib/index'
import { type ClientApplication, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, type RepeatedFields } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'

// RFC 7636 appendix B.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const without = { code_challenge: undefined, code_challenge_method: undefined }

type Requirement = NonNullable<AuthorizationServerOptions['pkce']>

/** What comes of an authorization request, and why. */
async function requested(
  bend: RepeatedFields,
  pkce: Requirement = 'public',
  client: ClientApplication = photoBook,
) {
  const { flow, failures } = setStage({ pkce })
  const good = { code_challenge: challenge, code_challenge_method: 'S256' }
  const outcome = outcomeOf(await flow.ask({ ...authorizationRequest(client), ...good, ...bend }, 'alice'))
  return [outcome, ...failures.map(({ reason }) => reason)].join(' ')
}

test.each<[Requirement, ClientApplication]>([
  ['public', photoBook],
  ['all', photoBook],
  ['all', photoPrint],
])('Where PKCE is required of %s, no challenge is refused [pkce-4]', async (pkce, client) => {
  for (const bend of [without, { ...without, code_challenge: '' }])
    expect(await requested(bend, pkce, client)).toBe('redirect invalid_request pkce_challenge_missing')
})

test.each<[Requirement, ClientApplication]>([
  ['public', photoPrint],
  ['none', photoBook],
  ['none', photoPrint],
])('Where PKCE is required of %s, others may leave the challenge out', async (pkce, client) => {
  for (const bend of [without, { ...without, code_challenge: '' }])
    expect(await requested(bend, pkce, client)).toBe('question')
})

test.each<[string, RepeatedFields, string]>([
  ['a method without a challenge [pkce-5]', { code_challenge: undefined }, 'pkce_challenge_missing'],
  ...[undefined, '', 'plain', 's256', 'S512', 'S256 '].map(
    (code_challenge_method): [string, RepeatedFields, string] => [
      `the method ${JSON.stringify(code_challenge_method)} [pkce-6]`,
      { code_challenge_method },
      'pkce_method_unsupported',
    ],
  ),
  ...[
    challenge.slice(1),
    `${challenge}A`,
    `${challenge}=`,
    challenge.replace('-', '+'),
    challenge.replace('E', 'É'),
    `${challenge}\n`,
    createHash('sha256').update(verifier).digest('hex'),
  ].map((code_challenge): [string, RepeatedFields, string] => [
    `the challenge ${JSON.stringify(code_challenge)} [pkce-8]`,
    { code_challenge },
    'pkce_challenge_malformed',
  ]),
  ['a repeated challenge [pkce-9]', { code_challenge: [challenge, challenge] }, 'parameter_malformed'],
  ['a repeated method [pkce-9]', { code_challenge_method: ['S256', 'S256'] }, 'parameter_malformed'],
])('Every client is refused with %s', async (_what, bend, reason) => {
  for (const [pkce, client] of [
    ['public', photoBook],
    ['none', photoPrint],
  ] as const)
    expect(await requested(bend, pkce, client)).toBe(`redirect invalid_request ${reason}`)
})

test.each([
  ['is missing', undefined, 'pkce_verifier_missing'],
  ['is empty', '', 'pkce_verifier_missing'],
  ['has 42 letters', 'a'.repeat(42), 'pkce_verifier_malformed'],
  ['has 129 letters', 'a'.repeat(129), 'pkce_verifier_malformed'],
  ['has a letter that is reserved', `${verifier}+`, 'pkce_verifier_malformed'],
  ['ends in a line break', `${verifier}\n`, 'pkce_verifier_malformed'],
  ['is another one', 'a'.repeat(43), 'pkce_verifier_wrong'],
  ['is another one of 128 letters', 'a'.repeat(128), 'pkce_verifier_wrong'],
  ['differs in case only', verifier.toUpperCase(), 'pkce_verifier_wrong'],
  ['is the challenge, as in plain', challenge, 'pkce_verifier_wrong'],
])(
  'A verifier that %s is refused, and its description tells nothing [pkce-7, pkce-11]',
  async (_what, code_verifier, reason) => {
    const { flow, failures } = setStage()
    const code = await flow.approve(photoBook, { code_challenge: challenge })
    const { status, body } = await flow.redeem(photoBook, code, { code_verifier })
    expect([status, failures.at(-1)?.reason]).toEqual([400, reason])
    const description = 'The code_verifier does not prove the code_challenge.'
    expect(body).toEqual({ error: 'invalid_grant', error_description: description })
  },
)

test('A verifier without a challenge is refused of every client: the sign of a downgrade (RFC 9700 4.8.2)', async () => {
  const { flow, failures } = setStage()
  const code = await flow.approve(photoPrint, without)
  expect(outcomeOf(await flow.redeem(photoPrint, code, { code_verifier: verifier }))).toBe(
    '400 invalid_grant',
  )
  expect(failures.at(-1)?.reason).toBe('pkce_verifier_unexpected')
  expect(outcomeOf(await flow.redeem(photoPrint, code, { code_verifier: undefined }))).toBe('tokens')
})

test('Any verifier answers its own challenge, and no other', async () => {
  const { flow } = setStage()
  const pair = fc.tuple(...[0, 1].map(() => fc.stringMatching(/^[A-Za-z0-9\-._~]{43,128}$/)))
  for (const [one = '', other = ''] of fc.sample(pair, { seed: 1, numRuns: 5 })) {
    const code = await flow.approve(photoBook, {
      code_challenge: createHash('sha256').update(one).digest('base64url'),
    })
    expect(outcomeOf(await flow.redeem(photoBook, code, { code_verifier: other }))).toBe('400 invalid_grant')
    expect(outcomeOf(await flow.redeem(photoBook, code, { code_verifier: one }))).toBe('tokens')
  }
})
