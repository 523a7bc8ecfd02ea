import * as fc from 'fast-check'
import { errorOf, faultOf, isDescription } from './error-texts/answer'
import { asked, fullStage, grant, night, refusals } from './error-texts/refusals'
import * as written from './error-texts/written'
import { nightlyReport } from '../support/flows/clients'

test('[RSP-6] each text of an error is written where it is told, in characters that it may have', () => {
  const { calls, faults, descriptions, aroundFactories, accessRefusals, factories } = written
  expect(factories.size).toBe(14)
  expect(calls.length).toBeGreaterThan(40)
  expect(faults.map(({ text }) => text)).toEqual([
    'is included more than once',
    'is not form encoded in UTF-8',
    'is too long',
  ])
  expect([...calls, ...faults].filter(({ text }) => text === undefined)).toEqual([])
  const texts = [...calls, ...faults, ...descriptions].flatMap(({ text }) => text ?? [])
  expect(texts.filter((text) => !isDescription(text.replace(/\$\{\w+\}/g, 'name')))).toEqual([])
  expect(aroundFactories).toEqual([])
  expect(accessRefusals.length).toBeGreaterThan(3)
  expect(accessRefusals).not.toContain('not fixed')
})

const odd = [
  'x',
  '',
  '"',
  '\\',
  'é',
  '世界',
  '\r\nSet-Cookie: a=b',
  '\u0000',
  '__proto__',
  '%',
  'a'.repeat(9000),
]

// A title shows no more than the beginning of a long one.
test.each(odd.map((value) => [value.slice(0, 30), value] as const))(
  '[RSP-6] no refusal says back what was sent, may be cached or has a broken challenge: %j',
  async (_, value) => {
    const responses = await refusals(fullStage(), value)
    expect(responses.filter((response) => errorOf(response) !== undefined).length).toBeGreaterThan(30)
    expect(responses.map(faultOf).filter((fault) => fault !== undefined)).toEqual([])
  },
)

/** Trouble on this side, at each endpoint and at a guard. */
async function troubles() {
  const { flow, store } = fullStage({ resourceOwner: () => Promise.reject(new Error('"é"')) })
  store.begin('fails', 'find', 'save')
  const garbage = `at_${'A'.repeat(64)}`
  return [
    await flow.ask(asked),
    await flow.request(nightlyReport, grant),
    await flow.revoke(nightlyReport, garbage),
    await flow.photos(garbage),
  ]
}

test('[RSP-5] trouble on this side is told in an error that nobody keeps', async () => {
  const responses = await troubles()
  expect(responses.map((response) => errorOf(response)?.['error'])).toEqual([
    'server_error',
    'temporarily_unavailable',
    'temporarily_unavailable',
    'temporarily_unavailable',
  ])
  expect(responses.map(faultOf).filter((fault) => fault !== undefined)).toEqual([])
})

test('[RSP-6] every code of the framework and of a guard is among the errors that are looked at here', async () => {
  const responses = [...(await refusals(fullStage(), 'x')), ...(await troubles())]
  const codes = new Set(responses.flatMap((response) => errorOf(response)?.['error'] ?? []))
  const all = [...written.factories.values(), 'insufficient_scope']
  expect([...codes].toSorted()).toEqual(all.toSorted())
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
  fc.string({ unit: 'binary' }),
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

test('[RSP-6] whatever a form holds, an error keeps to its characters', async () => {
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
      expect(responses.map(faultOf).filter((fault) => fault !== undefined)).toEqual([])
    }),
  )
})
