import { generateClientSecret, type ClientRegistration } from '../../lib/index'
import {
  bent,
  nightlyReport,
  photoBook,
  photoFrame,
  photoPrint,
  type ClientApplication,
} from '../support/flows/clients'
import { television as setTopBox } from '../support/flows/device-stage'
import { service as nightService } from '../support/flows/token-exchange'

export const jwtBearerName = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** An app on a phone: public, so it must use PKCE. */
export const book: ClientApplication = photoBook

/** A confidential client that may use every grant with an owner in it. */
export const print = bent(photoPrint, {
  grant_types: ['authorization_code', 'refresh_token', 'password', jwtBearerName],
})

/** A client that acts for itself, exchanges tokens and introspects. */
export const service = nightService

/** A client whose tokens are of the type mac. */
export const signer = bent(nightlyReport, { client_id: 'night-signer', token_type: 'mac' })

/** A device without a keyboard. */
export const television = setTopBox

const generated = generateClientSecret()

/**
 * A client that is none of those that ask: its credentials are good, and never good for what others hold. As long as no
 * client has a secret that a person chose, a wrong one costs no bcrypt, and more can be tried.
 */
export const stranger: ClientApplication = {
  ...bent(photoFrame, { client_secret_hashes: [generated.client_secret_hash] }),
  secret: generated.client_secret,
}

export const everyParty: readonly ClientApplication[] = [book, print, service, signer, television, stranger]

export const registrations: readonly ClientRegistration[] = everyParty.map(({ registration }) => registration)

/** Where alone a user agent may be sent, besides to the host's login. */
export const registeredPlaces: ReadonlySet<string> = new Set(
  registrations.flatMap(({ redirect_uris = [] }) => redirect_uris),
)

/** Every client there is: a request may turn into a good one of another client. */
export const registeredIds: ReadonlySet<string> = new Set(registrations.map(({ client_id }) => client_id))
