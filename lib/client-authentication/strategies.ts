import type { Request } from 'express'
import type { Client } from '../protocol/client'
import { invalidClient } from '../protocol/oauth-error'
import type { ProvenClient } from './authenticate-client'
import { ClientCredential } from './read-credential'

/** A strategy for `passport.use`, which needs no types of Passport. */
export interface ClientStrategy {
  /** `client_secret_basic`, `client_secret_post`, `none`, or the name of a host's method. */
  readonly name: string
  authenticate(request: Request, options?: unknown): void
}

/** `this` holds the outcomes, as Passport calls a strategy. */
export interface ServerStrategy extends ClientStrategy {
  /** @param options the credential, if the server has read it; or else the options of Passport. */
  authenticate(this: Outcomes, request: Request, options?: unknown): void
}

interface Outcomes {
  /** @param info becomes `req.authInfo`. */
  readonly success: (client: Client, info: Omit<ProvenClient, 'client'>) => void
  readonly fail: (status: number) => void
  readonly error: (thrown: unknown) => void
}

/**
 * Resolves to undefined if the request uses another method.
 *
 * @param credential undefined before it was read.
 * @throws OAuthError if the request presents no client, or it does not authenticate.
 */
export type AuthenticateBy = (
  request: Request,
  method: string,
  credential: ClientCredential | undefined,
) => Promise<ProvenClient | undefined>

/**
 * The strategy fails for a request that uses another method, so a host can list several; for one that uses
 * this method without success, it ends in an `OAuthError`. On success, Passport's `user` is the client.
 */
export function clientStrategy(name: string, authenticateBy: AuthenticateBy): ServerStrategy {
  return {
    name,
    authenticate(request, options) {
      // Read at once: a host may pass the strategy itself to `passport.authenticate`, so one object serves
      // all requests.
      const { success, fail, error } = this
      const settle = (proven: ProvenClient | undefined) => {
        // `success` runs the rest of the request in the host, whose error must not end as a silent rejection.
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
 * Runs the strategy by Passport's contract, without Passport, which chooses among strategies and costs as
 * much as issuing a token: the server knows the method already.
 *
 * @throws OAuthError if the strategy fails; any error that it reports.
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
