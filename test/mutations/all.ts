import { answers } from './answers'
import { attacks } from './attacks'
import { authorizationEndpoint } from './authorization-endpoint'
import { credentials } from './credentials'
import { deviceRules } from './devices'
import { doors } from './doors'
import { dpop } from './dpop'
import { furtherEndpoints } from './further-endpoints'
import { introspectionGuardRules } from './introspection-guard'
import { jwts } from './jwts'
import { lifetimeRules } from './lifetimes'
import { mcp } from './mcp'
import { mcpPlugIns } from './mcp-plug-ins'
import { openIdConnect } from './openid-connect'
import { openIdFurther } from './openid-further'
import { protectedResources } from './protected-resources'
import { pushedRequestRules } from './pushed-requests'
import { registration } from './registration'
import { requestObjectRules } from './request-objects'
import { signingKeyRules } from './signing-keys'
import { stepUpRules } from './step-up'
import { tokenEndpoint } from './token-endpoint'
import type { Mutation } from './mutation'

/** Every break, in the order of the list of requirements; attacks come last. */
export const mutations: readonly Mutation[] = [
  ...registration,
  ...credentials,
  ...answers,
  ...authorizationEndpoint,
  ...tokenEndpoint,
  ...protectedResources,
  ...furtherEndpoints,
  ...doors,
  ...jwts,
  ...signingKeyRules,
  ...introspectionGuardRules,
  ...lifetimeRules,
  ...pushedRequestRules,
  ...stepUpRules,
  ...deviceRules,
  ...mcp,
  ...mcpPlugIns,
  ...openIdConnect,
  ...openIdFurther,
  ...requestObjectRules,
  ...dpop,
  ...attacks,
]
