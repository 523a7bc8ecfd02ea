import { generateKeyPairSync } from 'node:crypto'
import type { Plugin } from '../lib/index'
import { openIdConnect } from '../lib/paths/openid-connect'
import { signingKeys, type SigningKeysOptions } from '../lib/paths/jwt'
import { claimsOf } from './accounts'

/** The scopes of "sign in with Lumen", with what the consent page says of them. */
export const identityScopes = {
  openid: 'Know who you are',
  profile: 'See your name',
  email: 'See your e-mail address',
}

/** OpenID Connect: clients learn who logged in, when and how. */
export function logInWithLumen(): readonly Plugin[] {
  const keys = signingKeys(keySource(process.env['SIGNING_KEY_SECRET']))
  return [keys, openIdConnect({ keys, claims: claimsOf })]
}

// With a secret, the key is sealed in the store, for all processes and the next start. Without one, it ends with this
// process. Every client knows RS256.
function keySource(secret: string | undefined): SigningKeysOptions {
  if (secret !== undefined) return { secrets: [secret], algorithms: ['RS256'] }
  return { keys: [{ privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey }] }
}
