import type { Request } from 'express'
import type { Strategy } from 'passport'
import type { Client } from '../protocol/client'
import { invalidClient } from '../protocol/oauth-error'

/**
 * A strategy for `passport.use`, in types of this suite: a host without Passport does not need the types of Passport.
 */
export interface ClientStrategy {
  /** `client_secret_basic`, `client_secret_post`, `none`, or the name of a method that the host added. */
  readonly name: string
  authenticate(request: Request, options?: unknown): void
}

/**
 * Authenticates the client of a request by one method, and stores the client with the request. Resolves to undefined if
 * the request uses another method.
 *
 * @throws OAuthError if the request presents no client, or the client does not authenticate.
 */
export type AuthenticateBy = (request: Request, method: string) => Promise<Client | undefined>

/**
 * Makes a Passport strategy of a method of client authentication, under the registered name of the method. The
 * strategy fails for a request that uses another method, so a host can list several strategies. For a request that
 * uses this method without success, the strategy ends in an `OAuthError`. On success, the `user` of Passport is the
 * client.
 */
export function clientStrategy(name: string, authenticateBy: AuthenticateBy): ClientStrategy {
  const strategy: Strategy & ClientStrategy = {
    name,
    authenticate(request: Request) {
      // The strategy reads the outcomes at once: a host may pass the strategy itself to `passport.authenticate`, and
      // then one object serves all requests.
      const { success, fail, error } = this
      const settle = (client: Client | undefined) => {
        // `success` runs the rest of the request in the host. An error in there must not end as a silent rejection.
        try {
          if (client === undefined) fail(401)
          else success(client)
        } catch (thrown) {
          error(thrown)
        }
      }
      authenticateBy(request, name).then(settle, error)
    },
  }
  return strategy
}

/**
 * Runs a strategy by the contract of Passport: `this` is an object of its own, whose methods are the outcomes. Passport
 * itself does not run. Passport chooses among strategies and costs as much as issuing a token, and the server knows
 * the method of the request already.
 *
 * @param onSuccess returns the result when the strategy has succeeded.
 * @throws OAuthError if the strategy fails; any error that the strategy reports.
 */
export function runStrategy<Result>(
  strategy: ClientStrategy,
  request: Request,
  onSuccess: () => Result,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const success = () => resolve(onSuccess())
    const fail = () => reject(invalidClient('client_not_authenticated', 'Client authentication failed.'))
    strategy.authenticate.call({ name: strategy.name, success, fail, error: reject }, request)
  })
}
