import type { Request } from 'express'
import type { Client } from '../protocol/client'
import type { ProvenClient } from './authenticate-client'

/** A strategy for `passport.use`, which needs no types of Passport. */
export interface ClientStrategy {
  /** `client_secret_basic`, `client_secret_post`, `none`, or the name of a host's method. */
  readonly name: string
  authenticate(request: Request, options?: unknown): void
}

interface Outcomes {
  // `info` becomes `req.authInfo`.
  readonly success: (client: Client, info: Omit<ProvenClient, 'client'>) => void
  readonly fail: (status: number) => void
  readonly error: (thrown: unknown) => void
}

export type AuthenticateAtHost = (request: Request, method: string) => Promise<ProvenClient | undefined>

// Fails for another method, so a host can list several strategies. Passport's `user` is the client.
export function clientStrategy(name: string, authenticateAtHost: AuthenticateAtHost): ClientStrategy {
  return {
    name,
    authenticate(this: Outcomes, request: Request) {
      // A host may pass the strategy itself to `passport.authenticate`: one object then serves all requests.
      const { success, fail, error } = this
      const settle = (proven: ProvenClient | undefined) => {
        // `success` runs the rest of the request: an error of the host must not be lost.
        try {
          if (proven === undefined) fail(401)
          else success(proven.client, { byOldSecret: proven.byOldSecret })
        } catch (thrown) {
          error(thrown)
        }
      }
      authenticateAtHost(request, name).then(settle, error)
    },
  }
}
