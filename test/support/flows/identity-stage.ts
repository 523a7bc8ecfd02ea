import { generateKeyPairSync } from 'node:crypto'
import type { AuthorizationServerOptions } from '../../../lib/index'
import { openIdConnect, type OpenIdConnectOptions } from '../../../lib/paths/openid-connect'
import { signingKeys } from '../../../lib/paths/jwt'
import { rsaKeyPair } from '../rsa-keys'
import { bent, nightlyReport, photoPrint } from './clients'
import { partOf } from './jwt-tokens'
import type { SetStage } from './stores-of-run'
import { withPlugins } from '../with-plug-ins'

const every = 'openid profile email address phone photos:read'

/** A web application with "log in with …". */
export const relyingParty = bent(photoPrint, { client_id: 'relying-party', scope: every })

/** A job that introspects. */
export const introspector = bent(nightlyReport, { may_introspect: true })

export const alice = {
  name: 'Alice Adams',
  picture: null,
  email: 'alice@example.com',
  email_verified: true,
  address: { locality: 'Berlin' },
  secret: 'not for clients',
}

const rsa = rsaKeyPair().privateKey
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

export const identityKeys = () => signingKeys({ keys: [{ privateKey: rsa }, { privateKey: ec }] })

/** A server with OpenID Connect, whose owner logged in at a known time. */
export function withIdentity(
  bend: Partial<AuthorizationServerOptions> = {},
  identity: Partial<OpenIdConnectOptions> = {},
): Partial<AuthorizationServerOptions> {
  const keys = identityKeys()
  const claims = async (subject: string) => (subject === 'nobody' ? undefined : alice)
  return {
    clients: [relyingParty.registration, introspector.registration],
    scopes: {
      openid: 'Know who you are',
      profile: 'See your name',
      email: 'See your e-mail address',
      address: 'See your address',
      phone: 'See your telephone number',
      'photos:read': 'See your photos',
      'reports:write': 'Write reports',
    },
    resourceOwner: (req) => {
      const subject = req.get('X-Owner')
      return subject && { subject, authTime: 1_700_000_000, acr: 'mfa', amr: ['pwd', 'otp'] }
    },
    ...bend,
    plugins: withPlugins([keys, openIdConnect({ keys, claims, ...identity })], bend.plugins),
  }
}

/** Sets a stage with OpenID Connect. */
export const identityStage =
  (stage: SetStage) =>
  (...given: Parameters<typeof withIdentity>) =>
    stage(withIdentity(...given))

/** The claims of an ID token, whoever signed it. */
export const claimsIn = (idToken: string) => partOf(idToken, 1)
