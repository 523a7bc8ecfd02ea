import { hashSync } from 'bcrypt'
import { generateClientSecret, type ClientRegistration } from '../../../lib/index'

/** A client as its developers see it: the registration, and the secret that only they know. */
export interface ClientApplication {
  readonly registration: ClientRegistration
  readonly secret?: string
}

/** An app on a phone: public. */
export const photoBook = {
  registration: {
    client_id: 'photo-book',
    client_type: 'public',
    client_name: 'Photo Book',
    redirect_uris: ['https://book.example/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'photos:read photos:print',
  },
} satisfies ClientApplication

const generated = generateClientSecret()

/** A web application: confidential, with a secret that this suite made. */
export const photoPrint = {
  registration: {
    client_id: 'photo-print',
    client_type: 'confidential',
    client_name: 'Photo Print',
    client_secret_hashes: [generated.client_secret_hash],
    redirect_uris: ['https://print.example/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'photos:read photos:print',
  },
  secret: generated.client_secret,
} satisfies ClientApplication

const chosen = 'correct horse battery staple'

/** A web application of the old days: confidential, with a secret that a person chose. */
export const photoFrame = {
  registration: {
    client_id: 'photo-frame',
    client_type: 'confidential',
    client_name: 'Photo Frame',
    // The lowest cost that bcrypt has: what it costs is not the matter here.
    client_secret_hashes: [hashSync(chosen, 4)],
    redirect_uris: ['https://frame.example/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'photos:read',
  },
  secret: chosen,
} satisfies ClientApplication

const ofTheNight = generateClientSecret()

/** A job without a user: acts for itself. */
export const nightlyReport = {
  registration: {
    client_id: 'nightly-report',
    client_type: 'confidential',
    client_name: 'Nightly Report',
    client_secret_hashes: [ofTheNight.client_secret_hash],
    grant_types: ['client_credentials'],
    scope: 'photos:read reports:write',
  },
  secret: ofTheNight.client_secret,
} satisfies ClientApplication

export const everyClient: readonly ClientApplication[] = [photoBook, photoPrint, photoFrame, nightlyReport]

/** Bends some fields of an application's registration. */
export function bent(client: ClientApplication, bend: Partial<ClientRegistration>): ClientApplication {
  return { ...client, registration: { ...client.registration, ...bend } }
}
