import { jwtBearer, saml2Bearer } from '../../lib/index'
import { audience, claimsAt, hub, hubOnCurve, issuers, jwt } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { encoded, museum, signedXml, studio } from '../support/saml/assertion'
import { options } from '../support/saml/grant'

describe('jwt bearer', () => {
  const accounts = new Map([['alice@issuer.example', 'alice']])
  const grantType = jwtBearer({
    issuers,
    audience,
    resourceOwner: ({ subject }) => accounts.get(subject),
  })
  const grant_type = grantType.name
  const desk = bent(photoPrint, { grant_types: ['authorization_code', 'refresh_token', grant_type] })
  const clients = [desk.registration, photoBook.registration]

  const open = (stage: SetStage, grantTypes = [grantType]) => stage({ grantTypes, clients })
  const claimsNow = ({ clock }: Stage) => claimsAt(Math.floor(clock.read() / 1000))
  const fields = (assertion: string) => ({ grant_type, assertion, scope: 'photos:read' })

  const offered = async ({ flow }: Stage) =>
    (await flow.open('/.well-known/oauth-authorization-server')).body.grant_types_supported

  describeOnStores('A JWT as a grant', (stage) => {
    test("gives an access token in its owner's name, and no refresh token even to a client that may refresh", async () => {
      const set = open(stage)
      const response = await set.flow.request(desk, fields(jwt(hub, claimsNow(set))))
      expect(Object.keys(response.body)).toEqual(['access_token', 'token_type', 'expires_in', 'scope'])
      expect((await set.flow.photos(tokensOf(response).accessToken)).body).toMatchObject({
        subject: 'alice',
        clientId: 'photo-print',
        scope: ['photos:read'],
      })
    })

    test('is accepted once, for as long as it would be valid [jwt-16]', async () => {
      const set = open(stage)
      const assertion = jwt(hub, claimsNow(set))
      tokensOf(await set.flow.request(desk, fields(assertion)))
      for (const seconds of [0, 329, 1]) {
        set.clock.advance(seconds)
        expect(refusalOf(await set.flow.request(desk, fields(assertion)))).toBe('400 invalid_grant')
      }
      expect(set.failures.map(({ reason }) => reason)).toEqual([
        'assertion_replayed',
        'assertion_replayed',
        'assertion_expired',
      ])
    })

    test('of 20 parallel requests with one assertion exactly one wins [jwt-15]', async () => {
      const set = open(stage)
      const request = fields(jwt(hub, claimsNow(set)))
      const responses = await Promise.all(Array.from({ length: 20 }, () => set.flow.request(desk, request)))
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(19)
    })

    test('that ends between two seconds is taken', async () => {
      const set = open(stage)
      const claims = claimsNow(set)
      const assertion = jwt(hub, { ...claims, exp: Number(claims['exp']) + 0.123 })
      expect(tokensOf(await set.flow.request(desk, fields(assertion))).scope).toBe('photos:read')
    })

    test('is not spent by a request that is refused', async () => {
      const set = open(stage)
      const good = fields(jwt(hub, claimsNow(set)))
      const ask = async (bend: object, client = desk) =>
        refusalOf(await set.flow.request(client, { ...good, ...bend }))
      expect(await ask({ scope: 'reports:write' })).toBe('400 invalid_scope')
      expect(await ask({ scope: undefined })).toBe('400 invalid_scope')
      expect(await ask({ assertion: '' })).toBe('400 invalid_request')
      expect(await ask({}, photoBook)).toBe('400 unauthorized_client')
      expect(await ask({}, { ...desk, secret: 'wrong' })).toBe('401 invalid_client')
      tokensOf(await set.flow.request(desk, good))
    })

    test('about an unknown subject is refused, and its event contains nothing of it [jwt-18]', async () => {
      const set = open(stage)
      const assertion = jwt(hub, { ...claimsNow(set), sub: 'mallory' })
      expect(refusalOf(await set.flow.request(desk, fields(assertion)))).toBe('400 invalid_grant')
      expect(set.failures).toMatchObject([{ reason: 'assertion_subject_refused', cause: undefined }])
      expect(refusalOf(await set.flow.request(desk, fields(jwt(hub, { ...claimsNow(set), aud: 'x' }))))).toBe(
        '400 invalid_grant',
      )
      expect(set.failures).toMatchObject([{}, { reason: 'assertion_audience_wrong', cause: undefined }])
    })

    test('stands in the metadata where it is switched on', async () => {
      expect(await offered(open(stage))).toContain('urn:ietf:params:oauth:grant-type:jwt-bearer')
      expect(await offered(stage())).not.toContain('urn:ietf:params:oauth:grant-type:jwt-bearer')
    })
  })

  describeOnStores('Keys that an issuer publishes', (stage) => {
    let server: KeyServer
    beforeEach(async () => {
      server = new KeyServer()
      await server.start()
    })
    afterEach(() => server.stop())

    const openWithServer = () =>
      open(stage, [
        jwtBearer({
          issuers: [{ issuer: hub.issuer, jwks_uri: server.uri }],
          audience,
          resourceOwner: () => 'alice',
        }),
      ])

    test('may change: a new key is good soon, an old one not for long [jwt-11]', async () => {
      server.publish(hub.jwk)
      const set = openWithServer()
      const ask = (by: typeof hub) => set.flow.request(desk, fields(jwt(by, claimsNow(set))))
      tokensOf(await ask(hub))
      server.publish(hubOnCurve.jwk)
      set.clock.advance(10)
      tokensOf(await ask(hubOnCurve))
      expect(refusalOf(await ask(hub))).toBe('400 invalid_grant')
      expect(server.requests).toBe(2)
    })

    test('that cannot be had are no fault of the assertion, which is good when they can', async () => {
      server.say((_request, response) => void response.writeHead(503).end())
      const set = openWithServer()
      const request = fields(jwt(hub, claimsNow(set)))
      const response = await set.flow.request(desk, request)
      expect(refusalOf(response)).toBe('400 temporarily_unavailable')
      expect(response.get('Retry-After')).toBe('1')
      expect(set.failures).toMatchObject([
        {
          reason: 'assertion_keys_unavailable',
          cause: { message: `${server.uri} responded with status 503.` },
        },
      ])
      server.publish(hub.jwk)
      set.clock.advance(10)
      tokensOf(await set.flow.request(desk, request))
    })
  })
})

describe('saml2 bearer', () => {
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

    test('distinguishes two owners of one name by their issuers [saml-15]', async () => {
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

    test('takes an assertion once, whichever client sends it again [saml-13]', async () => {
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
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => place.flow.request(bearer, request)),
      )
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(19)
    })

    test('a refusal leaves the assertion unused, and has one description for all reasons [saml-16]', async () => {
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
      expect(refusalOf(await place.flow.request(photoPrint, asking(assertion)))).toBe(
        '400 unauthorized_client',
      )
    })

    test('stands in the metadata when it is switched on, and only then', async () => {
      expect(await supported(open(stage))).toContain(grant_type)
      expect(await supported(stage())).not.toContain(grant_type)
    })
  })
})
