import type { Request } from 'express'
import type { Strategy } from 'passport'
import { BasicStrategy } from 'passport-http'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import type { ClientAuthenticationMethod, PresentedClient } from '../client-authentication/method'
import { invalidClient } from '../protocol/oauth-error'
import { type ClientVerification, rememberClient } from './client-verification'

/** A Passport strategy for each method of client authentication. */
export function clientStrategies(
  methods: readonly ClientAuthenticationMethod[],
  verification: ClientVerification,
): readonly ClientStrategy[] {
  const directly: VerifyPresented = (presented, request) => verification.verify(presented, request)
  return methods.map((method) => {
    const prove = method.name === 'client_secret_basic' ? passportHttpProof(method, verification) : directly
    return clientStrategy(method.name, verification, prove)
  })
}

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

/**
 * Proves a client through passport-http. That strategy alone decodes no form encoding, cuts a secret at its second colon
 * and takes any scheme whose name contains "Basic"; so the header is parsed strictly before, and what it gets to see is
 * written anew, with both halves percent encoded.
 */
export function passportHttpProof(
  method: ClientAuthenticationMethod,
  verification: ClientVerification,
): VerifyPresented {
  return async (presented, request) => verification.verify({ method, ...reader.read(presented) }, request)
}

type Pair = Pick<PresentedClient, 'clientId' | 'credential'>

/** Reads a header through passport-http, which calls back before it returns. */
class BasicReader extends BasicStrategy {
  private pair: Pair | undefined
  readonly success = (): void => {}
  readonly error = refuse
  readonly fail = refuse

  constructor() {
    super((clientId, secret, done) => {
      this.pair = { clientId: decodeURIComponent(clientId), credential: decodeURIComponent(secret) }
      done(null, true)
    })
  }

  read(presented: Pair): Pair {
    this.pair = undefined
    // All that it looks at.
    const request: Request = Object.create({ headers: { authorization: rewritten(presented) } })
    this.authenticate(request)
    return this.pair ?? refuse()
  }
}

const reader = new BasicReader()

function refuse(): never {
  throw invalidClient('basic_refused', 'Client authentication failed.')
}

function rewritten({ clientId, credential }: Pair): string {
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(credential)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
