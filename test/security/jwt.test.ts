import { generateKeyPairSync } from 'node:crypto'
import { jwtBearer, privateKeyJwt, type Json } from '../../lib/index'
import { forgedJwts } from '../support/assertions/forged-jwts'
import { audience, claimsAt, hub, issuers, jwt, signer, type Signer } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { bent, photoPrint } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const grantType = jwtBearer({ issuers, audience, resourceOwner: () => 'alice' })
const grant_type = grantType.name
const desk = bent(photoPrint, { grant_types: [grant_type], redirect_uris: [] })
const clients = [desk.registration]

/** An attacker who has seen a good assertion presents all forgeries of these titles, and then the good one: what comes of it. */
async function afterForging(titles: RegExp, atLeast: number): Promise<string> {
  const { flow, clock } = setStage({ grantTypes: [grantType], clients })
  const now = Math.floor(clock.read() / 1000)
  const claims = claimsAt(now)
  const present = (assertion: string) => flow.request(desk, { grant_type, assertion, scope: 'photos:read' })
  const forgeries = forgedJwts(claims, now).filter(({ title }) => titles.test(title))
  expect(forgeries.length).toBeGreaterThanOrEqual(atLeast)
  for (const { token } of forgeries) expect(refusalOf(await present(token))).toBe('400 invalid_grant')
  return outcomeOf(await present(jwt(hub, claims)))
}

test('a JWT without a signature is refused, however it spells alg none [jwt-1]', async () => {
  expect(await afterForging(/^alg (none|None|NONE|nOnE)|stripped$/, 9)).toBe('tokens')
})

test('a JWT that makes a shared secret of the public key is refused [jwt-2]', async () => {
  expect(await afterForging(/^HS256/, 4)).toBe('tokens')
})

test('a key that a JWT brings in its own header is not believed [jwt-3]', async () => {
  expect(await afterForging(/header as jwk|as jwk and|x5c/, 3)).toBe('tokens')
})

test('a JWT with an unknown critical header is refused [jwt-4]', async () => {
  expect(await afterForging(/crit/, 3)).toBe('tokens')
})

test('a JWT of an unknown or another algorithm is refused [jwt-5]', async () => {
  expect(await afterForging(/^no alg|alg of|alg as|another RSA/, 4)).toBe('tokens')
})

test('an encrypted JWT is refused unread [jwt-6]', async () => {
  expect(await afterForging(/encrypted/, 1)).toBe('tokens')
})

test('a JWT of another purpose is refused [jwt-12]', async () => {
  expect(await afterForging(/^the type of/, 2)).toBe('tokens')
})

test('a JWT for another server is refused, also one whose name begins like ours [jwt-13]', async () => {
  expect(await afterForging(/^aud /, 9)).toBe('tokens')
})

test('a JWT that names another trusted issuer than the one whose key signed it is refused [jwt-14]', async () => {
  expect(await afterForging(/key of another|claims of another/, 3)).toBe('tokens')
})

test('an address in the header of a JWT is never asked [jwt-7]', async () => {
  const server = new KeyServer()
  await server.start()
  try {
    const stranger = signer(hub.issuer, hub.kid, 'RS256')
    server.publish(stranger.jwk)
    const { flow, clock } = setStage({ grantTypes: [grantType], clients })
    const claims = claimsAt(Math.floor(clock.read() / 1000))
    for (const name of ['jku', 'x5u', 'kid', 'jwks_uri']) {
      const assertion = jwt(stranger, claims, { [name]: server.uri })
      const response = await flow.request(desk, { grant_type, assertion, scope: 'photos:read' })
      expect(refusalOf(response)).toBe('400 invalid_grant')
    }
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
    grantTypes: [grantType],
    clients: [...clients, bank.registration],
    clientAuthenticationMethods: [privateKeyJwt()],
  })
  const own: Signer = { issuer: 'bank', kid: '1', alg: 'ES256', privateKey, publicKey, jwk: { kid: '1' } }
  const now = Math.floor(clock.read() / 1000)
  const proof = () => jwt(own, { ...claimsAt(now, own), sub: 'bank', exp: now + 60 })
  const grant = () => jwt(hub, claimsAt(now))
  const ask = (client_assertion: string, assertion: string) => {
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    return flow.submit('/token', {
      grant_type,
      client_assertion_type,
      client_assertion,
      assertion,
      scope: 'photos:read',
    })
  }
  expect(refusalOf(await ask(proof(), proof()))).toBe('400 invalid_grant')
  expect(refusalOf(await ask(grant(), grant()))).toBe('401 invalid_client')
  tokensOf(await ask(proof(), grant()))
})
