import { jwtBearerName } from './grant-names'
import { issuers } from '../../support/assertions/jwt'
import {
  bent,
  nightlyReport,
  photoBook,
  photoFrame,
  photoPrint,
  type ClientApplication,
} from '../../support/flows/clients'
import { service as nightService } from '../../support/flows/token-exchange'
import { generateClientSecret, type ClientRegistration, type TrustedIssuer } from '../../../lib/index'
import type { RedisPlan } from '../../support/redis-plan'
import type { Fault } from './planted-faults'

/** What the server process is told by its only argument. */
export interface FuzzPlan {
  readonly clients: readonly ClientRegistration[]
  readonly issuers: readonly TrustedIssuer[]
  /** Memory, where it is left out. */
  readonly redis?: RedisPlan
  /** A mistake for the judge to find. */
  readonly fault?: Fault
}

/** An app on a phone: public, so it must use PKCE. */
export const book = photoBook

/** A confidential client that may use every grant with an owner in it. */
export const print = bent(photoPrint, {
  grant_types: ['authorization_code', 'refresh_token', 'password', jwtBearerName],
})

/** A client that acts for itself, exchanges tokens and introspects. */
export const service = nightService

/** A client whose tokens are of the type mac. */
export const signer = bent(nightlyReport, { client_id: 'night-signer', token_type: 'mac' })

const generated = generateClientSecret()

/**
 * A client that is none of those that ask: its credentials are good, and never good for what others hold. As long as no
 * client has a secret that a person chose, a wrong one costs no bcrypt, and more can be tried.
 */
export const stranger: ClientApplication = {
  ...bent(photoFrame, { client_secret_hashes: [generated.client_secret_hash] }),
  secret: generated.client_secret,
}

export const everyParty: readonly ClientApplication[] = [book, print, service, signer, stranger]

export const planOfMemory: FuzzPlan = {
  clients: everyParty.map(({ registration }) => registration),
  issuers,
}

/** Where alone a user agent may be sent, besides to the host's login. */
export const registeredPlaces: ReadonlySet<string> = new Set(
  everyParty.flatMap(({ registration: { redirect_uris = [] } }) => redirect_uris),
)

/** Every client there is: a request may turn into a good one of another client. */
export const registeredIds: ReadonlySet<string> = new Set(
  everyParty.map(({ registration }) => registration.client_id),
)
