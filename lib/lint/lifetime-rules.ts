import { optionWhen, type LintRule } from './rule'

const hour = 3600
const day = 24 * hour

/** How long things live, and how long is waited for. */
export const lifetimeRules: readonly LintRule[] = [
  {
    id: 'access-token-over-an-hour',
    severity: 'warning',
    why: 'A bearer token that leaks works for whoever has it until it expires.',
    cure: 'Set accessTokenLifetime to 3600 or less; clients with a refresh token do not notice.',
    source: 'RFC 6750 5.3',
    places: ({ settings: { lifetimes } }) =>
      optionWhen(lifetimes.accessToken > hour && lifetimes.accessToken <= day, 'accessTokenLifetime'),
  },
  {
    id: 'access-token-over-a-day',
    severity: 'error',
    why: 'A bearer token that leaks works for more than a day, long after anybody looks.',
    cure: 'Set accessTokenLifetime to 3600 or less, and give clients the grant type refresh_token.',
    source: 'RFC 6750 5.3',
    places: ({ settings: { lifetimes } }) => optionWhen(lifetimes.accessToken > day, 'accessTokenLifetime'),
  },
  {
    id: 'code-lifetime',
    severity: 'warning',
    why: 'A code passes through the browser, its history and logs; a client redeems it within seconds.',
    cure: 'Set authorizationCodeLifetime to 60 or less.',
    source: 'RFC 6749 10.5',
    places: ({ settings: { lifetimes } }) =>
      optionWhen(lifetimes.authorizationCode > 60, 'authorizationCodeLifetime'),
  },
  {
    id: 'refresh-token-lifetime',
    severity: 'warning',
    why: 'A refresh token that its client forgot stays good for more than 90 days.',
    cure: 'Set refreshTokenLifetime to 7776000 or less; it is counted from the last refresh.',
    source: 'RFC 9700 4.14.2',
    places: ({ settings: { lifetimes } }) =>
      optionWhen(lifetimes.refreshToken > 90 * day, 'refreshTokenLifetime'),
  },
  {
    id: 'refresh-grace',
    severity: 'warning',
    why: 'Within the grace a stolen refresh token gets the same tokens as its client, and is not taken for theft.',
    cure: 'Set refreshTokenGrace to 60 or less; lost answers are repeated within seconds.',
    source: 'RFC 9700 4.14.2',
    places: ({ settings: { lifetimes } }) =>
      optionWhen(lifetimes.refreshTokenGrace > 60, 'refreshTokenGrace'),
  },
  {
    id: 'authorization-request-lifetime',
    severity: 'warning',
    why: 'A consent page that somebody left open can be approved by the next one at that screen.',
    cure: 'Set authorizationRequestLifetime to 1800 or less.',
    source: 'good practice',
    places: ({ settings: { lifetimes } }) =>
      optionWhen(lifetimes.authorizationRequest > 1800, 'authorizationRequestLifetime'),
  },
  {
    id: 'store-deadline',
    severity: 'warning',
    why: 'With a store in trouble each request waits so long, and requests pile up.',
    cure: 'Set storeDeadline to 5 or less; clients are told to try again.',
    source: 'good practice',
    places: ({ settings }) => optionWhen(settings.storeDeadline > 5, 'storeDeadline'),
  },
]
