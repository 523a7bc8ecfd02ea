import { withoutLimits } from '../../support/flows/application'
import type { AuthorizationServerOptions, PasswordOptions } from '../../../lib/index'

/**
 * Every limit of the suite, in one place. The fuzzer fails far more often than any limit lets pass, and then nothing but
 * the limit would be tried. With `on` an answer 429 is allowed, else it is a fault.
 */
export const limits: {
  readonly on: boolean
  readonly server: Partial<AuthorizationServerOptions>
  readonly password: NonNullable<PasswordOptions['limits']>
} = {
  on: false,
  server: { limits: { ...withoutLimits.limits, clientAuthentication: false } },
  password: { username: false, address: false, client: false },
}
