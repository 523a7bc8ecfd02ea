import type { ServerSettings } from '../../config/settings'
import { isInMemory } from '../../stores/in-memory'
import { type FindingPlace, type LintRule, optionWhen } from './lint-rule'

export const serverRules: readonly LintRule[] = [
  {
    id: 'issuer-http',
    severity: 'warning',
    why: 'Anybody on the way can read codes, tokens and secrets.',
    cure: 'Set issuer to the https URL of the deployment.',
    source: 'RFC 9700 2.6',
    places: ({ settings }) => optionWhen(!settings.tlsRequired, 'issuer'),
  },
  {
    id: 'pkce-off',
    severity: 'error',
    why: 'An intercepted or injected code works.',
    cure: "Set pkce to 'all', or to 'public' if an old confidential client cannot use PKCE.",
    source: 'RFC 9700 2.1.1',
    places: ({ settings }) => optionWhen(settings.pkce === 'none', 'pkce'),
  },
  {
    id: 'pkce-public-only',
    severity: 'warning',
    why: 'An attacker can inject a code into a confidential client without PKCE.',
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
    why: 'A client that asks for no scope gets every scope.',
    cure: 'Set defaultScope to the smallest useful scope, or leave it out.',
    source: 'RFC 9700 2.3',
    places: ({ settings: { defaultScope, scopes } }) =>
      optionWhen(scopes.size > 1 && new Set(defaultScope).size === scopes.size, 'defaultScope'),
  },
  {
    id: 'memory-store',
    severity: 'warning',
    why: 'A restart forgets every token, and a second process knows none of them.',
    cure: 'Set store, such as redisStore({ url }).',
    source: 'good practice',
    places: ({ settings }) => optionWhen(isInMemory(settings.store), 'store'),
  },
  {
    id: 'memory-counters',
    severity: 'warning',
    why: 'Each process counts failures and single uses for itself.',
    cure: 'Set counters, such as redisStore({ url }).counters.',
    source: 'good practice',
    // The rule memory-store is enough.
    places: ({ settings: { store, counters } }) =>
      optionWhen(isInMemory(counters) && !isInMemory(store), 'counters'),
  },
  {
    id: 'memory-clients',
    severity: 'warning',
    why: 'A restart forgets every registered client.',
    cure: 'Set clients to a list, or to redisStore({ url }).clients.',
    source: 'good practice',
    places: ({ settings }) => optionWhen(isInMemory(settings.clientRegistry), 'clients'),
  },
  {
    // The plug-in finds the places.
    id: 'dpop-nonce-secret',
    severity: 'warning',
    why: 'Each process refuses the nonces of the others, so clients have to ask again and again.',
    cure: 'Set the secret of nonces and of guardNonces to one text in all processes.',
    source: 'good practice',
    places: ({ settings: { plugIns } }) =>
      plugIns.risks
        .filter(({ rule }) => rule === 'dpop-nonce-secret')
        .map(({ path }) => ({ path, client: undefined })),
  },
]

export const strangerRules: readonly LintRule[] = [
  {
    id: 'registration-open',
    severity: 'warning',
    why: 'Anybody can register a client under any name.',
    cure: 'Set dynamicRegistration.initialAccessToken, unless you cannot know your clients.',
    source: 'RFC 7591 5',
    places: ({ settings: { dynamicRegistration } }) =>
      optionWhen(isOpen(dynamicRegistration), 'dynamicRegistration'),
  },
  {
    id: 'registration-every-scope',
    severity: 'warning',
    why: 'A client that registered itself may ask for every scope.',
    cure: 'Set dynamicRegistration.scope to what strangers may ask for.',
    source: 'RFC 9700 2.3',
    places: ({ settings: { dynamicRegistration, scopes } }) =>
      optionWhen(
        scopes.size > 1 && new Set(dynamicRegistration?.scope).size === scopes.size,
        'dynamicRegistration.scope',
      ),
  },
]

const year = 365 * 24 * 3600

