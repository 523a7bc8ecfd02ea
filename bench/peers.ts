import { betterAuth } from './stories/better-auth'
import { jwt } from './stories/jwt'
import { jmondiOauth2Server } from './stories/jmondi-oauth2-server'
import { mcpSdk } from './stories/mcp-sdk'
import { nodeOauth } from './stories/node-oauth'
import { oauth2orize } from './stories/oauth2orize'
import { oidcProvider } from './stories/oidc-provider'
import type { Stories } from './story'

/** By the name of the program in targets/. */
export const peers: Readonly<Record<string, Stories>> = {
  'better-auth': betterAuth,
  'express-oauth2-jwt-bearer': jwt,
  'jmondi-oauth2-server': jmondiOauth2Server,
  'mcp-sdk': mcpSdk,
  'node-oauth': nodeOauth,
  oauth2orize,
  'oidc-provider': oidcProvider,
}
