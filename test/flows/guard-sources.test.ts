import express, { type Express, type RequestHandler } from 'express'
import { dpop } from '../../lib/paths/dpop'
import { basic, type Fields, redemption } from '../support/flows/flow'
import { hashOf, Prover } from '../support/flows/prover'
import { rawRequest } from '../support/flows/raw-request'
import { gallery, job, photosApi, printApi } from '../support/flows/resources'
import { guardNames, type GuardName, stepUpStage } from '../support/flows/step-up-stage'

// GOOD stands for a token with the scope photos:read, and the other words in capitals for the tokens of their names.
type Sent = readonly string[] | ((set: Stage) => readonly string[])
type Row = [what: string, sent: Sent, answer: string, path?: string]

const [client, thief] = [new Prover(Date.now), new Prover(Date.now)]
/** A token under a scheme, with a proof of this prover. */
const proven =
  (token: string, claims: object = {}, by = client, scheme = 'DPoP') =>
  ({ tokens, now }: Stage) => {
    const at = { ath: hashOf(tokens[token] ?? ''), htu: `${new URL(photosApi).origin}/read`, iat: now() }
    const proof = by.proof('GET', '', { ...at, ...claims })
    return ['Authorization', `${scheme} ${token}`, 'DPoP', proof]
  }
const bearing = (...lines: readonly string[]) => lines.flatMap((line) => ['Authorization', line])

const rows: readonly Row[] = [
  ['no token', [], '401'],
  ['a good token', bearing('Bearer GOOD'), '200'],
  ['the scheme in small letters', bearing('bearer GOOD'), '200'],
  ['a client that acts for itself', bearing('Bearer CLIENT'), '200'],
  ['a token in the query', [], '401', '/read?access_token=GOOD'],
  ['another scheme', bearing('Basic YTpi'), '401'],
  ['no scheme', bearing('GOOD'), '401'],
  ['the token twice', bearing('Bearer GOOD', 'Bearer GOOD'), '400 invalid_request'],
  ['a second header of another scheme', bearing('Bearer GOOD', 'Basic YTpi'), '400 invalid_request'],
  ['two tokens in one header', bearing('Bearer GOOD, Bearer GOOD'), '400 invalid_request'],
  ['more after the token', bearing('Bearer GOOD more'), '400 invalid_request'],
  ['a token in quotes', bearing('Bearer "GOOD"'), '401 invalid_token'],
  ['no token after the scheme', bearing('Bearer'), '400 invalid_request'],
  ['a token with a letter more', bearing('Bearer GOODx'), '401 invalid_token'],
  ['a token that nobody issued', bearing(`Bearer at_${'a'.repeat(65)}`), '401 invalid_token'],
  ['a text that is too long', bearing(`Bearer ${'x'.repeat(9000)}`), '401 invalid_token'],
  ['a token that has expired', bearing('Bearer EXPIRED'), '401 invalid_token'],
  ['a token for another resource', bearing('Bearer ELSEWHERE'), '401 invalid_token'],
  ['a scope that is missing', bearing('Bearer GOOD'), '403 insufficient_scope', '/print'],
  ['a login that is too old', bearing('Bearer GOOD'), '401 insufficient_user_authentication', '/fresh'],
  ['a bound token with its proof', proven('BOUND'), '200'],
  ['a bound token without a proof', bearing('DPoP BOUND'), '401 invalid_dpop_proof'],
  ['a proof for another URL', proven('BOUND', { htu: `${photosApi}/Read` }), '401 invalid_dpop_proof'],
  ['a proof for another token', proven('BOUND', { ath: hashOf('x') }), '401 invalid_dpop_proof'],
  ['a proof by another key', proven('BOUND', {}, thief), '401 invalid_token'],
  ['a bound token as a bearer token', proven('BOUND', {}, client, 'Bearer'), '401 invalid_token'],
  ['a bearer token with a proof', proven('GOOD'), '401 invalid_token'],
]

