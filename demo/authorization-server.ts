import type { Express } from 'express'
import helmet from 'helmet'
import { styleSourceOf, stylesheet } from '../lib/pages/stylesheet'
import {
  createAuthorizationServer,
  type AuthorizationServer,
  type ClientRegistration,
  type Store as AuthorizationStore,
} from '../lib/index'
import { deviceAuthorization } from '../lib/paths/devices'
import { mcp } from '../lib/paths/mcp'
import type { AppOfDemo } from './home-page'
import { identityScopes, logInWithLumen } from './identity'
import { oauthLimit, type LimitStores } from './limits'
import { photoScopes, resourcesAt } from './mcp-server'
import { sessionCookie } from './session-cookie'
import type { Sessions } from './session-store'
import { connectedApplications, logo, signIn, signOut } from './sign-in'
import { awayPage } from './sign-in-pages'
import { troublePage } from './storage-away'
import { whichWorkspace } from './workspaces'

export interface AuthorizationServerSettings {
  readonly app: Express
  readonly issuer: string
  /** What the front page leads to. */
  readonly apps: readonly AppOfDemo[]
  /** The base URL of the API whose tokens the server issues. Its MCP server has tokens of its own. */
  readonly resourceServer: string
  readonly clients: readonly ClientRegistration[]
  readonly store: AuthorizationStore
  readonly sessions: Sessions
  readonly deviceSecret: string
  readonly limits: LimitStores
}

/** Lumen: an Express app that has its own sessions and its own login, and now lets clients connect. */
export function authorizationServer({
  app,
  issuer,
  apps,
  resourceServer,
  clients,
  store,
  sessions,
  deviceSecret,
  limits,
}: AuthorizationServerSettings): AuthorizationServer {
  app.use(
    helmet({
      contentSecurityPolicy: {
        // Safari would upgrade localhost too, where nothing speaks https.
        directives: {
          styleSrc: ["'self'", styleSourceOf(stylesheet)],
          // A sign-in ends at the app if Lumen remembers what its visitor has allowed.
          formAction: ["'self'", ...originsOf(clients)],
          upgradeInsecureRequests: null,
        },
      },
    }),
  )
  app.use(sessionCookie(sessions))
  app.use(signIn(issuer, limits, apps))

  const oauth = createAuthorizationServer({
    issuer,
    // Clients that name no resource mean the API, as they did before there was an MCP server.
    ...mcp({ resource: resourcesAt(resourceServer), scopes: photoScopes, clients }),
    // Clients of the API with a secret may still leave PKCE out, as older libraries do. MCP clients are public.
    pkce: 'public',
    // MCP clients bring a document at an https URL, or register: then any client on this machine can connect.
    dynamicRegistration: { registerAllScopes: true },
    // "Sign in with Lumen" comes beside the API: these scopes belong to no resource.
    scopes: { ...photoScopes, ...identityScopes },
    plugins: [...logInWithLumen(), deviceAuthorization({ secret: deviceSecret, interval: 2 })],
    resourceOwner: (request) => request.session.resourceOwner,
    logOut: (request) => signOut(request),
    // Each app sees one workspace, which the person chooses on the consent page.
    choices: (_request, question) => whichWorkspace(question),
    // A registered app that was allowed once is not asked about again, for the same workspace and the same scope.
    rememberConsent: true,
    // The page on which people see what they have allowed, and take it back.
    authorizations: { path: connectedApplications, fromTheStart: true },
    pages: { service: { name: 'Lumen', logo } },
    store,
  })
  app.get('/ready', async (_request, response) => {
    response.sendStatus((await oauth.ready()) ? 200 : 503)
  })
  app.use(oauthLimit(limits), oauth.router())
  app.use(troublePage(awayPage()))
  return oauth
}

/** Where the clients have their pages. */
function originsOf(clients: readonly ClientRegistration[]): string[] {
  const uris = clients.flatMap(({ redirect_uris = [] }) => redirect_uris)
  return [...new Set(uris.map((uri) => new URL(uri).origin))]
}
