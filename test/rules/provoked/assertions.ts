import express from 'express'
import { jwtBearer, type JwtBearerOptions } from '../../../lib/paths/grants'
import { saml2Bearer } from '../../../lib/paths/saml'
import * as forgeries from '../../flows/saml-bearer/forgeries'
import { forgedJwts } from '../../support/assertions/forged-jwts'
import { claimsAt, hub, issuers, jwt } from '../../support/assertions/jwt'
import { bent, photoBook, photoPrint } from '../../support/flows/clients'
import { formOf } from '../../support/flows/flow'
import { rawRequest } from '../../support/flows/raw-request'
import { noon } from '../../support/noon'
import { conditionsXml, encoded, signedXml } from '../../support/saml/assertion'
import { options } from '../../support/saml/grant'
import { area, open, registered, twice } from './provoke'

const grantName = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const desk = bent(photoPrint, { grant_types: ['authorization_code', grantName] })
const app = bent(photoBook, { grant_types: ['authorization_code', grantName] })
const resourceOwner = ({ subject }: { readonly subject: string }) => (subject === 'x' ? undefined : 'alice')
const trusting = (bend: Partial<JwtBearerOptions> = {}) =>
  jwtBearer({ issuers, audience: 'http://localhost', resourceOwner, ...bend })
const ofProvider = jwtBearer({ identityProviders: issuers, resourceOwner })

/** A server that trusts an issuer of assertions. */
function assertionStage(grantType = trusting()) {
  const { flow } = open({ clients: registered(desk, app), plugins: [grantType], clock: () => noon * 1000 })
  const send = (assertion: string, client = desk) =>
    flow.request(client, { grant_type: grantName, assertion, scope: 'photos:read' })
  const assert = (claims: object = {}) => send(jwt(hub, { ...claimsAt(noon), ...claims }))
  return { send, assert }
}
type Assertions = ReturnType<typeof assertionStage>

const byProvider =
  (claims: object, client = desk) =>
  () => {
    const usual = { ...claimsAt(noon), client_id: 'photo-print', scope: 'photos:read' }
    const assertion = jwt(hub, { ...usual, ...claims }, { typ: 'oauth-id-jag+jwt' })
    return assertionStage(ofProvider).send(assertion, client)
  }

const forged = forgedJwts(claimsAt(noon), noon).map(
  ({ reason, token }) => [reason, ({ send }: Assertions) => send(token)] as const,
)

export const assertions = area('assertions', assertionStage, {
  ...Object.fromEntries(forged),
  assertion_subject_refused: ({ assert }) => assert({ sub: 'x' }),
  assertion_replayed: ({ assert }) => twice(() => assert({ jti: 'once' })),
  assertion_keys_unavailable: () =>
    assertionStage(trusting({ issuers: [{ issuer: hub.issuer, jwks_uri: 'http://127.0.0.1:1/' }] })).assert(),
  'client_not_confidential/id_jag': byProvider({}, app),
  assertion_of_another_client: byProvider({ client_id: 'photo-book' }),
  assertion_bound_to_key: byProvider({ cnf: {} }),
  assertion_details_unsupported: byProvider({ authorization_details: [] }),
  assertion_resource_unknown: byProvider({ resource: 'urn:none' }),
  scope_not_asserted: byProvider({ scope: 'photos:print' }),
})

const samlName = 'urn:ietf:params:oauth:grant-type:saml2-bearer'
const bearer = bent(photoPrint, { grant_types: ['authorization_code', samlName] })

function samlStage() {
  const grantTypes = [saml2Bearer(options)]
  const set = open({ clients: registered(bearer), plugins: [...grantTypes], clock: () => noon * 1000 })
  const fieldsOf = (assertion: string) => ({ grant_type: samlName, assertion, scope: 'photos:read' })
  const send = (assertion: string) => set.flow.request(bearer, fieldsOf(assertion))
  return { ...set, fieldsOf, send }
}

const ofSaml = Object.values(forgeries)
  .flatMap((some) => (typeof some === 'string' ? [] : some))
  .filter(([, reason]) => reason.startsWith('saml_'))
  .map(([, reason, assertion]) => [reason, ({ send }: ReturnType<typeof samlStage>) => send(assertion)])

export const samlAssertions = area('SAML assertions', samlStage, {
  ...Object.fromEntries(ofSaml),
  saml_instant_malformed: ({ send }) =>
    send(encoded(signedXml({ now: noon, conditions: conditionsXml({ now: noon }).replace('Z"', '"') }))),
  // A parser of the host takes larger bodies, whose length nobody tells.
  saml_too_large: ({ app: router, fieldsOf }) => {
    const headers = ['Content-Type', 'application/x-www-form-urlencoded', 'Transfer-Encoding', 'chunked']
    const client = { client_id: 'photo-print', client_secret: bearer.secret }
    const body = formOf({ ...client, ...fieldsOf('x'.repeat(70_000)) })
    return rawRequest(express().use(express.urlencoded(), router), {
      method: 'POST',
      path: '/token',
      headers,
      body,
    })
  },
})
