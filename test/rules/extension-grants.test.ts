import { jwtBearer, saml2Bearer } from '../../lib/index'
import { forgedJwts } from '../support/assertions/forged-jwts'
import { audience, claimsAt, hub, issuers, jwt } from '../support/assertions/jwt'
import { bent, photoPrint } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { encoded, signedXml } from '../support/saml/assertion'
import { options as samlOptions } from '../support/saml/grant'

test.each(['voucher', 'grants/voucher', 'PASSWORD'])(
  '[TOK-10] a grant type that a host defines has an absolute URI for its name, not %s',
  (name) => {
    const grantTypes = [{ name, parameters: [], handle: async () => ({ grant: nobody }) }]
    expect(() => setStage({ grantTypes })).toThrow('must be an absolute URI')
  },
)

test('[TOK-10] a grant type whose look-up found no resource owner gives no token for the client itself', async () => {
  const name = 'https://photos.example/grants/voucher'
  const printer = bent(photoPrint, { grant_types: [name], redirect_uris: [] })
  const handle = async () => ({ grant: { ...nobody, scope: ['photos:read'], subject: undefined } })
  const { flow } = setStage({
    // @ts-expect-error A host in JavaScript hands on what its database returned.
    grantTypes: [{ name, parameters: [], handle }],
    clients: [printer.registration],
  })
  const response = await flow.request(printer, { grant_type: name })
  expect(refusalOf(response)).toBe('500 server_error')
})

const nobody = { scope: [], refreshToken: false, extensionData: {} }

describe('The JWT bearer grant', () => {
  const grantType = jwtBearer({ issuers, audience, resourceOwner: ({ subject }) => subject })
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  const desk = bent(photoPrint, { grant_types: [grant_type], redirect_uris: [] })
  const clients = [desk.registration]

  test('[TOK-10] goes by an absolute URI, takes an assertion beside it, and gives an access token', async () => {
    const { flow, clock } = setStage({ grantTypes: [grantType], clients })
    const assertion = jwt(hub, claimsAt(Math.floor(clock.read() / 1000)))
    const { accessToken } = tokensOf(
      await flow.request(desk, { grant_type, assertion, scope: 'photos:read' }),
    )
    expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'alice@issuer.example' })
  })

  test('[TOK-10] takes an assertion once, and none whose owner the host does not know', async () => {
    const { flow, clock } = setStage({
      grantTypes: [
        jwtBearer({
          issuers,
          audience,
          resourceOwner: ({ claims }) => (claims['known'] ? 'alice' : undefined),
        }),
      ],
      clients,
    })
    const claims = claimsAt(Math.floor(clock.read() / 1000))
    const ask = async (more: object) => {
      const assertion = jwt(hub, { ...claims, ...more })
      return flow.request(desk, { grant_type, assertion, scope: 'photos:read' })
    }
    expect(refusalOf(await ask({}))).toBe('400 invalid_grant')
    tokensOf(await ask({ known: true }))
    expect(refusalOf(await ask({ known: true }))).toBe('400 invalid_grant')
  })

  test('[TOK-10] answers each assertion that is not sound with invalid_grant, and uses nothing up', async () => {
    const { flow, clock } = setStage({ grantTypes: [grantType], clients })
    const now = Math.floor(clock.read() / 1000)
    const claims = claimsAt(now)
    const ask = (assertion: string) => flow.request(desk, { grant_type, assertion, scope: 'photos:read' })
    const surprises: string[] = []
    const ofEachReason = new Map(forgedJwts(claims, now).map((forgery) => [forgery.reason, forgery]))
    for (const { title, token } of ofEachReason.values()) {
      const answer = refusalOf(await ask(token))
      if (answer !== '400 invalid_grant') surprises.push(`${title}: ${answer}`)
    }
    expect(surprises).toEqual([])
    tokensOf(await ask(jwt(hub, claims)))
  })

  test('[TOK-10] is unknown to a server that does not define it', async () => {
    const { flow } = setStage({
      clients: [bent(desk, { grant_types: ['client_credentials'] }).registration],
    })
    const request = { grant_type, assertion: jwt(hub, claimsAt(0)), scope: 'photos:read' }
    expect(refusalOf(await flow.request(desk, request))).toBe('400 unsupported_grant_type')
  })
})

test('[TOK-10] a SAML 2.0 assertion is a grant under its absolute URI, once, where the host switches it on', async () => {
  const grant_type = 'urn:ietf:params:oauth:grant-type:saml2-bearer'
  const client = bent(photoPrint, { grant_types: [grant_type] })
  const request = { grant_type, scope: 'photos:read' }
  const { flow, clock } = setStage({
    grantTypes: [saml2Bearer(samlOptions)],
    clients: [client.registration],
  })
  const assertion = encoded(signedXml({ now: Math.floor(clock.read() / 1000) }))
  expect(refusalOf(await flow.request(client, request))).toBe('400 invalid_request')
  const { accessToken } = tokensOf(await flow.request(client, { ...request, assertion }))
  expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'alice', scope: ['photos:read'] })
  expect(refusalOf(await flow.request(client, { ...request, assertion }))).toBe('400 invalid_grant')
  const without = setStage().flow.request(photoPrint, { ...request, assertion })
  expect(refusalOf(await without)).toBe('400 unsupported_grant_type')
})
