import type { ClientAuthenticationMethod } from '../client-authentication/method'
import { clientStrategy, type ClientStrategy, type VerifyPresented } from './client-strategy'
import { passportHttpProof } from './client-secret-basic'
import type { ClientVerification } from './client-verification'

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
