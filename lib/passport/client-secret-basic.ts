import type { Request } from 'express'
import { BasicStrategy } from 'passport-http'
import type { ProvenClient } from '../client-authentication/authenticate-client'
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
  const basic = new BasicStrategy({ passReqToCallback: true }, (request, clientId, secret, done) => {
    const presented = {
      method,
      clientId: decodeURIComponent(clientId),
      credential: decodeURIComponent(secret),
    }
    verification.verify(presented, request).then((proven) => done(null, proven), done)
  })
  return (presented, request) =>
    new Promise<ProvenClient>((resolve, reject) => {
      const attempt: BasicStrategy = Object.assign(Object.create(basic), {
        success: resolve,
        error: reject,
        fail: () => reject(invalidClient('basic_refused', 'Client authentication failed.')),
      })
      attempt.authenticate(rewritten(request, presented))
    })
}

function rewritten(request: Request, { clientId, credential }: PresentedClient): Request {
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(credential)}`
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  return Object.create(request, { headers: { value: { ...request.headers, authorization } } })
}
