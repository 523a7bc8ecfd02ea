import { jwtBearer } from '../../lib/paths/grants'
import { audience, claimsAt, hub, issuers, jwt } from '../support/assertions/jwt'
import { bent, photoPrint } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'

test.each(['voucher', 'grants/voucher', 'PASSWORD'])(
  '[TOK-10] a grant type that a host defines has an absolute URI for its name, not %s',
  (name) => {
    const grantTypes = [{ name, parameters: [], handle: async () => ({ grant: nobody }) }]
    expect(() => setStage({ plugins: [{ name: 'host-grant-types', grantTypes }] })).toThrow(
      'must be an absolute URI',
    )
  },
)

const nobody = { scope: [], refreshToken: false, extensionData: {} }

describe('The JWT bearer grant', () => {
  const grantType = jwtBearer({ issuers, audience, resourceOwner: ({ subject }) => subject })
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  const desk = bent(photoPrint, { grant_types: [grant_type], redirect_uris: [] })
  const clients = [desk.registration]

  test('[TOK-10] goes by an absolute URI, takes an assertion beside it, and gives an access token', async () => {
    const { flow, clock } = setStage({ plugins: [grantType], clients })
    const assertion = jwt(hub, claimsAt(Math.floor(clock.read() / 1000)))
    const { accessToken } = tokensOf(
      await flow.request(desk, { grant_type, assertion, scope: 'photos:read' }),
    )
    expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'alice@issuer.example' })
  })

  test('[TOK-10] is unknown to a server that does not define it', async () => {
    const { flow } = setStage({
      clients: [bent(desk, { grant_types: ['client_credentials'] }).registration],
    })
    const request = { grant_type, assertion: jwt(hub, claimsAt(0)), scope: 'photos:read' }
    expect(refusalOf(await flow.request(desk, request))).toBe('400 unsupported_grant_type')
  })
})