type Stage = Awaited<ReturnType<typeof open>>
let set: Stage
beforeAll(async () => (set = await open()))
afterAll(() => set.stop())

/** One server with JWTs, resources, step-up and DPoP, and a guard of its tokens with each source. */
async function open() {
  const stage = await stepUpStage({}, [dpop()])
  const { flow, clock, now, guards } = stage
  const text = async (bend: Fields = {}) =>
    String((await stage.tokens({ authTime: now() }, bend)).access_token)
  const EXPIRED = await text()
  clock.advance(3700)
  const byItself = { grant_type: 'client_credentials', scope: 'photos:read', resource: photosApi }
  const code = await flow.approve(gallery, { scope: 'photos:read', resource: photosApi })
  const proof = client.proof('POST', '', { htu: `${stage.issuer}/token`, iat: now() })
  const Authorization = basic(gallery.registration.client_id, gallery.secret ?? '')
  const bound = await flow.submit('/token', redemption(gallery, code), undefined, {
    Authorization,
    DPoP: proof,
  })
  const tokens: Readonly<Record<string, string>> = {
    EXPIRED,
    GOOD: await text(),
    REVOKED: await text(),
    ELSEWHERE: await text({ resource: printApi }),
    CLIENT: (await flow.request(job, byItself)).body.access_token,
    BOUND: bound.body.access_token,
  }
  clock.advance(100)
  const end: RequestHandler = (req, res) => void res.json({ subject: req.oauth?.subject ?? null })
  const hostOf = (name: GuardName) => {
    const guard = guards[name]
    return express()
      .all('/read', guard('photos:read', {}), end)
      .all('/print', guard('photos:print', {}), end)
      .all('/fresh', guard('photos:read', { maxAge: 60 }), end)
  }
  const hosts = guardNames.map((name) => hostOf(name))
  return { ...stage, tokens, hosts }
}

async function answerOf(host: Express, sent: Sent, path: string) {
  const filled = (text: string) => text.replaceAll(/[A-Z]{4,}/g, (name) => set.tokens[name] ?? name)
  const headers = (typeof sent === 'function' ? sent(set) : sent).map(filled)
  const response = await rawRequest(host, { method: 'GET', path: filled(path), headers })
  const { status, text, headers: given } = response
  return { status, body: JSON.parse(text || '{}'), challenge: given['www-authenticate'] }
}

/** Each guard gets a request of its own, with a proof of its own. */
const answersTo = (sent: Sent, path = '/read') =>
  Promise.all(set.hosts.map((host) => answerOf(host, sent, path)))

test.each<Row>(rows)(
  'each source of tokens gives one answer, with body and challenge, to %s [access-19]',
  async (_what, sent, expected, path = '/read') => {
    const answers = await answersTo(sent, path)
    const [first] = answers
    expect([first?.status, first?.body.error].filter(Boolean).join(' ')).toBe(expected)
    expect(answers).toEqual(guardNames.map(() => first))
  },
)

test('a proof counts once at each source', async () => {
  for (const host of set.hosts) {
    const headers = proven('BOUND')(set)
    const twice = [await answerOf(host, headers, '/read'), await answerOf(host, headers, '/read')]
    expect(twice.map(({ status, body }) => [status, body.error])).toEqual([
      [200, undefined],
      [401, 'invalid_dpop_proof'],
    ])
  }
})

test('a revoked token is refused where a record or the endpoint is asked, and signatures learn nothing of it', async () => {
  await set.flow.revoke(gallery, set.tokens['REVOKED'] ?? '')
  const statuses = (await answersTo(bearing('Bearer REVOKED'), '/read')).map(({ status }) => status)
  expect(Object.fromEntries(guardNames.map((name, index) => [name, statuses[index]]))).toEqual({
    'same process': 401,
    'by signature': 200,
    'other process': 401,
    JWT: 200,
    introspection: 401,
  })
})
