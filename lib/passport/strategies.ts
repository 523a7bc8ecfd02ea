import type { Request } from 'express'
import type { Strategy } from 'passport'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import type { PresentedClient } from '../client-authentication/method'
import { invalidClient } from '../protocol/oauth-error'

/**
 * What `passport.use` takes, in words of this suite: a host without Passport needs no types of it.
 */
export interface ClientStrategy {
  /** `client_secret_basic`, `client_secret_post`, `none`, or that of a method which the host added. */
  readonly name: string
  authenticate(request: Request, options?: unknown): void
}

/** What strategies ask of a request that they authenticate. */
export interface ClientRequest {
  /** The client that the request presents, examined once for all strategies. @throws OAuthError when it presents none. */
  present(): Promise<PresentedClient>
  /** Proves that client, and remembers it with the request. @throws OAuthError when it is not proven. */
  prove(presented: PresentedClient): Promise<ProvenClient>
}

/**
 * A method of client authentication as a Passport strategy, under the name that the registry gives the method. It fails
 * for a request that uses another method, so that strategies can be listed, and ends in an `OAuthError` for one that
 * uses its own in vain. On success Passport's "user" is the client.
 */
export function clientStrategy(
  name: string,
  clientRequestOf: (request: Request) => ClientRequest,
): ClientStrategy {
  const strategy: Strategy & ClientStrategy = {
    name,
    authenticate(request: Request) {
      // Taken now: a strategy that is handed to `passport.authenticate` itself is one object for all requests.
      const { success, fail, error } = this
      const asked = clientRequestOf(request)
      const proven = async () => {
        const presented = await asked.present()
        return presented.method.name === name ? asked.prove(presented) : undefined
      }
      // What `success` runs is the rest of the host's request: a throw in there must not end as a silent rejection.
      proven()
        .then((outcome) => (outcome === undefined ? fail(401) : success(outcome.client)))
        .catch((thrown: unknown) => error(thrown))
    },
  }
  return strategy
}

/**
 * Runs a strategy by the contract of Passport: on an object of its own, which has the outcomes as methods. Passport chooses
 * among strategies and its run costs as much as issuing a token; here the method of the request is settled before.
 *
 * @throws OAuthError when the strategy fails, and whatever it breaks with.
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
