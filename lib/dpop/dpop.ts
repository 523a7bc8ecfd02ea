import type { Plugin, PluginGuard, PluginRisk } from '../doors/plug-in'
import { booleanMember } from '../protocol/client'
import type { RefusalTerms } from '../protocol/refusals'
import { boundToken, dpopName } from './bound-token'
import { type DpopOptions, type DpopRules, type NonceRules, readDpopOptions } from './dpop-options'
import { keyBinding } from './key-binding'
import { Nonces, ProofCheck } from './proof-check'
import { isInMemory } from '../store/store'
import './registration'

/**
 * Binds access tokens to a key of the client (RFC 9449): a thief who copies one cannot use it. The proof of a
 * token request chooses the token type `DPoP`. The refresh tokens of public clients are bound, too, and an
 * authorization request may bind its code with `dpop_jkt`. Pass the same plug-in to each guard of another
 * process.
 *
 * A proof passes once in all processes that share a store; else once in each process.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function dpop(options: DpopOptions = {}): Plugin {
  const rules = readDpopOptions(options)
  return {
    name: dpopName,
    open(server) {
      const atEndpoints = proofCheck(rules, rules.nonces, `authorization server ${server.issuer}`, server, {})
      return {
        tokenTypes: [tokenType(rules, server)],
        ...keyBinding(rules, atEndpoints, server),
        // RFC 9449 5.1
        metadata: { dpop_signing_alg_values_supported: rules.algorithms },
        // RFC 9449 5.2
        clientMembers: [booleanMember('dpop_bound_access_tokens')],
        risks: isInMemory(server.storage) ? [] : risksOf(rules),
      }
    },
    openInGuard: (guard) => ({ tokenTypes: [tokenType(rules, guard)] }),
  }
}

function tokenType(rules: DpopRules, guard: PluginGuard) {
  const place = `resource server ${guard.issuer}`
  // RFC 9449 7.1 and 9. The scheme is known, so no other challenge helps (RFC 9449 7.2).
  const refusal = { status: 401, challenge: {}, schemes: ['DPoP'] }
  return boundToken(rules, proofCheck(rules, rules.guardNonces, place, guard, refusal))
}

function proofCheck(
  { algorithms, tolerance }: DpopRules,
  nonces: NonceRules | undefined,
  place: string,
  { random, now }: PluginGuard,
  refusal: RefusalTerms,
): ProofCheck {
  const made = nonces && new Nonces(nonces.secret ?? random(43), place, nonces.seconds, tolerance)
  return new ProofCheck({ algorithms, tolerance, nonces: made, refusal, now })
}

// A store may be shared, and the nonces are not.
function risksOf(rules: DpopRules): readonly PluginRisk[] {
  const kinds = ['nonces', 'guardNonces'] as const
  return kinds
    .filter((kind) => rules[kind] !== undefined && rules[kind].secret === undefined)
    .map((kind) => ({ rule: 'dpop-nonce-secret', path: `${kind}.secret` }))
}
