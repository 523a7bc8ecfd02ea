import { optionWhen, type FindingPlace, type LintRule } from './rule'

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
