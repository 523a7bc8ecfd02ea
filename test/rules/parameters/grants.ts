import { jwtBearer } from '../../../lib/paths/grants'
import { saml2Bearer } from '../../../lib/paths/saml'
import { audience, claimsAt, hub, issuers, jwt } from '../../support/assertions/jwt'
import { bent, nightlyReport, photoBook } from '../../support/flows/clients'
import { deviceCode } from '../../support/flows/device-stage'
import { oldBook, PasswordCheck, passwordRequest, withPassword } from '../../support/flows/password'
import { encoded, signedXml } from '../../support/saml/assertion'
import { options as samlOptions } from '../../support/saml/grant'
import {
  accessTokenType,
  actingAs,
  exchangeOf,
  exchanging,
  service,
} from '../../support/flows/token-exchange'
import type { Stage } from '../../support/flows/stores-of-run'
import { pollingFrame, withDevices } from './devices'
import { asToken, inBody, type Kind } from './requests'
import { grantTypeOf } from '../../support/grant-type-of'

/** Requests by the grants that a host switches on. */
export const password: Kind = {
  good: 'tokens',
  options: withPassword({ verify: new PasswordCheck().verify }),
  fields: async () => ({ ...inBody(oldBook), ...passwordRequest }),
  send: asToken,
}

const secondsOf = ({ clock }: Stage): number => Math.floor(clock.read() / 1000)

const byJwt = jwtBearer({ issuers, audience, resourceOwner: () => 'alice' })
const bySaml = saml2Bearer(samlOptions)
const vouching = bent(nightlyReport, { grant_types: [grantTypeOf(byJwt), grantTypeOf(bySaml)] })
const options = { plugins: [byJwt, bySaml], clients: [vouching.registration] }

export const jwtAssertion: Kind = {
  good: 'tokens',
  options,
  fields: async (set) => ({
    ...inBody(vouching),
    grant_type: grantTypeOf(byJwt),
    assertion: jwt(hub, claimsAt(secondsOf(set))),
    scope: 'photos:read',
  }),
  send: asToken,
}

export const samlAssertion: Kind = {
  good: 'tokens',
  options,
  fields: async (set) => ({
    ...inBody(vouching),
    grant_type: grantTypeOf(bySaml),
    assertion: encoded(signedXml({ now: secondsOf(set) })),
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

export const devicePoll: Kind = {
  good: '400 authorization_pending',
  options: withDevices,
  fields: async ({ flow }) => {
    const { body } = await flow.request(pollingFrame, { scope: 'photos:read' }, '/device_authorization')
    return { ...inBody(pollingFrame), grant_type: deviceCode, device_code: body.device_code }
  },
  send: asToken,
}
