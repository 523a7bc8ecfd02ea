import type { Client } from '../protocol/client'
import { hasDigest } from '../protocol/credential'
import type { Extension } from '../protocol/extension'
import { refused } from '../protocol/refusals'

export type PkceRequirement = 'public' | 'all' | 'none'

export const pkceName = 'pkce'

// RFC 7636 4.2 and 4.1.
const challengeGrammar = /^[A-Za-z0-9_-]{43}$/
const verifierGrammar = /^[A-Za-z0-9\-._~]{43,128}$/

/** RFC 7636 with `S256` only: `plain` does not protect against who reads the request. */
export function pkce(requirement: PkceRequirement): Extension {
  const required = (client: Client) =>
    requirement === 'all' || (requirement === 'public' && client.client_type === 'public')
  return {
    name: pkceName,
    authorizationParameters: ['code_challenge', 'code_challenge_method'],
    tokenParameters: ['code_verifier'],
    authorizationMetadata: { code_challenge_methods_supported: ['S256'] },

    authorize({ client, parameters, responseType }) {
      // RFC 7636 1: a response without a code needs no proof.
      if (!responseType.grantTypes.includes('authorization_code')) return undefined
      const challenge = parameters.get('code_challenge')
      const method = parameters.get('code_challenge_method')
      if (challenge === undefined) {
        if (required(client) || method !== undefined) throw refused('pkce_challenge_missing')
        return undefined
      }
      // RFC 7636 4.3 and 4.4.1: no method means plain.
      if (method !== 'S256') throw refused('pkce_method_unsupported')
      if (!challengeGrammar.test(challenge)) throw refused('pkce_challenge_malformed')
      return { data: challenge }
    },

    issue({ grantType, parameters, authorizationData: challenge }) {
      if (grantType !== 'authorization_code') return undefined
      const verifier = parameters.get('code_verifier')
      if (challenge === undefined) {
        // RFC 9700 4.8.2: a sign of a downgrade attack.
        if (verifier !== undefined) throw refused('pkce_verifier_unexpected')
        return undefined
      }
      if (verifier === undefined) throw refused('pkce_verifier_missing')
      if (!verifierGrammar.test(verifier)) throw refused('pkce_verifier_malformed')
      if (typeof challenge !== 'string' || !hasDigest(verifier, challenge))
        throw refused('pkce_verifier_wrong')
      return undefined
    },
  }
}
