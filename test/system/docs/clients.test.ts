import type { Json } from '../../../lib/index'
import { privateKeyJwt } from '../../../lib/paths/jwt'
import { claimsAt, jwt, signer } from '../../support/assertions/jwt'
import { registeredIn } from '../../support/docs/registrations'
import type { ClientApplication } from '../../support/flows/clients'
import { setStage } from '../../support/flows/stage'
import { outcomeOf } from '../../support/flows/outcome'
import { tokensOf } from '../../support/flows/tokens'

const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const registered = registeredIn('clients.md')
const every = [...registered.values()].flat()
const named = every.map((client) => [client.registration.client_id, client] as const)
const stage = () =>
  setStage({
    clients: every.map(({ registration }) => registration),
    plugins: [privateKeyJwt()],
  })
const grantsOf = ({ registration }: ClientApplication) => registration.grant_types ?? ['authorization_code']
const withOwner = named.filter(([, client]) => grantsOf(client).includes('authorization_code'))

/** Where the client is: a loopback redirection URI with a port, as an operating system would choose it. */
const placeOf = ({ registration }: ClientApplication) =>
  String(registration.redirect_uris?.[0]).replace('http://127.0.0.1/', 'http://127.0.0.1:51004/')

test.each(withOwner)(
  '%s of the documentation gets tokens by a code, which alone proves nothing, and refreshes if it is registered for it',
  async (_, client) => {
    const { flow } = stage()
    const redirect_uri = placeOf(client)
    const hasSecret = client.secret !== undefined
    const [party, bend, refusal] = hasSecret
      ? ([{ registration: client.registration }, {}, '401 invalid_client'] as const)
      : ([client, { code_verifier: undefined }, '400 invalid_grant'] as const)
    const stolen = await flow.approve(client, { redirect_uri })
    expect(outcomeOf(await flow.redeem(party, stolen, { redirect_uri, ...bend }))).toBe(refusal)
    const code = await flow.approve(client, { redirect_uri })
    const { accessToken, refreshToken } = tokensOf(await flow.redeem(client, code, { redirect_uri }))
    expect((await flow.photos(accessToken)).status).toBe(200)
    const refreshed =
      refreshToken === '' ? 'no refresh token' : outcomeOf(await flow.refresh(client, refreshToken))
    expect(refreshed).toBe(grantsOf(client).includes('refresh_token') ? 'tokens' : 'no refresh token')
  },
)

const forItself = named.filter(([, client]) => grantsOf(client).includes('client_credentials'))

test.each(forItself.filter(([, { secret }]) => secret !== undefined))(
  '%s of the documentation gets a token for itself',
  async (_, client) => {
    const { scope } = client.registration
    const response = await stage().flow.request(client, { grant_type: 'client_credentials', scope })
    expect(tokensOf(response)).toMatchObject({ scope, refreshToken: '' })
  },
)

test.each(forItself.filter(([, { secret }]) => secret === undefined))(
  '%s of the documentation gets a token for itself with a key that its registration holds',
  async (client_id, { registration }) => {
    const key = signer(client_id, 'backup-1')
    const keys: Json = JSON.parse(JSON.stringify([key.jwk]))
    const { flow, clock } = setStage({
      clients: [{ ...registration, credentials: { private_key_jwt: { keys } } }],
      plugins: [privateKeyJwt()],
    })
    const claims = { ...claimsAt(Math.floor(clock.read() / 1000), key), sub: client_id }
    const request = { grant_type: 'client_credentials', scope: registration.scope, client_assertion_type }
    const response = await flow.submit('/token', { ...request, client_assertion: jwt(key, claims) })
    expect(tokensOf(response)).toMatchObject({ scope: registration.scope, refreshToken: '' })
    const byOther = jwt(signer(client_id, 'backup-1'), { ...claims, jti: 'another' })
    const refused = await flow.submit('/token', { ...request, client_assertion: byOther })
    expect(outcomeOf(refused)).toBe('401 invalid_client')
  },
)
