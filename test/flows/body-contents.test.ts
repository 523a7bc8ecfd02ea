import { type RequestHandler } from 'express'
import { application, mountAll } from '../support/flows/application'
import { bodyParsers } from '../support/flows/body-parsers'
import { nightlyReport } from '../support/flows/clients'
import { formOf } from '../support/flows/flow'
import { rawRequest, type RawResponse } from '../support/flows/raw-request'

const formType = 'application/x-www-form-urlencoded'
const grant = formOf({
  grant_type: 'client_credentials',
  scope: 'photos:read',
  client_id: nightlyReport.registration.client_id,
  client_secret: nightlyReport.secret,
})
const withScope = (rest: string): string => grant.replace('scope=photos%3Aread', rest)
const ofLength = (bytes: number): string => `${grant}&pad=`.padEnd(bytes, 'x')
const json = JSON.stringify(Object.fromEntries(new URLSearchParams(grant)))

type Content = readonly [name: string, body: string | Buffer, type: string]

const answered: readonly Content[] = [
  ['a good request', grant, formType],
  ['a good request that names its charset', grant, `${formType};charset=UTF-8`],
  ['a repeated parameter', `${grant}&scope=photos:read`, formType],
  ['a parameter without a value', withScope('scope='), formType],
  ['empty parameters', `&&${grant}&=&a&b=&`, formType],
  ['unknown brackets', `${grant}&a[b]=1&a[b][c]=2&d[]=3&d[]=4&__proto__[e]=5`, formType],
  ['no body', '', formType],
  ['a body of 64 KiB', ofLength(64 * 1024), formType],
  ['a body of 64 KiB and one byte', ofLength(64 * 1024 + 1), formType],
  ['JSON', json, 'application/json'],
  ['a form that says it is text', grant, 'text/plain'],
]

/** Here a parser has lost what the answer would tell, or refuses by itself: what counts is that no tokens come. */
const refused: readonly Content[] = [
  ['brackets in place of a known name', withScope('scope[]=photos:read'), formType],
  ['a broken percent triplet', withScope('scope=photos%3'), formType],
  ['a parameter that is not UTF-8', withScope('scope=%FF'), formType],
  ['bytes that are not UTF-8', Buffer.from(withScope('scope=ÿ'), 'latin1'), formType],
  ['a form in another charset', grant, `${formType}; charset=iso-8859-1`],
]

async function post(
  handlers: readonly RequestHandler[],
  body: string | Buffer,
  type: string,
  headers: readonly string[] = [],
): Promise<RawResponse> {
  const { app } = application(
    {},
    {
      mount: (host, oauth) => {
        for (const handler of handlers) host.use(handler)
        mountAll(host, oauth)
      },
    },
  )
  return rawRequest(app, {
    method: 'POST',
    path: '/token',
    headers: ['Content-Type', type, ...headers],
    body,
  })
}

const swallow: RequestHandler = (request, _response, next) => void request.resume().on('end', next)

/** An answer as a client reads it, without its token. */
async function answerOf(handlers: readonly RequestHandler[], [name, body, type]: Content) {
  const { status, text } = await post(handlers, body, type)
  return { name, status, text: text.replace(/at_[\w-]{64}/, 'at_') }
}

let asked: Promise<readonly object[]> | undefined
const withoutParser = () => (asked ??= Promise.all(answered.map((content) => answerOf([], content))))

describe('The token endpoint, without a parser before it,', () => {
  test.each(refused)('refuses %s', async (_, body, type) => {
    expect([400, 415]).toContain((await post([], body, type)).status)
  })

  test.each<[string, string | Buffer, string, number, string]>([
    ['a good request', grant, formType, 200, 'access_token'],
    ['a repeated parameter', `${grant}&scope=photos:read`, formType, 400, 'invalid_request'],
    ['a repeated unknown parameter', `${grant}&a=1&a=2`, formType, 200, 'access_token'],
    ['an empty parameter', withScope('scope='), formType, 400, 'invalid_scope'],
    ['brackets', `${grant}&scope[]=unheard-of&grant_type[a]=b`, formType, 200, 'access_token'],
    ['brackets only', withScope('scope[]=photos:read'), formType, 400, 'invalid_scope'],
    ['no body', '', formType, 401, 'invalid_client'],
    ['64 KiB', ofLength(64 * 1024), formType, 200, 'access_token'],
    ['64 KiB and one byte', ofLength(64 * 1024 + 1), formType, 400, 'invalid_request'],
    ['five megabytes', ofLength(5 * 1024 * 1024), formType, 400, 'invalid_request'],
    ['JSON', json, 'application/json', 400, 'invalid_request'],
    ['another charset', grant, `${formType}; charset=iso-8859-1`, 400, 'invalid_request'],
    ['a quoted charset', grant, `${formType}; charset="utf-8"`, 200, 'access_token'],
    ['what is not UTF-8', withScope('scope=%FF'), formType, 400, 'invalid_request'],
  ])('answers %s', async (_, body, type, status, word) => {
    const response = await post([], body, type)
    expect(response.status).toBe(status)
    expect(response.text).toContain(word)
  })
})

test.each([
  ['a good request', grant, 200],
  ['one that grows too large', ofLength(200_000), 400],
])('The token endpoint reads a body of unknown length: %s', async (_, body, status) => {
  const chunked = ['Transfer-Encoding', 'chunked']
  expect((await post([], body, formType, chunked)).status).toBe(status)
})

describe.each(bodyParsers)('The token endpoint, with %s before it,', (_, handlers) => {
  test('answers a good, repeated, empty, bracketed, long or foreign body as it does without', async () => {
    const withParser = await Promise.all(answered.map((content) => answerOf(handlers, content)))
    expect(withParser).toEqual(await withoutParser())
  })

  test('refuses what the parser has lost, and takes brackets behind a known name for another name, or refuses them [input-4]', async () => {
    const response = await post(handlers, `${grant}&scope[]=unheard-of`, formType)
    expect(response.text).toMatch(/"scope":"photos:read"|"invalid_request"/)
    const statuses = await Promise.all(
      refused.map(async ([, body, type]) => (await post(handlers, body, type)).status),
    )
    for (const status of statuses) expect([400, 415]).toContain(status)
  })
})

test('A host that reads the body and drops it gets the explanation, and the client does not', async () => {
  const response = await post([swallow], grant, formType)
  expect(response.status).toBe(500)
  expect(JSON.parse(response.text)).toEqual({ error: 'server_error', error_description: expect.any(String) })
})
