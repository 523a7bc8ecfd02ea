import type { Request } from 'express'
import type { Client } from '../protocol/client'
import { refused } from '../protocol/refusals'
import type {
  AuthenticationContext,
  ClientVerification,
  Presented,
  ProvenClient,
} from './authenticate-client'
import type { ClientCredential } from './read-credential'

/** A strategy for `passport.use`, which needs no types of Passport. */
export interface ClientStrategy {
  /** `client_secret_basic`, `client_secret_post`, `none`, or the name of a host's method. */
  readonly name: string
  authenticate(request: Request, options?: unknown): void
}

export interface ServerStrategy extends ClientStrategy {
  /** @param options an {@link Attempt} of the server itself; or else Passport's options. */
  authenticate(this: Outcomes, request: Request, options?: unknown): void
}

interface Outcomes {
  /** @param info becomes `req.authInfo`. */
  readonly success: (client: Client, info: Omit<ProvenClient, 'client'>) => void
  readonly fail: (status: number) => void
  readonly error: (thrown: unknown) => void
}

/**
 * Reads the request of a host's Passport. Resolves to undefined if it uses another method.
 *
 * @throws OAuthError if the request presents no client, or it does not authenticate.
 */
export type AuthenticateAtHost = (request: Request, method: string) => Promise<ProvenClient | undefined>

/**
 * Fails for a request that uses another method, so a host can list several strategies. Without success by
 * this method, ends in an `OAuthError`. Passport's `user` is the client.
 */
export function clientStrategy(
  name: string,
  verification: ClientVerification,
  authenticateAtHost: AuthenticateAtHost,
): ServerStrategy {
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
      if (!(options instanceof Attempt)) return void authenticateAtHost(request, name).then(settle, error)
      const proven = verification.verifyAtOnce(options)
      if (proven === undefined) verification.verify(options).then(settle, error)
      else success(proven.client, proven)
    },
  }
}

/** Runs a strategy without Passport, which costs as much as issuing a token. */
export class Attempt implements Presented, Outcomes {
  /** Undefined: see {@link settled}. */
  proven: ProvenClient | undefined
  private settle: ((proven: ProvenClient) => void) | undefined
  private refuse: ((thrown: unknown) => void) | undefined

  constructor(
    readonly credential: ClientCredential,
    readonly client: Presented['client'],
    readonly context: AuthenticationContext,
  ) {}

  by(strategy: ServerStrategy, request: Request): this {
    strategy.authenticate.call(this, request, this)
    return this
  }

  readonly success: Outcomes['success'] = (client, { byOldSecret }) => {
    this.proven = { client, byOldSecret }
    this.settle?.(this.proven)
  }

  readonly fail = (): void => this.error(refused('client_not_authenticated'))

  readonly error = (thrown: unknown): void => this.refuse?.(thrown)

  /** Of a strategy that waits. */
  settled(): Promise<ProvenClient> {
    if (this.proven !== undefined) return Promise.resolve(this.proven)
    return new Promise((resolve, reject) => {
      this.settle = resolve
      this.refuse = reject
    })
  }
}
