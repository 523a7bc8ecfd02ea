import { limitsSwitchedOff } from '../../token-endpoint/grant-types/password/password'
import { eachClient, entriesWhere, type LintRule, optionWhen, type Subject } from './lint-rule'

const bringsToken = (responseType: string) => responseType.split(' ').includes('token')
const isPassword = (grantType: string) => grantType === 'password'
const names = (grantTypes: Subject['settings']['grantTypes']) => grantTypes.map(({ name }) => name)
const allLimits = 3

export const grantRules: readonly LintRule[] = [
  {
    id: 'implicit-grant',
    severity: 'warning',
    why: 'A token in a redirection URI leaks, and an injected one works.',
    cure: 'Remove implicit() from responseTypes. Browsers can use codes with PKCE.',
    source: 'RFC 9700 2.1.2',
    // The first is `code`, which the option does not contain.
    places: ({ settings }) =>
      entriesWhere(
        'responseTypes',
        settings.responseTypes.slice(1).map(({ name }) => name),
        bringsToken,
      ).flatMap((path) => optionWhen(true, path)),
  },
  {
    id: 'client-implicit-grant',
    severity: 'warning',
    why: 'This client gets access tokens in its redirection URI.',
    cure: "Register it with response_types ['code'] and grant_types ['authorization_code'].",
    source: 'RFC 9700 2.1.2',
    places: (subject) =>
      eachClient(subject, ({ response_types }) =>
        entriesWhere('response_types', response_types, bringsToken),
      ),
  },
  {
    id: 'password-grant',
    severity: 'error',
    why: 'The client sees the password, and a second factor has no place.',
    cure: 'Remove password() from grantTypes once no client needs it.',
    source: 'RFC 9700 2.4',
    places: ({ settings }) =>
      entriesWhere('grantTypes', names(settings.grantTypes), isPassword).flatMap((path) =>
        optionWhen(true, path),
      ),
  },
  {
    id: 'client-password-grant',
    severity: 'error',
    why: 'This client asks people for their password.',
    cure: "Register it with grant_types ['authorization_code', 'refresh_token'].",
    source: 'RFC 9700 2.4',
    places: (subject) =>
      eachClient(subject, ({ grant_types }) => entriesWhere('grant_types', grant_types, isPassword)),
  },
  {
    id: 'password-limit-off',
    severity: 'warning',
    why: 'One of the three limits on guesses at passwords is off.',
    cure: 'Raise its attempts instead.',
    source: 'RFC 6749 4.3.2',
    places: (subject) => passwordLimits(subject, (off) => (off.length < allLimits ? off : [])),
  },
  {
    id: 'password-unlimited',
    severity: 'error',
    why: 'Guesses at passwords have no limit.',
    cure: 'Leave limits out, or switch on the one for a user name.',
    source: 'RFC 6749 4.3.2',
    places: (subject) => passwordLimits(subject, (off) => (off.length === allLimits ? [''] : [])),
  },
]

function passwordLimits(
  { settings: { grantTypes } }: Subject,
  broken: (off: readonly string[]) => readonly string[],
): ReturnType<LintRule['places']> {
  return grantTypes.flatMap((grantType, index) =>
    broken(limitsSwitchedOff(grantType) ?? []).flatMap((name) =>
      optionWhen(true, [`grantTypes[${index}].limits`, name].filter(Boolean).join('.')),
    ),
  )
}

const hour = 3600
const day = 24 * hour

export const lifetimeRules: readonly LintRule[] = [
  {
    id: 'access-token-over-an-hour',
    severity: 'warning',
    why: 'A leaked bearer token works until it expires.',
    cure: 'Set lifetimes.accessToken to 3600 or less.',
    source: 'RFC 6750 5.3',
    places: ({ settings: { lifetimes } }) =>
      optionWhen(lifetimes.accessToken > hour && lifetimes.accessToken <= day, 'lifetimes.accessToken'),
  },
  {
    id: 'access-token-over-a-day',
    severity: 'error',
    why: 'A leaked bearer token works for more than a day.',
    cure: 'Set lifetimes.accessToken to 3600 or less, and give clients the grant type refresh_token.',
    source: 'RFC 6750 5.3',
    places: ({ settings: { lifetimes } }) => optionWhen(lifetimes.accessToken > day, 'lifetimes.accessToken'),
  },
  {
    id: 'code-lifetime',
    severity: 'warning',
    why: 'A code passes through the browser, its history and logs.',
    cure: 'Set lifetimes.authorizationCode to 60 or less.',
    source: 'RFC 6749 10.5',
    places: ({ settings: { lifetimes } }) =>
      optionWhen(lifetimes.authorizationCode > 60, 'lifetimes.authorizationCode'),
  },
  {
    id: 'refresh-token-lifetime',
    severity: 'warning',
    why: 'A forgotten refresh token stays valid for more than 90 days.',
    cure: 'Set lifetimes.refreshToken to 7776000 or less.',
    source: 'RFC 9700 4.14.2',
    places: ({ settings: { lifetimes } }) =>
      optionWhen(lifetimes.refreshToken > 90 * day, 'lifetimes.refreshToken'),
  },
  {
    id: 'refresh-grace',
    severity: 'warning',
    why: 'Within the grace, a stolen refresh token works unnoticed.',
    cure: 'Set lifetimes.refreshTokenGrace to 60 or less.',
    source: 'RFC 9700 4.14.2',
    places: ({ settings: { lifetimes } }) =>
      optionWhen(lifetimes.refreshTokenGrace > 60, 'lifetimes.refreshTokenGrace'),
  },
  {
    id: 'authorization-request-lifetime',
    severity: 'warning',
    why: 'The next person at the screen can approve a page that somebody left open.',
    cure: 'Set lifetimes.authorizationRequest to 1800 or less.',
    source: 'good practice',
    places: ({ settings: { lifetimes } }) =>
      optionWhen(lifetimes.authorizationRequest > 1800, 'lifetimes.authorizationRequest'),
  },
  {
    id: 'store-deadline',
    severity: 'warning',
    why: 'Each request waits this long for a silent store.',
    cure: 'Set storeDeadline to 5 or less.',
    source: 'good practice',
    places: ({ settings }) => optionWhen(settings.storeDeadline > 5, 'storeDeadline'),
  },
]
