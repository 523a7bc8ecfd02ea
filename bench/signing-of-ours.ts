import { dpop } from 'express-authorization-server/dpop'
import { jwtAccessTokens, signingKeys } from 'express-authorization-server/jwt'
import { openIdConnect } from 'express-authorization-server/openid-connect'
import { resource, scope } from './cast'

const secrets = ['a secret of the benchmark, of 32 characters']

/**
 * The options for what `BENCH_JWT` or `BENCH_ID_TOKEN` signs with the algorithm in it, or for what `BENCH_DPOP` verifies; without
 * them, none.
 */
export function signingOfOurs() {
  const [accessTokens, idTokens] = [process.env['BENCH_JWT'], process.env['BENCH_ID_TOKEN']].map(algorithmOf)
  if (accessTokens !== undefined) {
    const keys = signingKeys({ secrets, algorithms: [accessTokens] })
    return { resources: { [resource]: { scopes: [scope] } }, plugins: [keys, jwtAccessTokens({ keys })] }
  }
  if (process.env['BENCH_DPOP'] !== undefined) return { plugins: [dpop({ baseUrl: 'http://127.0.0.1' })] }
  if (idTokens === undefined) return {}
  const keys = signingKeys({ secrets, algorithms: [idTokens] })
  return { plugins: [keys, openIdConnect({ keys, algorithm: idTokens })] }
}

/** What clients may ask for besides the scope of the benchmark. */
export const identityScopes: Readonly<Record<string, string>> =
  process.env['BENCH_ID_TOKEN'] === undefined ? {} : { openid: 'Know who you are' }

function algorithmOf(name: string | undefined) {
  return (['ES256', 'EdDSA', 'RS256'] as const).find((algorithm) => algorithm === name)
}
