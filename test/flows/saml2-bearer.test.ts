import { saml2Bearer } from '../../lib/index'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { encoded, museum, signedXml, studio } from '../support/saml/assertion'
import { options } from '../support/saml/grant'

const owners = new Map([
  [`alice of ${studio.entry.issuer}`, 'alice'],
  [`alice of ${museum.entry.issuer}`, 'another alice'],
])
const grantType = saml2Bearer({
  ...options,
  resourceOwner: ({ subject, issuer }) => owners.get(`${subject} of ${issuer}`),
})
const grant_type = grantType.name
const bearer = bent(photoPrint, { grant_types: ['authorization_code', 'refresh_token', grant_type] })
const printer = bent(photoBook, { grant_types: ['authorization_code', grant_type] })
const clients = [bearer.registration, printer.registration]

const open = (stage: SetStage) => stage({ grantTypes: [grantType], clients })
const fresh = ({ clock }: Stage, bend: Parameters<typeof signedXml>[0] = {}) =>
  signedXml({ now: Math.floor(clock.read() / 1000), ...bend })
const asking = (assertion: string) => ({ grant_type, assertion, scope: 'photos:read' })

const supported = async ({ flow }: Stage) =>
  (await flow.open('/.well-known/oauth-authorization-server')).body.grant_types_supported

describeOnStores('The SAML 2.0 bearer grant', (stage) => {
  test('gives an access token in the name of whom the issuer vouches for, and no refresh token', async () => {
    const place = open(stage)
    const response = await place.flow.request(bearer, asking(encoded(fresh(place))))
    const { accessToken, refreshToken } = tokensOf(response)
    expect(refreshToken).toBe('')
    expect((await place.flow.photos(accessToken)).body).toMatchObject({
      subject: 'alice',
      clientId: bearer.registration.client_id,
      scope: ['photos:read'],
    })
  })

  test('tells two owners of one name apart by their issuers [saml-15]', async () => {
    const place = open(stage)
    const xml = fresh(place, { issuer: museum.entry.issuer })
    expect(refusalOf(await place.flow.request(bearer, asking(encoded(xml))))).toBe('400 invalid_grant')
    const now = Math.floor(place.clock.read() / 1000)
    const genuine = signedXml({ now, issuer: museum.entry.issuer }, { key: museum.privateKey })
    const { accessToken } = tokensOf(await place.flow.request(bearer, asking(encoded(genuine))))
    expect((await place.flow.photos(accessToken)).body).toMatchObject({ subject: 'another alice' })
  })

  test('takes plain base64 through the form encoding', async () => {
    const place = open(stage)
    const assertion = Buffer.from(fresh(place)).toString('base64')
    expect(tokensOf(await place.flow.request(bearer, asking(assertion))).scope).toBe('photos:read')
  })

  test('takes an assertion once, whoever brings it again and however [saml-13]', async () => {
    const place = open(stage)
    const xml = fresh(place)
    tokensOf(await place.flow.request(bearer, asking(encoded(xml))))
    for (const client of [bearer, printer])
      for (const again of [encoded(xml), encoded(`${xml}\n`)])
        expect(refusalOf(await place.flow.request(client, asking(again)))).toBe('400 invalid_grant')
    tokensOf(await place.flow.request(bearer, asking(encoded(fresh(place, { id: '_a2' })))))
  })

  test('of 20 parallel requests with one assertion exactly one wins [saml-14]', async () => {
    const place = open(stage)
    const request = asking(encoded(fresh(place)))
    const responses = await Promise.all(Array.from({ length: 20 }, () => place.flow.request(bearer, request)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(19)
  })

  test('a refusal leaves the assertion its use, and says one thing whatever is wrong [saml-16]', async () => {
    const place = open(stage)
    const xml = fresh(place)
    const request = asking(encoded(xml))
    const refused = async (bend: object) =>
      refusalOf(await place.flow.request(bearer, { ...request, ...bend }))
    expect(await refused({ assertion: undefined })).toBe('400 invalid_request')
    expect(await refused({ scope: 'reports:write' })).toBe('400 invalid_scope')
    const forged = [
      xml.replace('>alice<', '>bob<'),
      xml.replace('>alice<', '>al<!---->ice<'),
      `<a>${xml}</a>`,
    ]
    const answers = await Promise.all(
      [...forged.map(encoded), 'x'].map((assertion) => place.flow.request(bearer, asking(assertion))),
    )
    for (const { body } of answers)
      expect(body).toEqual({ error: 'invalid_grant', error_description: 'The assertion is not valid.' })
    tokensOf(await place.flow.request(bearer, request))
  })

  test('ends with the assertion, give or take the tolerance', async () => {
    const place = open(stage)
    const assertion = encoded(fresh(place))
    place.clock.advance(331)
    expect(refusalOf(await place.flow.request(bearer, asking(assertion)))).toBe('400 invalid_grant')
  })

  test('is refused to a client that is not registered for it', async () => {
    const place = stage({ grantTypes: [grantType], clients: [photoPrint.registration] })
    const assertion = encoded(fresh(place))
    expect(refusalOf(await place.flow.request(photoPrint, asking(assertion)))).toBe('400 unauthorized_client')
  })

  test('stands in the metadata when it is switched on, and only then', async () => {
    expect(await supported(open(stage))).toContain(grant_type)
    expect(await supported(stage())).not.toContain(grant_type)
  })
})
