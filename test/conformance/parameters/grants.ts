import { oldBook, PasswordCheck, passwordRequest, withPassword } from '../../support/flows/password'
import { asToken, inBody, type Kind } from './requests'

/** Requests by the grants that a host switches on. */
export const password: Kind = {
  good: 'tokens',
  options: withPassword({ verify: new PasswordCheck().verify }),
  fields: async () => ({ ...inBody(oldBook), ...passwordRequest }),
  send: asToken,
}