export const consentRules: readonly LintRule[] = [
  {
    id: 'skip-consent-resources',
    severity: 'warning',
    why: 'A function that compares only client and scope takes approval of one resource for another.',
    cure: 'Remember facts with each approval, and compare them. Then allow this rule.',
    source: 'good practice',
    places: ({ settings: { skipConsent, resources } }) =>
      optionWhen(skipConsent !== undefined && (resources?.all.length ?? 0) > 1, 'skipConsent'),
  },
  {
    id: 'remember-consent-no-end',
    severity: 'warning',
    why: 'A person can neither see nor take back what the server remembers.',
    cure: 'Set authorizations to true: people then have a page that lists and ends what they allowed.',
    source: 'good practice',
    places: ({ settings: { rememberConsent, authorizations } }) =>
      optionWhen(rememberConsent !== undefined && !authorizations, 'rememberConsent'),
  },
  {
    id: 'remember-consent-long',
    severity: 'warning',
    why: 'A person hardly remembers a decision of more than a year ago.',
    cure: 'Set rememberConsent.seconds to 31536000 or less.',
    source: 'good practice',
    places: ({ settings: { rememberConsent } }) =>
      optionWhen(rememberConsent !== undefined && rememberConsent.seconds > year, 'rememberConsent.seconds'),
  },
]

function isOpen(registration: ServerSettings['dynamicRegistration']): boolean {
  return registration !== undefined && registration.verifyInitialAccessToken === undefined
}

const off = (limits: Readonly<Record<string, unknown>>, names: readonly string[], option: string) =>
  names.filter((name) => limits[name] === undefined).map((name) => `${option}.${name}`)

const each = (paths: readonly string[]): readonly FindingPlace[] =>
  paths.flatMap((path) => optionWhen(true, path))

export const limitRules: readonly LintRule[] = [
  {
    id: 'client-guesses-unlimited',
    severity: 'error',
    why: 'Guesses at a secret that a person chose have no limit.',
    cure: 'Leave limits.clientAuthentication out.',
    source: 'RFC 6749 2.3.1',
    places: ({ settings: { clientAuthenticationLimits: limits } }) =>
      optionWhen(
        Object.values(limits).every((limit) => limit === undefined),
        'limits.clientAuthentication',
      ),
  },
  {
    id: 'rate-limit-off',
    severity: 'warning',
    why: 'One network alone can keep these endpoints busy.',
    cure: 'Raise the attempts of limits.networks instead, unless a proxy limits requests.',
    source: 'RFC 6819 4.4.1.11',
    places: ({ settings: { rateLimit, dynamicRegistration } }) => {
      const registration = isOpen(dynamicRegistration) ? ['registration'] : []
      return each(off({ ...rateLimit }, ['authorization', 'clients', ...registration], 'limits.networks'))
    },
  },
  {
    id: 'open-requests-unlimited',
    severity: 'warning',
    why: 'One resource owner can fill the store with open authorization requests.',
    cure: 'Raise the attempts of limits.openRequests instead.',
    source: 'RFC 6819 4.4.1.11',
    places: ({ settings }) => optionWhen(settings.openRequestLimit === undefined, 'limits.openRequests'),
  },
  {
    id: 'issuing-unlimited',
    severity: 'warning',
    why: 'One client, or one resource owner, can fill the store with tokens.',
    cure: 'Raise the attempts of limits.issuing instead.',
    source: 'RFC 6819 4.4.1.11',
    places: ({ settings }) => each(off({ ...settings.issueLimits }, ['client', 'owner'], 'limits.issuing')),
  },
  {
    id: 'single-uses-unlimited',
    severity: 'warning',
    why: 'One client can fill the shared counters with nonces.',
    cure: 'Raise the attempts of limits.singleUses instead.',
    source: 'RFC 6819 4.4.1.11',
    places: ({ settings }) => optionWhen(settings.singleUseLimit === undefined, 'limits.singleUses'),
  },
  {
    id: 'body-deadline',
    severity: 'warning',
    why: 'Each slow body can hold a connection this long.',
    cure: 'Set bodyDeadline to 30 or less.',
    source: 'good practice',
    places: ({ settings }) => optionWhen(settings.bodyDeadline > 30, 'bodyDeadline'),
  },
]
