import {
  generateClientSecret,
  type AuthorizationServerOptions,
  type ClientRegistration,
} from '../../lib/index'

const generated = generateClientSecret()

/** The secret of the photo printer. */
export const printerSecret = generated.client_secret

/** Where the photo printer takes its answers. */
export const callback = 'https://printer.example/callback'

/** A web application that prints photos: confidential, with every grant that the server has. */
export const printer = {
  client_id: 'photo-printer',
  client_type: 'confidential',
  client_secret_hashes: [generated.client_secret_hash],
  redirect_uris: [callback],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  scope: 'photos.read photos.write',
  client_name: 'Photo Printer',
} satisfies ClientRegistration

/** An application on a phone: public, without credentials. */
export const phone = {
  client_id: 'photo-phone',
  client_type: 'public',
  redirect_uris: ['com.example.phone:/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  scope: 'photos.read',
} satisfies ClientRegistration

/** Options of a server that knows both and at which alice is logged in, with some of them bent. */
export function optionsWith(bend: Partial<AuthorizationServerOptions> = {}): AuthorizationServerOptions {
  return {
    issuer: 'http://localhost',
    clients: [printer, phone],
    scopes: { 'photos.read': 'See your photos', 'photos.write': 'Change your photos' },
    resourceOwner: () => ({ subject: 'alice', name: 'Alice' }),
    ...bend,
  }
}
