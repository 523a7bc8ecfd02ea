import express from 'express'
import { serverForPartner } from '../../../docs/examples/jwt-bearer'
import { claimsAt, jwt, signer } from '../../support/assertions/jwt'
import { KeyServer } from '../../support/assertions/key-server'
import { canonicalOptions } from '../../support/flows/application'
import { bent, photoPrint } from '../../support/flows/clients'
import { Flow } from '../../support/flows/flow'
import { refusalOf, tokensOf } from '../../support/flows/tokens'

const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const partner = signer('https://login.partner.example', 'partner-1')
const desk = bent(photoPrint, { client_id: 'partner-desk', grant_types: [grant_type], redirect_uris: [] })
const other = bent(photoPrint, { grant_types: [grant_type], redirect_uris: [] })

const keys = new KeyServer()
beforeAll(() => keys.start())
afterAll(() => keys.stop())

test('the example accepts assertions of its partner, from one client and for known subjects', async () => {
  keys.publish(partner.jwk)
  const clients = [desk.registration, other.registration]
  const oauth = serverForPartner({ ...canonicalOptions, clients }, keys.uri, async (employee) =>
    employee === 'e-17' ? 'alice' : undefined,
  )
  const flow = new Flow(express().use(oauth.router()))
  const ask = (bend: object, client = desk) => {
    const claims = claimsAt(Math.floor(Date.now() / 1000), partner)
    const assertion = jwt(partner, { ...claims, sub: 'e-17', email_verified: true, ...bend })
    return flow.request(client, { grant_type, assertion, scope: 'photos:read' })
  }
  tokensOf(await ask({}))
  expect(refusalOf(await ask({ sub: 'e-18' }))).toBe('400 invalid_grant')
  expect(refusalOf(await ask({ email_verified: 'true' }))).toBe('400 invalid_grant')
  expect(refusalOf(await ask({}, other))).toBe('400 invalid_grant')
})
