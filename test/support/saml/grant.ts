import type { Saml2BearerOptions } from '../../../lib/paths/saml'
import { audience, museum, recipient, studio } from './assertion'

/** Options that trust two issuers; the owner is who the assertion says. */
export const options: Saml2BearerOptions = {
  issuers: [studio.entry, museum.entry],
  audience,
  recipient,
  resourceOwner: ({ subject }) => subject,
}
