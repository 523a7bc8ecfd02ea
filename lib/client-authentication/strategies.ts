import type { Request } from 'express'
import type { Client } from '../protocol/client'
import { invalidClient } from '../protocol/oauth-error'
import type { ProvenClient } from './authenticate-client'
import { ClientCredential } from './read-credential'

/**
 * A strategy for `passport.use`, in types of this suite: a host without Passport does not need the types of Passport.
 */
export interface ClientStrategy {
  /** `client_secret_basic`, `client_secret_post`, `none`, or the name of a method that the host added. */
  readonly name: string
  authenticate(request: Request, options?: unknown): void
}

/** A strategy of this server. `this` holds the outcomes, as Passport calls a strategy. */
export interface ServerStrategy extends ClientStrategy {
  /** @param options the credential, if the server has read it; or else the options of Passport. */
  authenticate(this: Outcomes, request: Request, options?: unknown): void
}

/** The outcomes of a strategy. */
interface Outcomes {
  /** @param info what Passport calls info, and sets as `req.authInfo`. */
  readonly success: (client: Client, info: Omit<ProvenClient, 'client'>) => void
  readonly fail: (status: number) => void
  readonly error: (thrown: unknown) => void
}

/**
 * Authenticates the client of a request by one method. Resolves to undefined if the request uses another method.
 *
 * @param credential the credential of the request; undefined before it was read.
 * @throws OAuthError if the request presents no client, or the client does not authenticate.
 */
export type AuthenticateBy = (
  request: Request,
  method: string,
  credential: ClientCredential | undefined,
) => Promise<ProvenClient | undefined>

/**
 * Makes a Passport strategy of a method of client authentication, under the registered name of the method. The
 * strategy fails for a request that uses another method, so a host can list several strategies. For a request that
 * uses this method without success, the strategy ends in an `OAuthError`. On success, the `user` of Passport is the
 * client.
 */
export function clientStrategy(name: string, authenticateBy: AuthenticateBy): ServerStrategy {
  return {
    name,
    authenticate(request, options) {
      // The strategy reads the outcomes at once: a host may pass the strategy itself to `passport.authenticate`, and
      // then one object serves all requests.
      const { success, fail, error } = this
      const settle = (proven: ProvenClient | undefined) => {
        // `success` runs the rest of the request in the host. An error in there must not end as a silent rejection.
        try {
          if (proven === undefined) fail(401)
          else success(proven.client, { byOldSecret: proven.byOldSecret })
        } catch (thrown) {
          error(thrown)
        }
      }
      const credential = options instanceof ClientCredential ? options : undefined
      authenticateBy(request, name, credential).then(settle, error)
    },
  }
}

/**
 * Verifies the credential of a request: runs the strategy of its method by the contract of Passport. Passport itself does
 * not run. Passport chooses among strategies and costs as much as issuing a token, and the server knows the method of the
 * request already.
 *
 * @throws OAuthError if the strategy fails; any error that the strategy reports.
 */
export function verifyCredential(
  strategy: ServerStrategy,
  request: Request,
  credential: ClientCredential,
): Promise<ProvenClient> {
  return new Promise((resolve, reject) => {
    const outcomes: Outcomes = {
      success: (client, { byOldSecret }) => resolve({ client, byOldSecret }),
      fail: () => reject(invalidClient('client_not_authenticated', 'Client authentication failed.')),
      error: reject,
    }
    strategy.authenticate.call(outcomes, request, credential)
  })
}
