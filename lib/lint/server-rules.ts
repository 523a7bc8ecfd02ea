import { isInMemory } from '../stores/in-memory'
import { type FindingPlace, type LintRule, optionWhen } from './rule'

/** Proof of possession of a code, transport, and where things are kept. */
export const serverRules: readonly LintRule[] = [
  {
    id: 'issuer-http',
    severity: 'warning',
    why: 'Without TLS everybody on the way reads codes, tokens and secrets; a loopback host is for development.',
    cure: 'Give the issuer of the deployment: an https URL.',
    source: 'RFC 9700 2.6',
    places: ({ settings }) => optionWhen(!settings.tlsRequired, 'issuer'),
  },
  {
    id: 'pkce-off',
    severity: 'error',
    why: 'A code that is intercepted or injected works without the proof that it belongs to this client.',
    cure: "Set pkce to 'all'; where an old confidential client cannot, to 'public'.",
    source: 'RFC 9700 2.1.1',
    places: ({ settings }) => optionWhen(settings.pkce === 'none', 'pkce'),
  },
  {
    id: 'pkce-public-only',
    severity: 'warning',
    why: 'A confidential client that does not use PKCE can be given the code of somebody else.',
    cure: "Set pkce to 'all' once your confidential clients use it.",
    source: 'RFC 9700 2.1.1',
    places: ({ settings, clients }) =>
      optionWhen(
        settings.pkce === 'public' &&
          clients.some(
            ({ client }) =>
              client.client_type === 'confidential' && client.grant_types.includes('authorization_code'),
          ),
        'pkce',
      ),
  },
  {
    id: 'default-scope-everything',
    severity: 'warning',
    why: 'A client that asks for nothing in particular gets every scope there is.',
    cure: 'Leave defaultScope out, or make it the least that is useful.',
    source: 'RFC 9700 2.3',
    places: ({ settings: { defaultScope, scopes } }) =>
      optionWhen(scopes.size > 1 && new Set(defaultScope).size === scopes.size, 'defaultScope'),
  },
  {
    id: 'memory-store',
    severity: 'warning',
    why: 'A restart forgets every token, and a second process knows none of the first.',
    cure: 'Set store, for instance to redisStore({ url }).',
    source: 'good practice',
    places: ({ settings }) => optionWhen(isInMemory(settings.store), 'store'),
  },
  {
    id: 'memory-counters',
    severity: 'warning',
    why: 'Each process counts failed attempts and single uses for itself, so limits grow with the processes.',
    cure: 'Set counters, for instance to redisStore({ url }).counters.',
    source: 'good practice',
    // A store in memory says it all.
    places: ({ settings: { store, counters } }) =>
      optionWhen(isInMemory(counters) && !isInMemory(store), 'counters'),
  },
  {
    id: 'memory-clients',
    severity: 'warning',
    why: 'A restart forgets every client that was registered.',
    cure: 'Set clients to a list, or to redisStore({ url }).clients.',
    source: 'good practice',
    places: ({ settings }) => optionWhen(isInMemory(settings.clientRegistry), 'clients'),
  },
]

const off = (limits: Readonly<Record<string, unknown>>, names: readonly string[], option: string) =>
  names.filter((name) => limits[name] === undefined).map((name) => `${option}.${name}`)

const each = (paths: readonly string[]): readonly FindingPlace[] =>
  paths.flatMap((path) => optionWhen(true, path))

/** How much a stranger may try. */
export const limitRules: readonly LintRule[] = [
  {
    id: 'client-guesses-unlimited',
    severity: 'error',
    why: 'A secret that a person chose can be guessed at this endpoint without an end.',
    cure: 'Leave clientAuthenticationLimits out; generated secrets are never locked out.',
    source: 'RFC 6749 2.3.1',
    places: ({ settings: { clientAuthenticationLimits: limits } }) =>
      optionWhen(
        Object.values(limits).every((limit) => limit === undefined),
        'clientAuthenticationLimits',
      ),
  },
  {
    id: 'rate-limit-off',
    severity: 'warning',
    why: 'One network alone can keep these endpoints busy.',
    cure: 'Give rateLimit more attempts instead of false, unless a proxy in front limits them.',
    source: 'RFC 6819 4.4.1.11',
    places: ({ settings }) => each(off({ ...settings.rateLimit }, ['authorization', 'clients'], 'rateLimit')),
  },
  {
    id: 'open-requests-unlimited',
    severity: 'warning',
    why: 'One resource owner can fill the store with consent pages that nobody answers.',
    cure: 'Give openRequestLimit more attempts instead of false.',
    source: 'RFC 6819 4.4.1.11',
    places: ({ settings }) => optionWhen(settings.openRequestLimit === undefined, 'openRequestLimit'),
  },
  {
    id: 'issuing-unlimited',
    severity: 'warning',
    why: 'One client, or one resource owner, can fill the store with tokens.',
    cure: 'Give issueLimits more attempts instead of false.',
    source: 'RFC 6819 4.4.1.11',
    places: ({ settings }) => each(off({ ...settings.issueLimits }, ['client', 'owner'], 'issueLimits')),
  },
  {
    id: 'single-uses-unlimited',
    severity: 'warning',
    why: 'One client can fill the counters that all share with nonces of signed requests.',
    cure: 'Give singleUseLimit more attempts instead of false.',
    source: 'RFC 6819 4.4.1.11',
    places: ({ settings }) => optionWhen(settings.singleUseLimit === undefined, 'singleUseLimit'),
  },
  {
    id: 'body-deadline',
    severity: 'warning',
    why: 'Each slow body holds a connection for so long.',
    cure: 'Set bodyDeadline to 30 or less; a form comes within a second.',
    source: 'good practice',
    places: ({ settings }) => optionWhen(settings.bodyDeadline > 30, 'bodyDeadline'),
  },
]
