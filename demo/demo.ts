import { demoAccount } from './accounts'
import { authorizationServer } from './authorization-server'
import { client } from './client'
import { listen } from './listen'
import { mcpUrl } from './mcp-server'
import { registerClients, type DemoClients } from './registered-clients'
import { relyingParty } from './relying-party'
import { resourceServer } from './resource-server'
import type { AppOfDemo } from './sign-in-pages'
import { openStorage } from './storage'

export interface DemoOptions {
  /** Where the four apps listen; 0 takes any free port. Default 3000 to 3003. */
  readonly ports?: {
    readonly authorizationServer: number
    readonly client: number
    readonly resourceServer: number
    readonly relyingParty: number
  }
  /** Keeps authorizations and sessions in this Redis. Default: in memory. */
  readonly redisUrl?: string | undefined
}

export interface Demo {
  /** Base URLs without a slash at the end; the first one is the issuer. */
  readonly authorizationServer: string
  readonly client: string
  readonly resourceServer: string
  /** The site with "log in with Lumen". */
  readonly relyingParty: string
  /** The URL of the MCP server beside the photos. */
  readonly mcpServer: string
  /** The registered clients, with the secrets of this run. */
  readonly clients: DemoClients
  /** The account at the authorization server. */
  readonly account: { readonly username: string; readonly password: string }
  stop(): Promise<void>
}

const defaultPorts = { authorizationServer: 3000, client: 3001, resourceServer: 3002, relyingParty: 3003 }

/**
 * Starts the authorization server, the client application, the resource server and the relying party.
 *
 * @throws CannotStart when a port is taken. Redis may come later: until then the pages say that it is away.
 */
export async function startDemo({ ports = defaultPorts, redisUrl }: DemoOptions = {}): Promise<Demo> {
  const opened: { close(): Promise<void> }[] = []
  const keep = <Closable extends { close(): Promise<void> }>(closable: Closable): Closable => {
    opened.push(closable)
    return closable
  }
  const stop = async () => {
    for (const closable of opened.splice(0).toReversed()) await closable.close()
  }
  try {
    const storage = keep(await openStorage(redisUrl))
    const atAuthorizationServer = keep(await listen(ports.authorizationServer))
    const atClient = keep(await listen(ports.client))
    const atResourceServer = keep(await listen(ports.resourceServer))
    const atRelyingParty = keep(await listen(ports.relyingParty))
    const { registrations, clients } = registerClients(atClient.url, atRelyingParty.url)
    // What is kept last is closed first: requests in flight finish before their listeners close.
    const oauth = authorizationServer({
      app: atAuthorizationServer.app,
      issuer: atAuthorizationServer.url,
      apps: appsAt(atClient.url, atRelyingParty.url, atResourceServer.url),
      resourceServer: atResourceServer.url,
      clients: registrations,
      store: storage.authorizations,
      sessions: storage.sessions('authorization-server'),
      limits: storage.limits,
    })
    keep(oauth)
    client({
      app: atClient.app,
      ...clients.photoBook,
      authorizationServer: atAuthorizationServer.url,
      resourceServer: atResourceServer.url,
      sessions: storage.sessions('photo-book'),
    })
    relyingParty({
      app: atRelyingParty.app,
      ...clients.supperClub,
      issuer: atAuthorizationServer.url,
      sessions: storage.sessions('supper-club'),
    })
    // In another process it would open the same Redis itself.
    keep(
      resourceServer({
        app: atResourceServer.app,
        url: atResourceServer.url,
        issuer: atAuthorizationServer.url,
        store: storage.authorizations,
      }),
    )
    return {
      authorizationServer: atAuthorizationServer.url,
      client: atClient.url,
      resourceServer: atResourceServer.url,
      relyingParty: atRelyingParty.url,
      mcpServer: mcpUrl(atResourceServer.url),
      clients,
      account: demoAccount,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function appsAt(album: string, site: string, api: string): readonly AppOfDemo[] {
  return [
    { name: 'Photo Book', url: album, does: 'asks for access to your photos, and shows them.' },
    { name: 'Supper Club', url: site, does: 'logs you in with Lumen, and learns your name.' },
    { name: 'Photo API', url: api, does: 'keeps the photos for clients that have a token.' },
    { name: 'MCP server', does: 'gives the photos to AI clients that you allow.' },
  ]
}
