import type { Request } from 'express'
import type { Client } from '../protocol/client'
import { refused } from '../protocol/refusals'
import type { ProvenClient } from './authenticate-client'
import { ClientCredential } from './read-credential'

/** A strategy for `passport.use`, which needs no types of Passport. */
export interface ClientStrategy {
  /** `client_secret_basic`, `client_secret_post`, `none`, or the name of a host's method. */
  readonly name: string
  authenticate(request: Request, options?: unknown): void
}

export interface ServerStrategy extends ClientStrategy {
  /** @param options the credential, if the server has read it; or else Passport's options. */
  authenticate(this: Outcomes, request: Request, options?: unknown): void
}

interface Outcomes {
  /** @param info becomes `req.authInfo`. */
  readonly success: (client: Client, info: Omit<ProvenClient, 'client'>) => void
  readonly fail: (status: number) => void
  readonly error: (thrown: unknown) => void
}

/** @throws OAuthError if the request presents no client, or it does not authenticate. */
export type AuthenticateBy = (
  request: Request,
  method: string,
  credential: ClientCredential | undefined,
) => Promise<ProvenClient | undefined>

/**
 * Fails for a request that uses another method, so a host can list several strategies. Without success by
 * this method, ends in an `OAuthError`. Passport's `user` is the client.
 */
export function clientStrategy(name: string, authenticateBy: AuthenticateBy): ServerStrategy {
  return {
    name,
    authenticate(request, options) {
      // A host may pass the strategy itself to `passport.authenticate`: one object then serves all requests.
      const { success, fail, error } = this
      const settle = (proven: ProvenClient | undefined) => {
        // `success` runs the rest of the request in the host: its error must not end as a silent rejection.
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

/** Without Passport, which costs as much as issuing a token: the server knows the method already. */
export function verifyCredential(
  strategy: ServerStrategy,
  request: Request,
  credential: ClientCredential,
): Promise<ProvenClient> {
  return new Promise((resolve, reject) => {
    const outcomes: Outcomes = {
      success: (client, { byOldSecret }) => resolve({ client, byOldSecret }),
      fail: () => reject(refused('client_not_authenticated')),
      error: reject,
    }
    strategy.authenticate.call(outcomes, request, credential)
  })
}
