import { BasicStrategy } from 'passport-http'
import type { ClientAuthenticationMethod, PresentedClient } from '../client-authentication/method'
import { invalidClient } from '../protocol/oauth-error'
import type { Proof } from './client-strategy'
import type { ClientVerification } from './client-verification'

/**
 * Proves a client through passport-http. That strategy alone decodes no form encoding, cuts a secret at its second colon
 * and takes any scheme whose name contains "Basic"; so the header is parsed strictly before, and what it gets to see is
 * written anew, with both halves percent encoded.
 */
export function passportHttpProof(
  method: ClientAuthenticationMethod,
  verification: ClientVerification,
): Proof {
  return async (presented, request) => verification.verify({ method, ...readBy(presented) }, request)
}

type Pair = Pick<PresentedClient, 'clientId' | 'credential'>

const basic = new BasicStrategy((clientId, secret, done) => {
  const pair: Pair = { clientId: decodeURIComponent(clientId), credential: decodeURIComponent(secret) }
  done(null, pair)
})

function readBy(presented: Pair): Pair {
  const read: { pair?: Pair } = {}
  const attempt: ReadsHeaders = Object.assign(Object.create(basic), {
    success: (pair: Pair) => (read.pair = pair),
    error: refuse,
    fail: refuse,
  })
  attempt.authenticate({ headers: { authorization: rewritten(presented) } })
  return read.pair ?? refuse()
}

/** All that passport-http looks at. */
interface ReadsHeaders {
  authenticate(request: { readonly headers: { readonly authorization: string } }): void
}

const refuse = () => {
  throw invalidClient('basic_refused', 'Client authentication failed.')
}

function rewritten({ clientId, credential }: Pair): string {
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(credential)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
