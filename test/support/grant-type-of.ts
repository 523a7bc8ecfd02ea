import type { GrantType } from '../../lib/index'

/** The name on the wire of the grant type that a plug-in brings. */
export const grantTypeOf = ({
  grantTypes = [],
}: {
  readonly grantTypes?: readonly Pick<GrantType, 'name'>[]
}): string => grantTypes.map(({ name }) => name).join()
