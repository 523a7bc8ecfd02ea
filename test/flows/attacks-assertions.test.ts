import { generateKeyPairSync } from 'node:crypto'
import { jwtBearer, privateKeyJwt, saml2Bearer, type Json } from '../../lib/index'
import { forgedJwts } from '../support/assertions/forged-jwts'
import { audience, claimsAt, hub, issuers, jwt, signer, type Signer } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { bent, photoPrint } from '../support/flows/clients'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import * as saml from '../support/saml/assertion'
import { forgeries, genuine } from '../support/saml/forgeries'

const jwtGrant = jwtBearer({ issuers, audience, resourceOwner: () => 'alice' })
const samlGrant = saml2Bearer({
  issuers: [saml.studio.entry, saml.museum.entry],
  audience: saml.audience,
  recipient: saml.recipient,
  resourceOwner: ({ subject }) => subject,
})
const grant_types = [jwtGrant.name, samlGrant.name]
const desk = bent(photoPrint, { grant_types, redirect_uris: [] })
const clients = [desk.registration]
// The time at which all assertions are made.
const noon = 1_800_000_000
const claims = claimsAt(noon)
const forgedOnce = forgedJwts(claims, noon)

function assertionStage() {
  const stage = setStage({ grantTypes: [jwtGrant, samlGrant], clients, clock: () => noon * 1000 })
  const present = (grant_type: string, assertion: string) =>
    stage.flow.request(desk, { grant_type, assertion, scope: 'photos:read' })
  return { ...stage, present }
}

/** An attacker has seen a good assertion, and presents these forgeries of it. Then the good one comes. */
async function expectNoForgery(
  grantType: string,
  { present }: Pick<ReturnType<typeof assertionStage>, 'present'>,
  forged: readonly string[],
  good: string,
): Promise<void> {
  for (const assertion of forged)
    expect(refusalOf(await present(grantType, assertion))).toMatch(/^400 invalid_(grant|request)$/)
  expect(outcomeOf(await present(grantType, good))).toBe('tokens')
}

// How many forgeries of these titles there are at least, so that none gets lost.
test.each<[string, RegExp, number]>([
  ['without a signature, however it spells alg none [jwt-1]', /^alg (none|None|NONE|nOnE)|stripped$/, 9],
  ['that makes a shared secret of the public key [jwt-2]', /^HS256/, 4],
  ['with a key in its own header [jwt-3]', /header as jwk|as jwk and|x5c/, 3],
  ['with an unknown critical header [jwt-4]', /crit/, 3],
  ['of an unknown or another algorithm [jwt-5]', /^no alg|alg of|alg as|another RSA/, 4],
  ['that is encrypted [jwt-6]', /encrypted/, 1],
  ['of another purpose [jwt-12]', /^the type of/, 2],
  ['for another server, also one whose name begins like ours [jwt-13]', /^aud /, 9],
  ['that names another issuer than its key has [jwt-14]', /key of another|claims of another/, 3],
])('A JWT is refused %s', async (_what, titles, least) => {
  const chosen = forgedOnce.filter(({ title }) => titles.test(title))
  expect(chosen.length).toBeGreaterThanOrEqual(least)
  const forged = chosen.map(({ token }) => token)
  await expectNoForgery(jwtGrant.name, assertionStage(), forged, jwt(hub, claims))
})

test.each<[string, RegExp, number]>([
  ['wrapped around a signed one or beside it [saml-1]', /^XSW|^…|^the signed|side by side|^an envelope/, 14],
  ['unsigned itself [saml-2]', /^no sig|^the signature of another|deeper inside|of another vocab/, 4],
  ['with a comment in its digest or a second one [saml-3]', /DigestValue/, 3],
  ['with two of SignedInfo, Reference or Signature [saml-4]', /^two (SignedInfo|References|signatures)/, 3],
  ['whose name is cut by a comment, CDATA or an instruction [saml-5]', /in NameID$/, 3],
  ['with a document type, an entity or a bomb of them [saml-6]', /DOCTYPE|entity|billion|blowup/, 4],
  ['with a transform that runs code or drops the subject [saml-7]', /transform/, 5],
  ['with a key of its own or of an unknown issuer [saml-8]', /KeyInfo|unknown issuer/, 2],
  ['signed by another trusted issuer [saml-9]', /another trusted issuer|changed to the one/, 2],
  ['for others [saml-10]', /another (audience|recipient)$|no (audience|recipient)/, 4],
  ['by SHA-1 and other weak algorithms [saml-11]', /SHA-1|^DSA/, 3],
  ['that is deep, wide or large [saml-12]', /^nesting|10 000 elements|attributes|more than fits/, 5],
])('A SAML assertion is refused %s', async (_what, titles, least) => {
  const chosen = forgeries.filter(([title]) => titles.test(title))
  expect(chosen.length).toBeGreaterThanOrEqual(least)
  const forged = chosen.map(([, , assertion]) => assertion)
  await expectNoForgery(samlGrant.name, assertionStage(), forged, saml.encoded(genuine))
})

test('an address in the header of a JWT is never asked [jwt-7]', async () => {
  const server = new KeyServer()
  await server.start()
  try {
    const stranger = signer(hub.issuer, hub.kid, 'RS256')
    server.publish(stranger.jwk)
    const forged = ['jku', 'x5u', 'kid', 'jwks_uri'].map((name) =>
      jwt(stranger, claims, { [name]: server.uri }),
    )
    await expectNoForgery(jwtGrant.name, assertionStage(), forged, jwt(hub, claims))
    expect(server.requests).toBe(0)
  } finally {
    await server.stop()
  }
})

test('an assertion by which a client authenticates is no grant, and a grant authenticates no client [client-32]', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk: Json = JSON.parse(JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: '1' }))
  const bank = bent(desk, {
    client_id: 'bank',
    client_secret_hashes: undefined,
    credentials: { private_key_jwt: { keys: [jwk] } },
  })
  const { flow, clock } = setStage({
    grantTypes: [jwtGrant, samlGrant],
    clients: [...clients, bank.registration],
    clientAuthenticationMethods: [privateKeyJwt()],
  })
  const own: Signer = { issuer: 'bank', kid: '1', alg: 'ES256', privateKey, publicKey, jwk: { kid: '1' } }
  const now = Math.floor(clock.read() / 1000)
  const proof = () => jwt(own, { ...claimsAt(now, own), sub: 'bank', exp: now + 60 })
  const grant = () => jwt(hub, claimsAt(now))
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  const ask = (client_assertion: string, assertion: string) =>
    flow.submit('/token', {
      grant_type: jwtGrant.name,
      client_assertion_type,
      client_assertion,
      assertion,
      scope: 'photos:read',
    })
  expect(refusalOf(await ask(proof(), proof()))).toBe('400 invalid_grant')
  expect(refusalOf(await ask(grant(), grant()))).toBe('401 invalid_client')
  tokensOf(await ask(proof(), grant()))
})
