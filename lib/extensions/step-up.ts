import { type Fields, kind, needed, readOptions } from '../primitives/schema'
import type { Plugin } from '../doors/plug-in'
import { acrValuesExpectation, isAcrValues, requestedAcrValues } from '../protocol/resource-owner'
import { refused } from '../protocol/refusals'

/** Options of {@link stepUp}. */
export interface StepUpOptions {
  /**
   * The authentication context classes that the login of the host can meet, the preferred one first, as `acr`
   * of `resourceOwner` names them. The metadata lists them as `acr_values_supported`.
   */
  readonly acrValues: readonly string[]
}

/**
 * Makes `acr_values` of an authorization request binding (RFC 9470 5): an owner whose login met none of these
 * classes logs in again, and the client gets `unmet_authentication_requirements` if the new login meets none
 * either. Without the plug-in, they are a wish to the login.
 *
 * @throws ConfigurationError that lists every mistake.
 */
export function stepUp(options: StepUpOptions): Plugin {
  const { acrValues } = readOptions('stepUp()', fields, options)
  const offered = Object.freeze([...acrValues])
  return {
    name: 'step-up',
    // RFC 9470 7
    authorizationMetadata: { acr_values_supported: offered },

    authorize({ parameters, owner, loginDemandedAt }) {
      const wanted = requestedAcrValues(parameters)
      if (wanted.length === 0) return undefined
      if (!wanted.some((each) => offered.includes(each))) throw refused('acr_not_offered')
      if (owner?.acr !== undefined && wanted.includes(owner.acr)) return undefined
      // RFC 9470 5. The time of the demand tells the new login from an older one.
      if (owner === undefined || loginDemandedAt === undefined) return { logIn: {} }
      if ((owner.authTime ?? -Infinity) < loginDemandedAt) throw refused('login_not_renewed')
      throw refused('acr_not_met')
    },
  }
}

const fields = {
  acrValues: needed(
    [],
    kind(
      isAcrValues,
      `must be a list of different classes, such as ['urn:example:mfa'], ${acrValuesExpectation}`,
    ),
  ),
} satisfies Fields<StepUpOptions>
