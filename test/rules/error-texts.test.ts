import * as fc from 'fast-check'
import { errorOf, faultOf } from './error-texts/answer'
import { asked, fullStage, grant, night, refusals } from './error-texts/refusals'
import { nightlyReport } from '../support/flows/clients'
import { anyText } from '../support/any-text'

const odd = ['said-back', 'said  back', '"said" \\ back', '', '世界\r\nSet-Cookie: a=b', 'a'.repeat(9000)]

// A title shows no more than the beginning of a long one.
test.each(odd.map((value) => [value.slice(0, 30), value] as const))(
  '[RSP-6] no refusal repeats what was sent, may be cached or has a malformed challenge: %j',
  async (_, value) => {
    const responses = await refusals(fullStage(), value)
    expect(responses.filter((response) => errorOf(response) !== undefined).length).toBeGreaterThan(30)
    // A text that no client may get is a mistake of the server.
    expect(responses.map((response) => errorOf(response)?.['error'])).not.toContain('server_error')
    expect(
      responses.map((response) => faultOf(response, value)).filter((fault) => fault !== undefined),
    ).toEqual([])
  },
)

/** Trouble on this side, at each endpoint and at a guard. */
async function troubles() {
  const { flow, store } = fullStage({ resourceOwner: () => Promise.reject(new Error('"é"')) })
  store.begin('fails', 'read', 'write')
  const garbage = `at_${'A'.repeat(65)}`
  return [
    await flow.ask(asked),
    await flow.request(nightlyReport, grant),
    await flow.revoke(nightlyReport, garbage),
    await flow.photos(garbage),
  ]
}

test('[RSP-6] errors of the server keep to the form, and no cache keeps them', async () => {
  const responses = await troubles()
  expect(responses.map((response) => errorOf(response)?.['error'])).toEqual([
    'server_error',
    'temporarily_unavailable',
    'temporarily_unavailable',
    'temporarily_unavailable',
  ])
  expect(responses.map((response) => faultOf(response)).filter((fault) => fault !== undefined)).toEqual([])
})

const names = [
  ...Object.keys(asked),
  'grant_type',
  'code',
  'code_verifier',
  'refresh_token',
  'client_secret',
  'token',
  'token_type_hint',
]
const values = fc.oneof(
  anyText(),
  fc.constantFrom(
    'code',
    'token',
    'photo-book',
    'wall',
    'nightly-report',
    'client_credentials',
    'S256',
    ...odd,
  ),
)

test('[RSP-6] errors keep to their character sets for any form', async () => {
  const { flow } = fullStage()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...names), values)), async (pairs) => {
      const form = new URLSearchParams(pairs).toString()
      const responses = [
        await flow.submit('/authorize', form, 'alice'),
        await flow.submit('/token', form),
        await flow.submit('/token', form, undefined, night),
        await flow.submit('/revoke', form, undefined, night),
        await flow.submit('/introspect', form, undefined, night),
      ]
      expect(responses.map((response) => faultOf(response)).filter((fault) => fault !== undefined)).toEqual(
        [],
      )
    }),
    { numRuns: 20, seed: 1 },
  )
})
