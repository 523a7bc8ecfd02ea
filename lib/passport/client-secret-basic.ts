import type { Request } from 'express'
import { BasicStrategy } from 'passport-http'
import type { ClientAuthenticationMethod, PresentedClient } from '../client-authentication/method'
import { invalidClient } from '../protocol/oauth-error'
import type { VerifyPresented } from './client-strategy'
import type { ClientVerification } from './client-verification'

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
