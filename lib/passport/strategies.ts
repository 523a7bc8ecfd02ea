import type { Request } from 'express'
import type { Strategy } from 'passport'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import type { PresentedClient } from '../client-authentication/method'
import { invalidClient } from '../protocol/oauth-error'

/**
 * A strategy for `passport.use`, in types of this suite: a host without Passport does not need the types of Passport.
 */
export interface ClientStrategy {
  /** `client_secret_basic`, `client_secret_post`, `none`, or the name of a method that the host added. */
  readonly name: string
  authenticate(request: Request, options?: unknown): void
}

/** What a strategy needs of a request. */
export interface ClientRequest {
  /**
   * The client that the request presents. The server examines a request once for all strategies.
   *
   * @throws OAuthError if the request presents no client.
   */
  present(): Promise<PresentedClient>
  /**
   * Authenticates that client, and stores it with the request.
   *
   * @throws OAuthError if the client does not authenticate.
   */
  prove(presented: PresentedClient): Promise<ProvenClient>
}

/**
 * Makes a Passport strategy of a method of client authentication, under the registered name of the method. The
 * strategy fails for a request that uses another method, so a host can list several strategies. For a request that
 * uses this method without success, the strategy ends in an `OAuthError`. On success, the `user` of Passport is the
 * client.
 */
export function clientStrategy(
  name: string,
  clientRequestOf: (request: Request) => ClientRequest,
): ClientStrategy {
  const strategy: Strategy & ClientStrategy = {
    name,
    authenticate(request: Request) {
      // The strategy reads the outcomes at once: a host may pass the strategy itself to `passport.authenticate`, and
      // then one object serves all requests.
      const { success, fail, error } = this
      const asked = clientRequestOf(request)
      const proven = async () => {
        const presented = await asked.present()
        return presented.method.name === name ? asked.prove(presented) : undefined
      }
      // `success` runs the rest of the request in the host. An error in there must not end as a silent rejection.
      proven()
        .then((outcome) => (outcome === undefined ? fail(401) : success(outcome.client)))
        .catch((thrown: unknown) => error(thrown))
    },
  }
  return strategy
}

/**
 * Runs a strategy by the contract of Passport: on an object of its own, whose methods are the outcomes. Passport
 * itself does not run. Passport chooses among strategies and costs as much as issuing a token, and the server knows
 * the method of the request already.
 *
 * @throws OAuthError if the strategy fails; any error that the strategy reports.
 */
export function runStrategy(strategy: ClientStrategy, request: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    const outcomes = {
      success: () => resolve(),
      fail: () => reject(invalidClient('client_not_authenticated', 'Client authentication failed.')),
      error: reject,
    }
    const running: ClientStrategy = Object.assign(Object.create(strategy), outcomes)
    running.authenticate(request)
  })
}
