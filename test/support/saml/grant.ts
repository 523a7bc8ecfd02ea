import { saml2Bearer, type Assertion, type Saml2BearerOptions } from '../../../lib/index'
import type { GrantResult } from '../../../lib/token-endpoint/grant-type'
import { context, noon } from '../authorization/issue-context'
import { parametersOf } from '../rooms/parameters'
import { tokenRequest } from '../rooms/token-request'
import { audience, museum, recipient, studio } from './assertion'

/** Options that trust two issuers; the owner is who the assertion says. */
export const options: Saml2BearerOptions = {
  issuers: [studio.entry, museum.entry],
  audience,
  recipient,
  resourceOwner: ({ subject }) => subject,
}

/** What becomes of assertions at one server. */
export function counter(bend: Partial<Saml2BearerOptions> = {}) {
  const seen: Assertion[] = []
  const grantType = saml2Bearer({
    ...options,
    resourceOwner(assertion) {
      seen.push(assertion)
      return assertion.subject
    },
    ...bend,
  })
  return {
    seen,
    present: (assertion: string, now = noon): Promise<GrantResult> => {
      const parameters = parametersOf({ assertion, scope: 'photos.read' })
      return grantType.handle({ ...tokenRequest, parameters, context: context({ now }) })
    },
  }
}

/** The assertion as it is believed at this time. */
export async function believed(
  encoded: string,
  now = noon,
  bend: Partial<Saml2BearerOptions> = {},
): Promise<Assertion> {
  const { present, seen } = counter(bend)
  await present(encoded, now)
  const [assertion] = seen
  if (assertion === undefined) throw new Error('The host was not asked for the owner.')
  return assertion
}
