import type { ProgramInProcess } from './programs-in-process'
import { betterAuthJwt } from './stories/better-auth'
import { bound } from './stories/dpop'
import { guarding, jwt } from './stories/jwt'
import { oidcProviderIdToken, oidcProviderJwt } from './stories/oidc-provider'
import { ours, oursIdToken, oursJwt } from './stories/ours'
import type { Stories } from './story'

const [curve, edwards] = ['ES256', 'EdDSA'] as const
const algorithms = [curve, edwards] as const
// What OpenID Connect asks of every server is RS256.
const idTokenAlgorithms = [curve, 'RS256'] as const
const { guard } = ours

/** What signs tokens, verifies them, or asks another server about them. */
export const signedPrograms: Readonly<Record<string, ProgramInProcess>> = {
  ...ofEach(algorithms, (algorithm) => ({
    [`better-auth, JWT ${algorithm}`]: {
      program: 'better-auth',
      environment: { BENCH_JWT: algorithm },
      stories: betterAuthJwt(algorithm),
    },
  })),
  ...ofEach(algorithms, (algorithm) => ({
    [`oidc-provider, JWT ${algorithm}`]: {
      program: 'oidc-provider',
      environment: { BENCH_JWT: algorithm },
      stories: oidcProviderJwt(algorithm),
    },
  })),
  ...ofEach(algorithms, (algorithm) => ({
    [`suite, JWT ${algorithm}`]: {
      program: 'ours',
      environment: { BENCH_JWT: algorithm },
      stories: oursJwt(algorithm),
    },
  })),
  ...ofEach(idTokenAlgorithms, (algorithm) => ({
    [`oidc-provider, ID token ${algorithm}`]: {
      program: 'oidc-provider',
      environment: { BENCH_ID_TOKEN: algorithm },
      stories: oidcProviderIdToken(algorithm),
    },
  })),
  ...ofEach(idTokenAlgorithms, (algorithm) => ({
    [`suite, ID token ${algorithm}`]: {
      program: 'ours',
      environment: { BENCH_ID_TOKEN: algorithm },
      stories: oursIdToken(algorithm),
    },
  })),
  ...ofEach(algorithms, (algorithm) => ({
    [`suite, by signature ${algorithm}, verified before`]: {
      program: 'ours',
      environment: { BENCH_JWT: algorithm, BENCH_GUARD: 'signature' },
      stories: { guard: oursJwt(algorithm).guard },
    },
  })),
  ...ofEach(algorithms, (algorithm) => ({
    [`suite, by signature ${algorithm}, verified each time`]: {
      program: 'ours-jwt',
      environment: { BENCH_ALGORITHM: algorithm, BENCH_VERIFIED: 'each time' },
      stories: guardOnly(jwt),
    },
  })),
  ...ofEach(algorithms, (algorithm) => ({
    [`express-oauth2-jwt-bearer ${algorithm}`]: {
      program: 'express-oauth2-jwt-bearer',
      environment: { BENCH_ALGORITHM: algorithm },
      stories: guardOnly(jwt),
    },
  })),
  'oidc-provider, DPoP ES256': {
    program: 'oidc-provider',
    environment: { BENCH_DPOP: 'ES256' },
    stories: bound,
  },
  'suite, DPoP ES256': { program: 'ours', environment: { BENCH_DPOP: 'ES256' }, stories: bound },
  'suite, by introspection, asked before': {
    program: 'ours',
    environment: { BENCH_GUARD: 'introspection, asked before' },
    stories: { guard },
  },
  'suite, by introspection, asked each time': {
    program: 'ours',
    environment: { BENCH_GUARD: 'introspection, asked each time' },
    stories: { guard },
  },
  'bare, asks each time': { program: 'bare-asking', stories: guarding },
}

function ofEach<Algorithm extends string>(
  names: readonly Algorithm[],
  programs: (algorithm: Algorithm) => Readonly<Record<string, ProgramInProcess>>,
): Readonly<Record<string, ProgramInProcess>> {
  return Object.assign({}, ...names.map(programs))
}

function guardOnly({ guardJwt }: Stories): Stories {
  return { guard: guardJwt }
}
