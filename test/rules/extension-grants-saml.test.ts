import { saml2Bearer } from '../../lib/index'
import { bent, photoPrint } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { encoded, signedXml } from '../support/saml/assertion'
import { options } from '../support/saml/grant'

const grant_type = 'urn:ietf:params:oauth:grant-type:saml2-bearer'
const client = bent(photoPrint, { grant_types: [grant_type] })
const clients = [client.registration]
const request = { grant_type, scope: 'photos:read' }

test('[TOK-10] a SAML 2.0 assertion is a grant under its absolute URI, with the extra parameter assertion', async () => {
  const { flow, clock } = setStage({ grantTypes: [saml2Bearer(options)], clients })
  const assertion = encoded(signedXml({ now: Math.floor(clock.read() / 1000) }))
  expect(refusalOf(await flow.request(client, request))).toBe('400 invalid_request')
  const { accessToken } = tokensOf(await flow.request(client, { ...request, assertion }))
  expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'alice', scope: ['photos:read'] })
  expect(refusalOf(await flow.request(client, { ...request, assertion }))).toBe('400 invalid_grant')
})

test('[TOK-10] without it the URI is an unsupported grant type', async () => {
  const { flow } = setStage()
  expect(refusalOf(await flow.request(photoPrint, { ...request, assertion: 'x' }))).toBe(
    '400 unsupported_grant_type',
  )
})
