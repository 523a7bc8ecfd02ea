import { jwtBearer } from '../../../lib/index'
import { audience, claimsAt, hub, issuers, jwt } from '../../support/assertions/jwt'
import { bent, nightlyReport, photoBook } from '../../support/flows/clients'
import { oldBook, PasswordCheck, passwordRequest, withPassword } from '../../support/flows/password'
import {
  accessTokenType,
  actingAs,
  exchangeOf,
  exchanging,
  service,
} from '../../support/flows/token-exchange'
import { asToken, inBody, type Kind } from './requests'

/** Requests by the grants that a host switches on. */
export const password: Kind = {
  good: 'tokens',
  options: withPassword({ verify: new PasswordCheck().verify }),
  fields: async () => ({ ...inBody(oldBook), ...passwordRequest }),
  send: asToken,
}

const bearer = jwtBearer({ issuers, audience, resourceOwner: () => 'alice' })
const vouching = bent(nightlyReport, { grant_types: [bearer.name] })
export const jwtAssertion: Kind = {
  good: 'tokens',
  options: { grantTypes: [bearer], clients: [vouching.registration] },
  fields: async ({ clock }) => ({
    ...inBody(vouching),
    grant_type: bearer.name,
    assertion: jwt(hub, claimsAt(Math.floor(clock.read() / 1000))),
    scope: 'photos:read',
  }),
  send: asToken,
}

export const exchange: Kind = {
  good: 'tokens',
  options: exchanging(),
  fields: async ({ flow }) => ({
    ...inBody(service),
    ...exchangeOf((await flow.tokens(photoBook)).accessToken, await actingAs(flow)),
    requested_token_type: accessTokenType,
    scope: 'photos:read',
  }),
  send: asToken,
}
