import * as fc from 'fast-check'
import { errorOf, faultOf } from '../support/flows/error-answer'
import { implicit } from '../../lib/index'
import { bent, everyClient, nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest, basic } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { anyText } from '../support/any-text'
import { withPlugins } from '../support/with-plug-ins'

const odd = ['said-back', 'said  back', '"said" \\ back', '', '世界\r\nSet-Cookie: a=b', 'a'.repeat(9000)]

/** A client whose answers come in the fragment. */
const wall = bent(photoBook, { client_id: 'wall', grant_types: ['implicit'], response_types: ['token'] })
const clients = [...everyClient, wall].map(({ registration }) => registration)
const open = (options: Parameters<typeof setStage>[0] = {}) =>
  setStage({
    clients,
    errorUri: 'https://docs.example/errors',
    dynamicRegistration: {},
    ...options,
    plugins: withPlugins([implicit()], options.plugins),
  })
const asked = authorizationRequest(photoBook)
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const night = { Authorization: basic('nightly-report', nightlyReport.secret) }
const json = { 'Content-Type': 'application/json' }

/** Trouble on this side, at each endpoint and at a guard. */
async function troubles() {
  const { flow, store } = open({ resourceOwner: () => Promise.reject(new Error('"é"')) })
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

test('[RSP-6] errors keep to their character sets for any form, repeat nothing of it, and are not cached', async () => {
  const { flow } = open()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...names), values)), async (pairs) => {
      const form = new URLSearchParams(pairs).toString()
      const responses = [
        await flow.submit('/authorize', form, 'alice'),
        await flow.submit('/token', form),
        await flow.submit('/token', form, undefined, night),
        await flow.submit('/revoke', form, undefined, night),
        await flow.submit('/introspect', form, undefined, night),
        await flow.submit('/register', JSON.stringify(Object.fromEntries(pairs)), undefined, json),
        await flow.open('/photos', undefined, { Authorization: `Bearer ${encodeURIComponent(form)}` }),
      ]
      const faults = responses.map((response) => faultOf(response, odd[0]))
      expect(faults.filter((fault) => fault !== undefined)).toEqual([])
    }),
    { numRuns: 40, seed: 1 },
  )
})
