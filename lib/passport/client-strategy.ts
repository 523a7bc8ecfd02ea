import type { Request } from 'express'
import type { Strategy } from 'passport'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import type { PresentedClient } from '../client-authentication/method'
import { rememberClient } from './authenticated-client'
import type { ClientVerification } from './client-verification'

/**
 * What `passport.use` takes, in words of this suite: a host without Passport needs no types of it.
 */
export interface ClientStrategy {
  /** `client_secret_basic`, `client_secret_post`, `none`, or that of a method which the host added. */
  readonly name: string
  authenticate(request: Request, options?: unknown): void
}

/** Proves a client, given the request that presented it. @throws OAuthError when it is not proven. */
export type VerifyPresented = (presented: PresentedClient, request: Request) => Promise<ProvenClient>

/**
 * A method of client authentication as a Passport strategy, under the name that the registry gives the method. It fails
 * for a request that uses another method, so that strategies can be listed, and ends in an `OAuthError` for one that
 * uses its own in vain. On success Passport's "user" is the client.
 */
export function clientStrategy(
  name: string,
  verification: ClientVerification,
  prove: VerifyPresented,
): ClientStrategy {
  const strategy: Strategy & ClientStrategy = {
    name,
    authenticate(request: Request) {
      // Taken now: a strategy that is handed to `passport.authenticate` itself is one object for all requests.
      const { success, fail, error } = this
      const proven = async () => {
        const presented = await verification.present(request)
        return presented.method.name === name ? prove(presented, request) : undefined
      }
      const conclude = (outcome: ProvenClient | undefined) => {
        if (outcome === undefined) return fail(401)
        rememberClient(request, outcome)
        return success(outcome.client)
      }
      // What `success` runs is the rest of the host's request: a throw in there must not end as a silent rejection.
      proven()
        .then(conclude)
        .catch((thrown: unknown) => error(thrown))
    },
  }
  return strategy
}
