import { limitsSwitchedOff } from '../token-endpoint/grant-types/password/password-options'
import { eachClient, entriesWhere, optionWhen, type LintRule, type Subject } from './rule'

const bringsToken = (responseType: string) => responseType.split(' ').includes('token')
const isPassword = (grantType: string) => grantType === 'password'
const names = (grantTypes: Subject['settings']['grantTypes']) => grantTypes.map(({ name }) => name)
const allLimits = 3

/** The grants that RFC 9700 takes back. */
export const grantRules: readonly LintRule[] = [
  {
    id: 'implicit-grant',
    severity: 'warning',
    why: 'A token in a redirection URI leaks by history and scripts, and nothing tells whether it was injected.',
    cure: 'Take implicit() out of responseTypes; browsers get along with the code grant and PKCE.',
    source: 'RFC 9700 2.1.2',
    // The first is `code`, which the option does not hold.
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
    why: 'The client sees the password of the resource owner, and no second factor fits in.',
    cure: 'Take password() out of grantTypes once its last client is changed.',
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
    why: 'One of the three limits on guesses at passwords is switched off.',
    cure: 'Give the limit more attempts instead of false.',
    source: 'RFC 6749 4.3.2',
    places: (subject) => passwordLimits(subject, (off) => (off.length < allLimits ? off : [])),
  },
  {
    id: 'password-unlimited',
    severity: 'error',
    why: 'Nothing in this server limits how often somebody guesses at a password.',
    cure: 'Leave out limits, or switch on at least the one for a user name.',
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
