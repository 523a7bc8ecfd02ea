import * as fc from 'fast-check'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Response } from 'supertest'
import { nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import type { Stage } from '../support/flows/every-store'
import { authorizationRequest, basic, formOf, type Headers } from '../support/flows/flow'
import { memoryStage } from '../support/flows/memory-stage'

const allowed = /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/
const lib = join(__dirname, '../../lib')
const sources = readdirSync(lib, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && file !== join('protocol', 'oauth-error.ts'))
  .map((file) => readFileSync(join(lib, file), 'utf8'))

const factory =
  /\b(?:invalid(?:Request|Client|Grant|Scope|Target)|unauthorizedClient|unsupported(?:GrantType|ResponseType)|accessDenied|serverError|temporarilyUnavailable)\(/g
const called = new RegExp(`${factory.source}\\s*(?:reason|'\\w+'),\\s*(['"\`])(.*?)\\1`, 'gs')
const defined = /\bdescription(?: =|:) (['"`])(.*?)\1/g

/** Every text that the sources give an error, with its holes for names. */
const written = sources.flatMap((source) =>
  [...source.matchAll(called), ...source.matchAll(defined)].map(([, , text = '']) => text),
)
const unexpected = 'The server met an unexpected condition.'
const shapes = [...written, unexpected].map(
  (text) => new RegExp(`^${text.replace(/[.*+?^()|[\]\\]/g, '\\$&').replace(/\$\{\w+\}/g, '[\\w ]+')}$`),
)

test('[RSP-6] each text of an error is written where it is told, in characters that it may have', () => {
  const everything = sources.join('\n')
  const calls = [...everything.matchAll(factory)].length
  expect(calls).toBeGreaterThan(40)
  expect([...everything.matchAll(called)]).toHaveLength(calls)
  expect(written.filter((text) => !allowed.test(text.replace(/\$\{\w+\}/g, 'name')))).toEqual([])
})

/** What the client reads of an answer that is an error. */
function errorOf(response: Response): Readonly<Record<string, string>> | undefined {
  const location = response.get('Location')
  const members: Readonly<Record<string, string>> =
    location === undefined
      ? response.body
      : Object.fromEntries(new URL(location, 'http://localhost').searchParams)
  return 'error' in members ? members : undefined
}

/** What of an answer breaks a rule of errors; undefined when it is an error that keeps them, or none. */
function faultOf(response: Response): string | undefined {
  const { headers } = response
  const error = errorOf(response)
  const kept = headers['cache-control'] === 'no-store' && headers['pragma'] === 'no-cache'
  if (response.status !== 200 && !kept) return `${response.status}: may be cached`
  if (error !== undefined && !/^[a-z_]+$/.test(error['error'] ?? '')) return `the code ${error['error']}`
  const text = error?.['error_description'] ?? unexpected
  if (!allowed.test(text) || !shapes.some((shape) => shape.test(text))) return `the text ${text}`
  return challengeFault(response)
}

const parameter = String.raw`[a-z_]+="[\x20\x21\x23-\x5B\x5D-\x7E]*"`
const charset = 'charset="UTF-8"'
const wellFormed = new RegExp(
  `^(?:Basic realm="[^"\\\\]+", ${charset}|Bearer ${parameter}(?:, ${parameter})*)$`,
)

function challengeFault(response: Response): string | undefined {
  const challenge = response.get('WWW-Authenticate')
  if (challenge === undefined) return response.status === 401 ? '401 without a challenge' : undefined
  return wellFormed.test(challenge) ? undefined : `the challenge ${challenge}`
}

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const asked = authorizationRequest(photoBook)
const night = { Authorization: basic('nightly-report', nightlyReport.secret) }

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

/** Refusals of each endpoint and of a guard, each with values that must not come back. */
async function refusals({ flow }: Stage, value: string): Promise<readonly Response[]> {
  const bearer: Headers = { Authorization: `Bearer ${encodeURIComponent(value)}` }
  const named = Object.keys(asked).map((name) => formOf({ ...asked, [name]: value }))
  return [
    ...(await Promise.all(named.map((form) => flow.submit('/authorize', form, 'alice')))),
    await flow.submit('/authorize', { authorization_request: value, decision: value }, 'alice'),
    await flow.request(nightlyReport, { grant_type: value }),
    await flow.request(nightlyReport, { ...grant, scope: value }),
    await flow.request(nightlyReport, { ...grant, client_id: `other${value}` }),
    await flow.request({ ...nightlyReport, secret: `${value}x` }, grant),
    await flow.request(photoPrint, { grant_type: 'authorization_code', code: value }),
    await flow.request(photoPrint, { grant_type: 'refresh_token', refresh_token: value }),
    await flow.submit('/token', `${formOf(grant)}&${formOf({ scope: value })}`, undefined, night),
    await flow.submit('/token', grant, undefined, bearer),
    await flow.open('/token'),
    await flow.open('/photos', undefined, bearer),
    await flow.open('/photos', undefined, { Authorization: `Bearer a ${encodeURIComponent(value)}` }),
    await flow.open('/photos'),
  ]
}

test.each(odd)(
  '[RSP-6] no refusal says back what was sent, may be cached or has a broken challenge: %j',
  async (value) => {
    const responses = await refusals(memoryStage(), value)
    expect(responses.filter((response) => errorOf(response) !== undefined).length).toBeGreaterThan(10)
    expect(responses.map(faultOf).filter((fault) => fault !== undefined)).toEqual([])
  },
)

test('[RSP-5] trouble on this side is told in an error that nobody keeps', async () => {
  const { flow, store } = memoryStage({ resourceOwner: () => Promise.reject(new Error('"é"')) })
  store.begin('fails', 'find', 'save')
  const token = `at_${'A'.repeat(64)}`
  const responses = [
    await flow.ask(asked),
    await flow.request(nightlyReport, grant),
    await flow.photos(token),
  ]
  expect(responses.map((response) => errorOf(response)?.['error'])).toEqual([
    'server_error',
    'temporarily_unavailable',
    'temporarily_unavailable',
  ])
  expect(responses.map(faultOf)).toEqual([undefined, undefined, undefined])
})

const names = [...Object.keys(asked), 'grant_type', 'code', 'code_verifier', 'refresh_token', 'client_secret']
const values = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('code', 'photo-book', 'nightly-report', 'client_credentials', 'S256', ...odd),
)

test('[RSP-6] whatever a form holds, an error keeps to its characters', async () => {
  const { flow } = memoryStage()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...names), values)), async (pairs) => {
      const form = new URLSearchParams(pairs).toString()
      const responses = [
        await flow.submit('/authorize', form, 'alice'),
        await flow.submit('/token', form),
        await flow.submit('/token', form, undefined, night),
      ]
      expect(responses.map(faultOf)).toEqual([undefined, undefined, undefined])
    }),
  )
})
